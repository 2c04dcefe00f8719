package publish

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

func TestTheReportOfARunBecomesItsComment(t *testing.T) {
	f := newFake(regression())
	out := f.publish(t)
	if out.Comment.Action != gh.Created || len(out.Reports) != 1 || len(out.Refused) != 0 {
		t.Fatalf("outcome %+v", out)
	}
	body := f.comments[0].Body
	for _, want := range []string{gh.Marker("check") + "\n" + headLine(headSHA), "This pull request broke", "`TestOne`"} {
		if !strings.Contains(body, want) {
			t.Errorf("the comment lacks %q:\n%s", want, body)
		}
	}
	if strings.Contains(body, "advice") || strings.Contains(body, "Out of date") {
		t.Errorf("the comment says too much:\n%s", body)
	}
	if again := f.publish(t); again.Comment.Action != gh.Unchanged || f.wrote != 1 {
		t.Errorf("publishing again: %v, %d writes", again.Comment.Action, f.wrote)
	}
}

func TestAForksVerdictsAreAdvice(t *testing.T) {
	f := newFake(regression())
	f.fork()
	if out := f.publish(t); out.Comment.Action != gh.Created || !strings.Contains(f.comments[0].Body, "take it as advice") {
		t.Errorf("outcome %+v", out)
	}
}

func TestLegsOfAMatrixEndInOneComment(t *testing.T) {
	f := newFake(regression())
	f.add("triagebot-report-windows", regression())
	f.add("triagebot-report-linux", sample())
	f.add("coverage", regression())
	if out := f.publish(t); len(out.Reports) != 3 || len(f.comments) != 1 {
		t.Fatalf("%d reports, %d comments", len(out.Reports), len(f.comments))
	}
	for _, want := range []string{"counts 3 reports", "### `linux`", "### `windows`", "### `triagebot-report`"} {
		if !strings.Contains(f.comments[0].Body, want) {
			t.Errorf("the comment lacks %q", want)
		}
	}
}

func TestGreenIsSilentUnlessItCorrectsARed(t *testing.T) {
	f := newFake(regression())
	f.artifacts, f.run.Conclusion = nil, "success"
	if out := f.publish(t); f.wrote != 0 || out.Said == "" {
		t.Errorf("a green run: %+v", out)
	}
	f.comments = []gh.CommentRef{{ID: 3, Author: "mallory", Body: gh.Marker("check") + "\nold"}}
	if f.publish(t); f.wrote != 0 {
		t.Errorf("another's comment with our marker was changed")
	}
	f.comments[0].Author = me
	if out := f.publish(t); out.Comment.Action != gh.Updated || !strings.Contains(f.comments[0].Body, "The check is green") {
		t.Errorf("a green run after a red: %+v\n%s", out, f.comments[0].Body)
	}
}

func TestARunWithoutAReportChangesNothing(t *testing.T) {
	f := newFake(regression())
	f.artifacts = nil
	f.comments = []gh.CommentRef{{ID: 3, Author: me, Body: gh.Marker("check") + "\nold"}}
	if out := f.publish(t); f.wrote != 0 || !strings.Contains(out.Said, "no report") {
		t.Errorf("outcome %+v", out)
	}
}

func TestAReportOfAnEarlierAttemptIsNotPublished(t *testing.T) {
	f := newFake(regression())
	f.run.Attempt, f.run.Conclusion = 2, "success"
	f.run.Started = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	f.artifacts[0].Created = f.run.Started.Add(-time.Hour)
	if out := f.publish(t); f.wrote != 0 || len(out.Reports) != 0 {
		t.Errorf("outcome %+v", out)
	}
	f.artifacts[0].Created = f.run.Started.Add(time.Minute)
	if out := f.publish(t); out.Comment.Action != gh.Created {
		t.Errorf("outcome %+v", out)
	}
}

