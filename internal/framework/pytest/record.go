package pytest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxRecord bounds one line of a report log or of our plugin, in bytes.
const maxRecord = 8 << 20

// record is one line of a report log (plugin pytest-reportlog), and of our own
// plugin, which writes a subset of it and a few kinds of its own.
type record struct {
	Type     string          `json:"$report_type"`
	NodeID   string          `json:"nodeid"`
	Outcome  string          `json:"outcome"`
	When     string          `json:"when"`
	Duration float64         `json:"duration"`
	WasXFail *string         `json:"wasxfail"`
	LongRepr json.RawMessage `json:"longrepr"`
	// Of our own plugin.
	Text    string    `json:"text"`
	Crash   *crashRec `json:"crash"`
	Root    string    `json:"root"`
	Outside []string  `json:"outside"`
	Exit    *int      `json:"exitstatus"`
}

type crashRec struct {
	Path    string `json:"path"`
	Line    int    `json:"lineno"`
	Message string `json:"message"`
}

// longRepr is a failure as pytest serialises it.
type longRepr struct {
	Crash *crashRec `json:"reprcrash"`
	Trace struct {
		Entries []struct {
			Data struct {
				Lines []string `json:"lines"`
			} `json:"data"`
		} `json:"reprentries"`
	} `json:"reprtraceback"`
}

// crash is the record's failure, without its phase.
func (r record) crash() crash {
	c := crash{text: r.Text}
	at := r.Crash
	if len(r.LongRepr) > 0 && r.Text == "" {
		at, c.text = readLongRepr(r.LongRepr)
	}
	if at != nil {
		c.message, c.file, c.line = at.Message, at.Path, at.Line
		return c
	}
	text := c.text
	c = readTraceback([]byte(text))
	return c
}

// readLongRepr reads the longrepr of a report log: an object with a crash, or
// plain text.
func readLongRepr(raw json.RawMessage) (*crashRec, string) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return nil, text
	}
	var l longRepr
	if json.Unmarshal(raw, &l) != nil {
		return nil, ""
	}
	var b block
	for _, e := range l.Trace.Entries {
		for _, line := range e.Data.Lines {
			b.add([]byte(line))
		}
	}
	return l.Crash, string(b.text)
}

// ReadReportLog reads the failures of a report log: the JSON lines that the
// plugin pytest-reportlog writes (--report-log). A line that is no JSON ends the
// reading with [ErrTruncated] when it is the last one and with [ErrKind] when it
// is the first; the failures before are returned with it.
func ReadReportLog(r io.Reader, o Options) ([]triage.Failure, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	s := newRun(o)
	for n := 0; ; n++ {
		line, err := readLine(in)
		if len(bytes.TrimSpace(line)) > 0 {
			var rec record
			if jsonErr := json.Unmarshal(line, &rec); jsonErr != nil || rec.Type == "" && n == 0 && !bytes.HasPrefix(line, []byte(`{"pytest_version"`)) {
				return reportLogBroken(s, n, err)
			}
			s.add(rec)
		}
		switch {
		case errors.Is(err, io.EOF) && s.records == 0 && n == 0 && len(line) == 0:
			return nil, fmt.Errorf("reading report log: %w", ErrEmpty)
		case errors.Is(err, io.EOF):
			return s.failures(s.unfinished())
		case err != nil:
			fs, _ := s.failures(nil)
			return fs, fmt.Errorf("reading report log: %w", err)
		}
	}
}

func reportLogBroken(s *run, n int, err error) ([]triage.Failure, error) {
	kind := ErrKind
	if n > 0 && errors.Is(err, io.EOF) {
		kind = ErrTruncated
	}
	return s.failures(fmt.Errorf("reading report log: line %d: %w", n+1, kind))
}

// readLine is one line without its end; what is beyond maxRecord is dropped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line) < maxRecord {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimRight(line, "\r\n"), err
	}
}

// targetOf is the target of a node id, which is relative to pytest's root.
func (s *run) targetOf(id string) triage.Target {
	file, test := splitID(id)
	if s.rooted {
		return triage.Target{Suite: s.o.suite(), Framework: Name, Package: path.Join(s.root, file), Test: test}
	}
	return s.o.target(file, test)
}
