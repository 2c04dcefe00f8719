// Package framework knows which test frameworks there are: which of them a tree
// uses, and what kind of report a file is. One package below it adapts each.
package framework

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Kind is what a report file looks like.
type Kind int

const (
	// Log is any other text: a raw log.
	Log Kind = iota
	// JSON is a stream of JSON objects, one a line.
	JSON
	// JUnit is JUnit XML.
	JUnit
)

// sniffed is how much of a file is looked at.
const sniffed = 4096

// Sniff tells the kind of a report by its first bytes and returns a reader of
// the whole. A file of 0 bytes is a Log, whose reader says that it is empty.
func Sniff(r io.Reader) (Kind, io.Reader, error) {
	b := bufio.NewReaderSize(r, sniffed)
	head, err := b.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return Log, nil, fmt.Errorf("reading a report: %w", err)
	}
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("<?xml")), bytes.HasPrefix(head, []byte("<testsuite")), bytes.HasPrefix(head, []byte("<!")):
		return JUnit, b, nil
	case bytes.HasPrefix(head, []byte("{\"")) && bytes.Contains(head, []byte("\"Action\"")):
		return JSON, b, nil
	}
	return Log, b, nil
}
