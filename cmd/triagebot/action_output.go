package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/triage"
)

// The values of the input comment.
const (
	commentAuto   = "auto"
	commentAlways = "always"
	commentOff    = "off"
)

// The values of the output verdict.
const (
	verdictNone         = "none"
	verdictGreen        = "green"
	verdictYours        = "yours"
	verdictNotYours     = "not-yours"
	verdictMixed        = "mixed"
	verdictInconclusive = "inconclusive"
)

// number reads an id.
func number(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not the number of anything", s)
	}
	return n, nil
}

// summaryVerdict is all verdicts in one word.
func summaryVerdict(vs []triage.Verdict) string {
	var yours, not, open int
	for _, v := range vs {
		switch {
		case v.Yours():
			yours++
		case v.NotYours():
			not++
		default:
			open++
		}
	}
	switch {
	case len(vs) == 0:
		return verdictGreen
	case yours == len(vs):
		return verdictYours
	case yours > 0:
		return verdictMixed
	case open > 0:
		return verdictInconclusive
	}
	return verdictNotYours
}

// counts are the outputs that count verdicts.
func counts(vs []triage.Verdict) map[string]string {
	n := map[string]int{"regressions": 0, "introduced-flakes": 0, "new-races": 0, "old-races": 0, "pre-existing-flakes": 0, "broken-on-base": 0, "inconclusive": 0}
	for _, v := range vs {
		switch v.Class {
		case triage.LikelyRegression:
			n["regressions"]++
		case triage.IntroducedFlake:
			n["introduced-flakes"]++
		case triage.PreExistingFlake:
			n["pre-existing-flakes"]++
		case triage.BrokenOnBase:
			n["broken-on-base"]++
		case triage.LagRevealedRace:
			switch v.Origin {
			case triage.OriginHead:
				n["new-races"]++
			case triage.OriginBase:
				n["old-races"]++
			default:
				n["inconclusive"]++
			}
		default:
			n["inconclusive"]++
		}
	}
	out := map[string]string{}
	for name, k := range n {
		out[name] = strconv.Itoa(k)
	}
	return out
}

// result is what a step gives to later ones.
type result struct {
	verdict    string
	verdicts   []triage.Verdict
	path, dir  string
	commentURL string
	shouldFail bool
}

// outputs sets every output of the table, so that none is left from before.
func (a *actionRun) outputs(r result) error {
	values := counts(r.verdicts)
	values["verdict"], values["report-path"], values["artifact-path"] = r.verdict, r.path, r.dir
	values["comment-url"], values["should-fail"] = r.commentURL, strconv.FormatBool(r.shouldFail)
	var errs []error
	for _, row := range outputTable {
		errs = append(errs, a.runner.Output(row.Name, values[row.Name]))
	}
	return errors.Join(errs...)
}

// summary adds a page to the job summary. A page that does not fit is said to be
// in the artifact.
func (a *actionRun) summary(page string) error {
	err := a.runner.Summary(page)
	if errors.Is(err, gh.ErrTooLong) {
		a.annotate(gh.Warning, "The page does not fit into the job summary; report.md has it.")
		return nil
	}
	return err
}

// printPage shows a page in the log, where nothing else will.
func (a *actionRun) printPage(page string) error {
	return a.runner.Group("The comment", func() error {
		return a.runner.Fence(writeText(strings.TrimRight(page, "\n") + "\n"))
	})
}
