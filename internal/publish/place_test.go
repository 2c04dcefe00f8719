package publish

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

func flake() triage.Report {
	return sample(triage.Verdict{
		Target: triage.Target{Suite: "go", Framework: "gotest", Package: "example.com/app", Test: "TestFlaky"},
		Class:  triage.PreExistingFlake, Origin: triage.OriginBase,
	})
}

const broke = "This pull request broke 1 test"

// The second attempt ran one leg only: the other is as red as it was.
func TestALegThatWasNotRunAgainIsNotForgotten(t *testing.T) {
	f := newFake(flake())
	f.run.Attempt, f.run.Started = 2, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	f.artifacts[0].Created = f.run.Started.Add(time.Minute)
	f.add("triagebot-report-macos", regression()).Created = f.run.Started.Add(-time.Hour)
	out := f.publish(t)
	if out.Comment.Action != gh.Created || len(out.Refused) != 0 || !strings.Contains(f.comments[0].Body, "The report `macos` is not in here: an earlier attempt of the run left it") {
		t.Errorf("outcome %+v\n%v", out, f.comments)
	}
}

// /triage TestFlaky after a report that tells of a regression too.
func TestAReportOfNamedTestsDoesNotReplaceTheWhole(t *testing.T) {
	f := newFake(regression())
	f.publish(t)
	named := flake()
	named.Check.Source = "test"
	f.artifacts, f.run.Attempt = nil, 2
	f.add("triagebot-report", named)
	f.publish(t)
	if len(f.comments) != 2 || !strings.Contains(f.comments[0].Body, broke) || strings.Contains(f.comments[1].Body, "TestOne") {
		t.Fatalf("comments: %v", f.comments)
	}
	if !strings.Contains(f.comments[1].Body, "the tests that were asked for, at aaaaaaaaaaaa.") {
		t.Errorf("it does not say what it is about:\n%s", f.comments[1].Body)
	}
	f.publish(t)
	if len(f.comments) != 2 {
		t.Errorf("%d comments", len(f.comments))
	}
}

// The comment of a check that is called so is another.
func TestNamesOfChecksAreNotTakenForParts(t *testing.T) {
	f := newFake(regression())
	for _, check := range []string{"some", "-some", "-of/lint.yml", "lint.yml"} {
		if _, err := FromRun(t.Context(), f, runID, Options{Check: check}); err != nil {
			t.Fatal(err)
		}
	}
	named := flake()
	named.Check.Source = "test"
	f.artifacts = nil
	f.add("triagebot-report", named)
	f.publish(t)
	if len(f.comments) != 5 {
		t.Errorf("%d comments, want 5: %v", len(f.comments), f.comments)
	}
}

