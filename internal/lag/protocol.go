package lag

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"syscall"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// EnvPlan names the environment variable with the path of the plan file.
	EnvPlan = "TRIAGEBOT_LAG_PLAN"
	// EnvLog names the environment variable with the path of the decision log.
	EnvLog = "TRIAGEBOT_LAG_LOG"
)

// Bounds on a decision log. A test can write to the file, so nothing in it is
// trusted to be small.
const (
	// MaxLogBytes is how much of a log is read; the rest is dropped.
	MaxLogBytes = 16 << 20
	// MaxDecisions is how many decisions are kept; Count goes on counting.
	MaxDecisions = 4096
	// MaxLogSites is how many different sites are kept of each list.
	MaxLogSites = 4096
	// maxLine bounds one line, maxID one site id, in bytes.
	maxLine = 8 << 10
	maxID   = 1 << 10
	// maxDelayMS is the longest delay that a plan may hold or a log tell of.
	maxDelayMS = 60_000
)

// Log is what a test process did under a plan.
type Log struct {
	// Decisions are the delays taken, in order, at most MaxDecisions; Count is
	// how many there were.
	Decisions []triage.Decision
	Count     int
	// Stretched are the clocks that a stretch changed, Sites every site that the
	// process is known to have passed, both in the order they were first seen.
	Stretched []string
	Sites     []string
	// Bad is the number of lines that are no record of this protocol; Truncated
	// is set when the log was longer than MaxLogBytes.
	Bad       int
	Truncated bool
}

// WritePlan writes a plan to a file for a test process to read. The file is
// world-readable, for tests may run as another user. A plan that no engine
// could carry out is an error.
func WritePlan(path string, p triage.LagPlan) error {
	if p.Version == 0 {
		p.Version = triage.PlanVersion
	}
	if err := checkPlan(p); err != nil {
		return fmt.Errorf("writing lag plan %q: %w", p.Name, err)
	}
	b, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing lag plan %q: %w", p.Name, err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing lag plan %q: %w", p.Name, err)
	}
	return nil
}

// checkPlan refuses what an engine would have to guess about.
func checkPlan(p triage.LagPlan) error {
	if p.Version != triage.PlanVersion {
		return fmt.Errorf("version %d, want %d", p.Version, triage.PlanVersion)
	}
	for _, v := range []float64{p.MinMS, p.MaxMS, p.CleanupMS} {
		if !validMS(v) {
			return fmt.Errorf("delay of %v ms, want 0 to %d", v, maxDelayMS)
		}
	}
	for _, d := range p.Decisions {
		if !validMS(d.MS) || d.Hit < 0 || d.Site == "" {
			return fmt.Errorf("decision %+v is not valid", d)
		}
	}
	for _, v := range []float64{p.BudgetMS, p.Stretch.Timeouts, p.Stretch.Sleeps, p.Stretch.CapMS} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("value %v, want a finite number that is not negative", v)
		}
	}
	if p.MinMS > p.MaxMS {
		return fmt.Errorf("least delay %v ms is above the most, %v ms", p.MinMS, p.MaxMS)
	}
	if !(p.Probability >= 0 && p.Probability <= 1) {
		return fmt.Errorf("probability %v, want 0 to 1", p.Probability)
	}
	return nil
}

func validMS(v float64) bool { return v >= 0 && v <= maxDelayMS }

// ReadLogFile reads the decision log that a test process left at path. Only a
// regular file is read: a test may have put something else there. A missing
// file is an error that wraps fs.ErrNotExist; the process then never ran a
// lagged package.
func ReadLogFile(path string) (Log, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Log{}, fmt.Errorf("reading decision log: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Log{}, fmt.Errorf("reading decision log %q: it is no regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Log{}, fmt.Errorf("reading decision log: %w", err)
	}
	defer f.Close()
	return ReadLog(f)
}

// ReadLog reads a decision log. Lines that are no record are counted and left
// out; only a reader that breaks is an error, and what was read until then is
// returned with it.
func ReadLog(r io.Reader) (Log, error) {
	limited := &io.LimitedReader{R: r, N: MaxLogBytes + 1}
	in := bufio.NewReaderSize(limited, maxLine)
	l := logReader{stretched: map[string]bool{}, sites: map[string]bool{}}
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.log.Bad++
			err = skipLine(in)
		case err == nil:
			l.line(line)
		}
		if err != nil {
			l.log.Truncated = limited.N <= 0
			if errors.Is(err, io.EOF) { // an unfinished last line is dropped
				return l.log, nil
			}
			return l.log, fmt.Errorf("reading decision log: %w", err)
		}
	}
}

// skipLine drops the rest of a line that is longer than the buffer.
func skipLine(in *bufio.Reader) error {
	for {
		_, err := in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// record is one line of the log.
type record struct {
	triage.Decision
	Stretched string `json:"stretched"`
	Seen      string `json:"seen"`
}

type logReader struct {
	log              Log
	stretched, sites map[string]bool
}

func (l *logReader) line(b []byte) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return
	}
	var rec record
	if err := json.Unmarshal(b, &rec); err != nil {
		l.log.Bad++
		return
	}
	switch {
	case validID(rec.Site) && rec.Hit >= 1 && validMS(rec.MS) && len(rec.Kind) <= maxID && len(rec.Role) <= maxID:
		l.log.Count++
		if len(l.log.Decisions) < MaxDecisions {
			l.log.Decisions = append(l.log.Decisions, rec.Decision)
		}
		addSite(&l.log.Sites, l.sites, rec.Site)
	case rec.Site == "" && validID(rec.Stretched):
		addSite(&l.log.Stretched, l.stretched, rec.Stretched)
		addSite(&l.log.Sites, l.sites, rec.Stretched)
	case rec.Site == "" && validID(rec.Seen):
		addSite(&l.log.Sites, l.sites, rec.Seen)
	default:
		l.log.Bad++
	}
}

func validID(s string) bool { return s != "" && len(s) <= maxID && utf8.ValidString(s) }

// addSite appends an id that is not in the list yet, within MaxLogSites.
func addSite(list *[]string, have map[string]bool, id string) {
	if have[id] || len(*list) >= MaxLogSites {
		return
	}
	have[id] = true
	*list = append(*list, id)
}