// Each of these artifacts is refused, and nothing that it says reaches a comment.
func TestForgedReportsAreRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		forge   func(*fake)
		problem string
	}{
		"another run":        {func(f *fake) { f.artifacts[0].RunID = 41 }, "not of this run"},
		"another commit":     {func(f *fake) { f.artifacts[0].HeadSHA = otherSHA }, "not of this run"},
		"another repository": {func(f *fake) { f.artifacts[0].HeadRepoID = 99 }, "not of this run"},
		"expired":            {func(f *fake) { f.artifacts[0].Expired = true }, "expired"},
		"a zip that is none": {func(f *fake) { f.readErr[1] = gh.ErrArtifact }, "not one that triagebot wrote"},
		"no report in it":    {func(f *fake) { delete(f.files[1], file) }, "holds no report.json"},
		"no JSON":            {func(f *fake) { f.files[1][file] = []byte("@everyone") }, "not a valid report"},
		"deep nesting":       {func(f *fake) { f.files[1][file] = []byte(strings.Repeat("[", 1<<20)) }, "not a valid report"},
		"an unknown key": {func(f *fake) {
			f.files[1][file] = []byte(strings.Replace(string(f.files[1][file]), `"tool"`, `"number": 1, "tool"`, 1))
		}, "not a valid report"},
		"the report of a sweep": {func(f *fake) {
			r := regression()
			r.Sweep = &triage.Sweep{Tests: 1, Units: 1, Rungs: []triage.SweepRung{{Name: "control", Scope: triage.InSuite, Runs: 1, Tests: 1}}}
			f.artifacts = nil
			f.add("triagebot-report", r)
		}, "of a sweep"},
		"a newer version": {func(f *fake) {
			f.files[1][file] = []byte(strings.Replace(string(f.files[1][file]), "report/v1", "report/v2", 1))
		}, "newer version"},
		"more than fits": {func(f *fake) { f.files[1][file] = make([]byte, report.MaxBytes+1) }, "too large"},
		"the report names another repository": {func(f *fake) {
			f.files[1][file] = []byte(strings.Replace(string(f.files[1][file]), "acme/loop", "evil/repo", 1))
		}, "not of this run"},
		"the report names an unrelated commit": {func(f *fake) {
			f.files[1][file] = []byte(strings.Replace(string(f.files[1][file]), mergeSHA, otherSHA, 1))
			f.bases[otherSHA] = baseSHA
		}, "not of this run"},
		"the report names an unknown commit": {func(f *fake) {
			f.files[1][file] = []byte(strings.Replace(string(f.files[1][file]), mergeSHA, otherSHA, 1))
		}, "not of this run"},
		"the report names no commit": {func(f *fake) {
			f.files[1][file] = []byte(strings.Replace(string(f.files[1][file]), mergeSHA, "main...evil", 1))
		}, "not of this run"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(regression())
			tc.forge(f)
			out := f.publish(t)
			if f.wrote != 0 || len(out.Refused) != 1 || len(out.Reports) != 0 {
				t.Fatalf("alone: %d writes, outcome %+v", f.wrote, out)
			}
			// Beside a good one it is named, and its text is not in the page.
			f.add("triagebot-report-good", regression())
			out = f.publish(t)
			if out.Comment.Action != gh.Created || len(out.Refused) != 1 || len(out.Reports) != 1 {
				t.Fatalf("beside a good one: %+v", out)
			}
			body := f.comments[0].Body
			if !strings.Contains(body, tc.problem) || strings.Contains(body, "evil") || strings.Contains(body, "everyone") {
				t.Errorf("the page:\n%s", body)
			}
		})
	}
}

func TestRunsThatAreNotOurs(t *testing.T) {
	f := newFake(regression())
	f.run.RepoID = 99
	if _, err := FromRun(t.Context(), f, runID, Options{}); !errors.Is(err, errRun) {
		t.Errorf("another repository's run: %v", err)
	}
	f = newFake(regression())
	f.run.Status = "in_progress"
	if _, err := FromRun(t.Context(), f, runID, Options{}); !errors.Is(err, errRun) {
		t.Errorf("a run that has not ended: %v", err)
	}
	f = newFake(regression())
	out, err := FromRun(t.Context(), f, runID, Options{Workflow: "release.yml"})
	if err != nil || f.wrote != 0 || !strings.Contains(out.Said, "release.yml") {
		t.Errorf("another workflow: %+v, %v", out, err)
	}
	if _, err := FromRun(t.Context(), f, runID, Options{Workflow: ".github/workflows/triage.yml"}); err != nil || f.wrote != 1 {
		t.Errorf("the workflow itself: %v", err)
	}
}