func TestAnotherWorkflowTakesNothingAway(t *testing.T) {
	f := newFake(regression())
	f.publish(t)
	f.run.ID, f.run.Path, f.run.Conclusion, f.artifacts = 43, ".github/workflows/lint.yml", "success", nil
	run := func() Outcome {
		out, err := FromRun(t.Context(), f, 43, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if run(); len(f.comments) != 1 || !strings.Contains(f.comments[0].Body, broke) {
		t.Fatalf("after a green run of another workflow: %v", f.comments)
	}
	f.run.Conclusion = "failure"
	f.add("triagebot-report", flake()).RunID = 43
	if run(); len(f.comments) != 2 || !strings.Contains(f.comments[0].Body, broke) || !strings.Contains(f.comments[1].Body, "TestFlaky") {
		t.Fatalf("after a red run of another workflow: %v", f.comments)
	}
	f.run.Conclusion, f.artifacts = "success", nil
	if run(); !strings.Contains(f.comments[0].Body, broke) || !strings.Contains(f.comments[1].Body, "The check is green") {
		t.Errorf("after it is green again: %v", f.comments)
	}
	f.run.ID, f.run.Path = runID, ".github/workflows/triage.yml"
	if f.publish(t); !strings.Contains(f.comments[0].Body, "The check is green") {
		t.Errorf("a green run of its own does not correct it: %v", f.comments)
	}
}

// Jobs of one run without check-names of their own write one comment.
func TestJobsOfARunWithTheSameNameStandInOneComment(t *testing.T) {
	for name, legs := range map[string][]triage.Report{
		"the fault first": {regression(), flake(), {}}, "the fault last": {flake(), {}, regression()},
	} {
		f := newFake(regression())
		o := Options{Source: Source{Run: runID, Attempt: 1, Workflow: "acme/loop/.github/workflows/ci.yml"}}
		write := func(r triage.Report) Outcome {
			var parts []report.Part
			if r.Verdicts != nil {
				parts = []report.Part{{Report: r}}
			}
			out, err := ToPull(t.Context(), f, 5, headSHA, parts, o)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		for _, r := range legs {
			write(r)
		}
		if len(f.comments) != 1 {
			t.Fatalf("%s: %d comments", name, len(f.comments))
		}
		body := f.comments[0].Body
		if at := strings.Index(body, broke); at < 0 || at > strings.Index(body, "TestFlaky") || strings.Count(body, "<!--") != 3 {
			t.Errorf("%s:\n%s", name, body)
		}
		o.Source.Attempt = 2
		if write(flake()); strings.Contains(f.comments[0].Body, broke) {
			t.Errorf("%s: another attempt keeps what is past:\n%s", name, f.comments[0].Body)
		}
	}
}

func TestAComparisonThatIsNotAnsweredIsNoForgery(t *testing.T) {
	f := newFake(regression())
	f.pull.MergeSHA = ""
	g := &silent{f}
	if out, err := FromRun(t.Context(), g, runID, Options{}); err == nil || f.wrote != 0 || len(out.Refused) != 0 {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

func TestASourceHoldsNoMarkup(t *testing.T) {
	for _, w := range []string{"ci--> <b>.yml", "a/b\n@x.yml", "--!>", ""} {
		line := Source{Run: 1, Attempt: 1, Workflow: w}.line()
		if !sourceMark.MatchString(line) || strings.Count(line, ">") != 1 {
			t.Errorf("%q gives %q", w, line)
		}
	}
	if fmt.Sprint(Source{}.line()) != "" {
		t.Error("an unknown run is named")
	}
}

// The workflow checked out main: its reds are not about the pull request.
func TestWhatWasMeasuredOfAnotherCommitIsNotThePullRequests(t *testing.T) {
	f := newFake(regression())
	r := flake()
	r.Check.Head.SHA, f.bases[otherSHA] = otherSHA, baseSHA
	out, err := ToPull(t.Context(), f, 5, headSHA, []report.Part{{Report: r}}, Options{})
	if err != nil || f.wrote != 0 || !strings.Contains(out.Said, "does not contain") || out.Page == "" {
		t.Errorf("outcome %+v, %v", out, err)
	}
	r.Check.Head.SHA = strings.Repeat("f", 40) // made by the job itself: nobody knows
	if out, err = ToPull(t.Context(), f, 5, headSHA, []report.Part{{Report: r}}, Options{}); err != nil || f.wrote != 1 {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

// The summary of the publishing run is read too.
func TestWithoutAPullRequestThePageIsCheckedAllTheSame(t *testing.T) {
	f := newFake(regression())
	f.fork()
	f.findErr = gh.ErrNoPull
	if out := f.publish(t); f.wrote != 0 || !strings.Contains(out.Page, "take it as advice") || len(out.Reports) != 1 {
		t.Errorf("outcome %+v", out)
	}
	f.bases[mergeSHA] = baseSHA
	if out := f.publish(t); out.Page != "" || len(out.Reports) != 0 || len(out.Refused) != 1 {
		t.Errorf("another commit's: %+v", out)
	}
}
