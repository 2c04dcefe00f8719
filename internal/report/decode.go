package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

// ErrNewer: a report was written by a later version of triagebot.
var ErrNewer = errors.New("report from a newer version of triagebot")

// Decode reads a record and trusts nothing in it: the size and the depth are
// capped, every key must be known, present when required and written once,
// every name must be of its closed list, every number in its range, and the
// parts must fit together as [Validate] asks. The error says where it failed.
// A report of a later schema is [ErrNewer].
func Decode(r io.Reader) (triage.Report, error) {
	rep, err := decode(r)
	if err != nil {
		return triage.Report{}, fmt.Errorf("decoding report: %w", err)
	}
	return rep, nil
}

func decode(r io.Reader) (triage.Report, error) {
	var rep triage.Report
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return rep, err
	}
	if err := checkText(data); err != nil {
		return rep, err
	}
	if err := checkVersion(data); err != nil {
		return rep, err
	}
	if err := checkShape(data); err != nil {
		return rep, err
	}
	if err := json.Unmarshal(data, &rep); err != nil {
		return rep, err
	}
	return rep, Validate(rep)
}

// checkText refuses what is not one JSON text in UTF-8 of a bearable size.
func checkText(data []byte) error {
	switch {
	case len(data) > MaxBytes:
		return fmt.Errorf("more than %d bytes: %w", MaxBytes, ErrTooLarge)
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("the file is empty")
	case !utf8.Valid(data):
		return fmt.Errorf("byte %d: not UTF-8", invalidAt(data))
	case json.Valid(data):
		return nil
	}
	var any json.RawMessage
	err := json.Unmarshal(data, &any)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d, byte %d: not JSON: %w", 1+bytes.Count(data[:syntax.Offset], []byte("\n")), syntax.Offset, err)
	}
	return fmt.Errorf("not JSON: %w", err)
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

const schemaPrefix = "triagebot/report/v"

// checkVersion comes before the strict reading, so that a report of a later
// version is called that and not "unknown key".
func checkVersion(data []byte) error {
	var top struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(data, &top); err != nil || top.Schema == nil {
		return errors.New(`not a triagebot report: it has no text under "schema"`)
	}
	if *top.Schema == triage.Schema {
		return nil
	}
	version, ok := strings.CutPrefix(*top.Schema, schemaPrefix)
	if n, err := strconv.Atoi(version); ok && err == nil && n > 1 {
		return fmt.Errorf("schema %s, but this version reads %s: update triagebot: %w", quoted(*top.Schema), triage.Schema, ErrNewer)
	}
	return fmt.Errorf("schema: %s is not %q", quoted(*top.Schema), triage.Schema)
}

// quoted is a bounded, escaped form of a stranger's text for an error.
func quoted(s string) string {
	if len(s) > 80 {
		s = s[:runeStart(s, 80)] + "…"
	}
	return strconv.QuoteToGraphic(s)
}
