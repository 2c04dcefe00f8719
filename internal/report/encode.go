package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

// MaxBytes is the size of the largest report that is written or read. Twenty
// tests with forty trials each, every trial with a full excerpt, take about
// 6 MB. Whoever reads a report of a stranger holds a small multiple of this.
const MaxBytes = 16 << 20

// excerptLimits are the bytes kept of one excerpt, tried in turn until the
// report fits into [MaxBytes].
var excerptLimits = [...]int{4096, 1024, 256, 0}

// ErrTooLarge: a report does not fit into [MaxBytes].
var ErrTooLarge = errors.New("report is too large")

// Encode writes the record: indented JSON with sorted maps and a newline at the
// end, the same bytes for the same report. Decoding it and encoding it again
// gives the same bytes. Excerpts are bounded, text that is not UTF-8 is mended,
// and nothing else is changed. A number that JSON cannot hold is an error that
// says where it stands.
func Encode(w io.Writer, r triage.Report) error {
	for _, limit := range excerptLimits {
		data, err := marshal(bounded(r, limit))
		if err != nil {
			return err
		}
		if len(data) > MaxBytes {
			continue
		}
		if _, err := w.Write(data); err != nil {
			return fmt.Errorf("writing report: %w", err)
		}
		return nil
	}
	return fmt.Errorf("encoding report: %d trials need more than %d bytes: %w", len(r.Trials), MaxBytes, ErrTooLarge)
}

func marshal(r triage.Report) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(r); err != nil {
		if where := Validate(r); where != nil {
			err = where
		}
		return nil, fmt.Errorf("encoding report: %w", err)
	}
	return plainReplacements(b.Bytes()), nil
}

// plainReplacements writes the replacement character itself where the encoder
// wrote its escape. The encoder escapes it only for bytes that were not UTF-8,
// so a second encoding would differ from the first.
func plainReplacements(data []byte) []byte {
	escape := []byte(`\ufffd`)
	if !bytes.Contains(data, escape) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] != '\\':
			out = append(out, data[i])
		case bytes.HasPrefix(data[i:], escape):
			out = append(out, "\ufffd"...)
			i += len(escape) - 1
		default: // an escape is at least two bytes; the second may be a backslash
			out = append(out, data[i], data[i+1])
			i++
		}
	}
	return out
}

// bounded copies what it changes: excerpts cut to limit bytes, required lists
// present.
func bounded(r triage.Report, limit int) triage.Report {
	r.Failures = copied(r.Failures)
	for i := range r.Failures {
		r.Failures[i].Excerpt = cut(r.Failures[i].Excerpt, max(limit, 256))
	}
	r.Trials = copied(r.Trials)
	for i := range r.Trials {
		t := &r.Trials[i]
		t.Output = cut(t.Output, limit)
		t.Failure = boundedFailure(t.Failure, limit)
		t.Others = slices.Clone(t.Others)
		for j := range t.Others {
			t.Others[j].Failure = boundedFailure(t.Others[j].Failure, limit/4)
		}
	}
	r.Evidence = copied(r.Evidence)
	for i := range r.Evidence {
		r.Evidence[i].Tallies = copied(r.Evidence[i].Tallies)
	}
	r.Verdicts = copied(r.Verdicts)
	for i, v := range r.Verdicts {
		if v.Cause != nil && v.Cause.Sites == nil {
			c := *v.Cause
			c.Sites = []triage.Site{}
			r.Verdicts[i].Cause = &c
		}
	}
	r.Warnings = copied(r.Warnings)
	return r
}

// copied is a copy that is never nil: the record has [] and not null.
func copied[T any](s []T) []T { return append([]T{}, s...) }

func boundedFailure(f *triage.Failure, limit int) *triage.Failure {
	if f == nil {
		return nil
	}
	g := *f
	g.Excerpt = cut(g.Excerpt, limit)
	return &g
}

// cut shortens a text to at most limit bytes: its beginning and its end with a
// note between, never half a rune. A text that fits is returned as it is, with
// bytes that are not UTF-8 replaced.
func cut(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= limit {
		return s
	}
	note := fmt.Sprintf("\n… %d bytes left out …\n", len(s)-limit)
	room := limit - len(note)
	if room < 80 { // no room for both ends
		return s[:runeStart(s, max(limit, 0))]
	}
	head := runeStart(s, room/3)
	tail := len(s) - (room - head)
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + note + s[tail:]
}

// runeStart is the last place at or before i where s may be cut.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return min(i, len(s))
}
