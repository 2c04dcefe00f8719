package rerun

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"
)

// notePrefix begins what a lag runtime says of its process on the standard error.
const notePrefix = "triagebot lag: "

const (
	// maxNotes bounds the lines kept of a trial; an honest runtime has fewer to say.
	maxNotes = 5
	// maxNote bounds one of them, in bytes.
	maxNote = 300
)

// lagNotes finds what the lag runtime said in a trial's output, each line once.
// The test writes there too: whatever looks like such a line is taken for one,
// so nothing is decided by them.
func lagNotes(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading a trial's output: %w", err)
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	var notes []string
	for len(notes) < maxNotes {
		line, err := in.ReadSlice('\n')
		// A test may have printed half a line before.
		if _, text, ok := bytes.Cut(line, []byte(notePrefix)); ok {
			if note := oneLine(text); note != "" && !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("reading a trial's output: %w", err)
		}
	}
	return notes, nil
}

// oneLine is a text of the output on one line, valid UTF-8 without control characters,
// at most maxNote bytes.
func oneLine(text []byte) string {
	s := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
	s = strings.TrimSpace(s)
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), maxNote)], ""))
}
