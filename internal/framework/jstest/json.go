package jstest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxReport bounds a JSON report, in bytes: it is read as a whole.
const maxReport = 256 << 20

// jestReport is the report of jest (--json) and of vitest (--reporter=json).
type jestReport struct {
	TestResults *[]struct {
		Name    string `json:"name"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Tests   []struct {
			Ancestors []string `json:"ancestorTitles"`
			Title     string   `json:"title"`
			Status    string   `json:"status"`
			Messages  []string `json:"failureMessages"`
		} `json:"assertionResults"`
	} `json:"testResults"`
	// Failures are mocha's (--reporter json).
	Failures *[]struct {
		Title     string  `json:"title"`
		FullTitle string  `json:"fullTitle"`
		File      string  `json:"file"`
		Err       mochaEr `json:"err"`
	} `json:"failures"`
}

type mochaEr struct {
	Message string `json:"message"`
	Stack   string `json:"stack"`
}

// reStackName is the error's class at the head of a stack.
var reStackName = regexp.MustCompile(`^(\w*Error)(?: \[\w+\])?: `)

func (e mochaEr) thrown() thrown {
	t := thrown{Message: e.Message, Stack: e.Stack}
	if m := reStackName.FindStringSubmatch(e.Stack); m != nil {
		t.Name = m[1]
	}
	return t
}

// ReadJSON reads the failures of a JSON report of jest, vitest or mocha.
//
// The errors are [ErrEmpty], [ErrKind] for JSON of another kind, and
// [ErrTruncated] for a report that breaks off.
func ReadJSON(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	var rep jestReport
	err := json.NewDecoder(io.LimitReader(r, maxReport)).Decode(&rep)
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("reading JSON report: %w", ErrEmpty)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("reading JSON report: %w", ErrTruncated)
	case err != nil:
		return nil, fmt.Errorf("reading JSON report: %w: %w", ErrKind, err)
	case rep.TestResults == nil && rep.Failures == nil:
		return nil, fmt.Errorf("reading JSON report: %w", ErrKind)
	}
	var found collector
	if rep.TestResults != nil {
		rep.files(d, o, &found)
	}
	if rep.Failures != nil {
		for _, f := range *rep.Failures {
			t := d.target(o, o.file(f.File), f.FullTitle)
			found.add(d.failure(o, t, triage.PhaseTest, f.Err.thrown()))
		}
	}
	return found.done(nil)
}

// jestBroken heads jest's message of a file that cannot be imported.
const jestBroken = "● Test suite failed to run"

func (rep jestReport) files(d Dialect, o Options, found *collector) {
	for _, file := range *rep.TestResults {
		name := o.file(file.Name)
		red := false
		for _, t := range file.Tests {
			if t.Status != "failed" {
				continue
			}
			red = true
			var e thrown
			if len(t.Messages) > 0 {
				e.Message = t.Messages[0]
			}
			names := append(append([]string{}, t.Ancestors...), t.Title)
			found.add(d.failure(o, d.target(o, name, d.ID(names)), triage.PhaseTest, e))
		}
		if file.Status == "failed" && !red { // it could not be imported, or a hook broke
			phase := triage.PhaseBuild
			if len(file.Tests) > 0 {
				phase = triage.PhaseSetup
			}
			found.add(d.failure(o, d.target(o, name, ""), phase, thrown{Message: strings.TrimPrefix(strings.TrimSpace(file.Message), jestBroken)}))
		}
	}
}