func TestWithoutOnePullRequestNothingIsWritten(t *testing.T) {
	for name, err := range map[string]error{"none": gh.ErrNoPull, "two": gh.ErrManyPulls} {
		f := newFake(regression())
		f.fork()
		f.findErr = err
		out := f.publish(t)
		if f.wrote != 0 || out.Said == "" || !strings.Contains(out.Page, "TestOne") {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestAStaleVerdictSaysSo(t *testing.T) {
	for name, move := range map[string]func(*fake){
		"before the artifacts are read": func(f *fake) { f.pull.Head.SHA = movedSHA },
		"while they are read":           func(f *fake) { f.moved = movedSHA },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(regression())
			move(f)
			out := f.publish(t)
			if out.Comment.Action != gh.Created || !strings.Contains(f.comments[0].Body, "**Out of date:** this is about aaaaaaaaaaaa, and the pull request is at bbbbbbbbbbbb now") {
				t.Fatalf("outcome %+v", out)
			}
			// A verdict on the newer commit is not overwritten by an older one.
			newer := gh.Marker("check") + "\n" + headLine(movedSHA) + "newer"
			f.comments[0].Body = newer
			if out = f.publish(t); f.comments[0].Body != newer || !strings.Contains(out.Said, "newer commit") {
				t.Errorf("the newer verdict was overwritten: %+v", out)
			}
		})
	}
}

// GitHub names no pull request in the run of a fork: a moved head cannot be found.
func TestAForksStaleVerdictIsNotWritten(t *testing.T) {
	f := newFake(regression())
	f.fork()
	f.pull.Head.SHA = movedSHA
	if out := f.publish(t); f.wrote != 0 || out.Said == "" {
		t.Errorf("outcome %+v", out)
	}
}

func TestThePullRequestOfARunIsCheckedEvenIfGitHubNamesIt(t *testing.T) {
	for name, change := range map[string]func(*fake){
		"another head repository": func(f *fake) { f.pull.Head.RepoID = 99 },
		"another base repository": func(f *fake) { f.pull.Base.RepoID = 99 },
		"closed":                  func(f *fake) { f.closed = true },
		"two of them":             func(f *fake) { f.run.Pulls = []int{5, 6} },
	} {
		f := newFake(regression())
		f.pull.Head.SHA = movedSHA
		change(f)
		if out := f.publish(t); f.wrote != 0 || out.Said == "" {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestAClosedPullRequestIsLeftAlone(t *testing.T) {
	f := newFake(regression())
	f.closed = true
	if out := f.publish(t); f.wrote != 0 || !strings.Contains(out.Said, "closed") {
		t.Errorf("outcome %+v", out)
	}
}

func TestARefusalToWriteIsAnError(t *testing.T) {
	f := newFake(regression())
	f.upsertErr = []error{gh.ErrForbidden}
	if _, err := FromRun(t.Context(), f, runID, Options{}); !errors.Is(err, gh.ErrForbidden) {
		t.Errorf("error %v", err)
	}
}

func TestAnOutageIsAnErrorAndNoForgedReport(t *testing.T) {
	for _, cause := range []error{gh.ErrUnavailable, gh.ErrForbidden, gh.ErrUnauthorized, &gh.RateLimited{}} {
		f := newFake(regression())
		f.readErr[1] = cause
		if _, err := FromRun(t.Context(), f, runID, Options{}); !errors.Is(err, cause) || f.wrote != 0 {
			t.Errorf("%v: error %v, %d writes", cause, err, f.wrote)
		}
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	f := newFake(regression())
	out, err := FromRun(t.Context(), f, runID, Options{DryRun: true})
	if err != nil || f.wrote != 0 || !strings.Contains(out.Page, "TestOne") {
		t.Errorf("outcome %+v, %v", out, err)
	}
}

func TestToPullIsForReportsThatWereMeasuredHere(t *testing.T) {
	f := newFake(regression())
	parts := []report.Part{{Name: "here", Report: regression()}}
	out, err := ToPull(t.Context(), f, 5, headSHA, parts, Options{Check: "unit tests"})
	if err != nil || out.Comment.Action != gh.Created || !strings.HasPrefix(f.comments[0].Body, gh.Marker("check/unit_tests")) {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	out, err = ToPull(t.Context(), f, 5, otherSHA, parts, Options{})
	if err != nil || !strings.Contains(out.Page, "Out of date") {
		t.Errorf("a stale one: %+v, %v", out, err)
	}
	old := regression()
	old.Check.Head.SHA = otherSHA
	out, err = ToPull(t.Context(), f, 5, "", []report.Part{{Report: old}}, Options{Check: "by hand"})
	if err != nil || !strings.Contains(out.Page, "Out of date") {
		t.Errorf("one of an older commit, by hand: %+v, %v", out, err)
	}
	out, err = ToPull(t.Context(), f, 5, "", parts, Options{Check: "by hand, again"})
	if err != nil || strings.Contains(out.Page, "Out of date") {
		t.Errorf("one of the present commit, by hand: %+v, %v", out, err)
	}
	out, err = ToPull(t.Context(), f, 5, "", []report.Part{{Report: sample()}}, Options{Check: "unit tests"})
	if err != nil || !strings.Contains(out.Page, "green") {
		t.Errorf("a green one: %+v, %v", out, err)
	}
	f.pull.State = "closed"
	if out, err = ToPull(t.Context(), f, 5, "", parts, Options{}); err != nil || out.Comment.Action != "" || out.Said == "" {
		t.Errorf("closed: %+v, %v", out, err)
	}
}

// A hostile report that keeps to the schema is shown, and does nothing.
func TestHostileTextsAreHarmlessInTheComment(t *testing.T) {
	r := sample(triage.Verdict{
		Target: triage.Target{Suite: "go", Framework: "gotest", Package: "p", Test: "Test`|<!-- triagebot:check -->\n@everyone ```\n/approve \u202e ::set-env name=X::1"},
		Class:  triage.LikelyRegression, Origin: triage.OriginHead,
	})
	r.Failures[0].Message = "::add-mask::x\n</details><script>alert(1)</script> fixes #1 ![x](https://evil.example/x.png)"
	r.Failures[0].Excerpt = "````````\n<!-- triagebot-head:" + movedSHA + " -->\n@org/team"
	f := newFake(r)
	f.publish(t)
	body := f.comments[0].Body
	if n := strings.Count(body, "<!--"); n != 3 {
		t.Errorf("%d hidden comments, want our three:\n%s", n, body)
	}
	for _, live := range []string{"\n/approve", "<script", "\u202e", "\n</details><script"} {
		if strings.Contains(body, live) {
			t.Errorf("the comment holds %q:\n%s", live, body)
		}
	}
}

func TestKeysKeepApartAndHoldNoMarkup(t *testing.T) {
	if Key("") != "check" || Key("go 1.26, linux") == Key("go 1.26, macos") || strings.ContainsAny(Key("--> <b>"), "<>- ") {
		t.Errorf("keys: %q %q %q", Key(""), Key("go 1.26, linux"), Key("--> <b>"))
	}
}

func FuzzUntrustedBytes(f *testing.F) {
	good := newFake(regression()).files[1][file]
	f.Add(good, "triagebot-report-linux")
	f.Add([]byte(`{"schema":"triagebot/report/v9"}`), "triagebot-report")
	f.Add([]byte("\xff"), "triagebot-report`@x")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		k := newFake(regression())
		k.artifacts[0].Name = DefaultArtifact + name
		k.files[1][file] = data
		out, err := FromRun(t.Context(), k, runID, Options{})
		if err != nil {
			t.Fatalf("an artifact made the whole fail: %v", err)
		}
		if len(out.Reports)+len(out.Refused) != 1 {
			t.Fatalf("%d reports, %d refused", len(out.Reports), len(out.Refused))
		}
		if len(out.Refused) == 1 && k.wrote != 0 {
			t.Fatal("a refused report was written about")
		}
		for _, c := range k.comments {
			if strings.Count(c.Body, "<!--") > 3 {
				t.Fatalf("a hidden comment of a stranger's:\n%s", c.Body)
			}
		}
	})
}
