package sampletest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/sample"
	"github.com/triagebot/triagebot/internal/triage"
)

// ideal is a report that says of a sample what its header says.
func ideal(s Sample, r Repo) triage.Report {
	rep := triage.Report{Schema: triage.Schema}
	rep.Check.Head = triage.Rev{SHA: r.Head, Dirty: s.Shape == sample.Dirty}
	rep.Check.Base = triage.Rev{SHA: r.Base}
	for _, w := range s.Verdicts {
		v := triage.Verdict{
			Target: triage.Target{Suite: "go", Framework: "gotest", Package: w.Package, Test: w.Test},
			Class:  w.Class[0], Origin: w.Origin, Reasons: w.Reasons,
		}
		if len(w.Polluters) > 0 {
			v.Polluters = &triage.Polluters{Tests: w.Polluters, Files: w.PolluterFiles}
		}
		if w.Cause != nil {
			v.Cause = &triage.Cause{Kind: w.Cause.Kind}
			for _, site := range w.Cause.Sites {
				v.Cause.Sites = append(v.Cause.Sites, triage.Site{ID: site.ID, File: site.File, Func: "(*T)." + site.Func, Text: "\t" + site.Text})
			}
		}
		rep.Verdicts = append(rep.Verdicts, v)
	}
	if s.Leftover != "" {
		rep.Trials = []triage.Trial{{Leftovers: []triage.Leftover{{Kind: s.Leftover, Name: "x"}}}}
	}
	return rep
}

func encode(t *testing.T, r triage.Report) []byte {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var checked = Repo{Repo: sample.Repo{Head: "aaa", Base: "bbb"}}

func TestCheckAcceptsTheTruth(t *testing.T) {
	for _, s := range loadAll(t) {
		if a := s.Check(encode(t, ideal(s, checked)), checked); len(a.Wrong)+len(a.Strays) > 0 {
			t.Errorf("%s: the truth itself is refused: %+v", s.Name, a)
		}
	}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		sample string
		spoil  func(*triage.Report)
		want   string
	}{
		"another schema":        {"regression", func(r *triage.Report) { r.Schema = "x/1" }, "schema"},
		"another head":          {"regression", func(r *triage.Report) { r.Check.Head.SHA = "ccc" }, "head is"},
		"another base":          {"merge-commit", func(r *triage.Report) { r.Check.Base.SHA = "ccc" }, "base is"},
		"dirt that is not said": {"dirty-worktree", func(r *triage.Report) { r.Check.Head.Dirty = false }, "dirty"},
		"an early stop":         {"regression", func(r *triage.Report) { r.Plan.Stopped = "budget" }, "stopped early"},
		"a stray that is none":  {"flake", func(r *triage.Report) { r.Verdicts[0].Class = triage.BrokenOnBase }, "class is broken-on-base"},
		"a missed leftover":     {"child-process", func(r *triage.Report) { r.Trials = nil }, "leftover process"},
		"a missing verdict":     {"names", func(r *triage.Report) { r.Verdicts = r.Verdicts[1:] }, "no verdict"},
		"a verdict too many": {"regression", func(r *triage.Report) {
			r.Verdicts = append(r.Verdicts, r.Verdicts[0])
		}, "nobody asked for"},
		"another class":    {"broken-on-base", func(r *triage.Report) { r.Verdicts[0].Class = triage.LikelyRegression }, "class is likely-regression"},
		"another origin":   {"race-by-head", func(r *triage.Report) { r.Verdicts[0].Origin = triage.OriginBase }, `origin is "base"`},
		"a race of nobody": {"race-by-head", func(r *triage.Report) { r.Verdicts[0].Origin = "" }, `origin is ""`},
		"a missing reason": {"renamed", func(r *triage.Report) { r.Verdicts[0].Reasons = nil }, "new-test"},
		"a reason that base gives": {"made-worse", func(r *triage.Report) {
			red := triage.Request{Target: r.Verdicts[0].Target, Arm: triage.Arm{Side: triage.Base}, Purpose: triage.Measure}
			r.Trials = []triage.Trial{{Request: red, Outcome: triage.Fail}}
		}, "made-worse"},
		"a cause too many":        {"regression", func(r *triage.Report) { r.Verdicts[0].Cause = &triage.Cause{Kind: triage.CauseRace} }, "want none"},
		"a missing cause":         {"race-on-base", func(r *triage.Report) { r.Verdicts[0].Cause = nil }, "no cause"},
		"another cause":           {"fixed-sleep", func(r *triage.Report) { r.Verdicts[0].Cause.Kind = triage.CauseRace }, "cause is race"},
		"another place":           {"fixed-sleep", func(r *triage.Report) { r.Verdicts[0].Cause.Sites[0].Func = "run" }, "cause names"},
		"a guiltless one blamed":  {"order-dependent", func(r *triage.Report) { r.Verdicts[0].Polluters.Tests = []string{"TestX"} }, "it fails after [TestX]"},
		"a guiltless file blamed": {"py-order-other-file", func(r *triage.Report) { r.Verdicts[0].Polluters.Files = []string{"a.py"} }, "it fails after the files [a.py]"},
		"no place at all":         {"fixed-sleep", func(r *triage.Report) { r.Verdicts[0].Cause.Sites = nil }, "names no site"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Load(samples + "/" + c.sample + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			r := ideal(s, checked)
			c.spoil(&r)
			a := s.Check(encode(t, r), checked)
			if len(a.Wrong) != 1 || !strings.Contains(a.Wrong[0], c.want) || len(a.Strays) > 0 {
				t.Errorf("answer is %+v, want one mismatch with %q", a, c.want)
			}
		})
	}
}

func TestCheckReportsWhatItCannotRead(t *testing.T) {
	if a := (Sample{}).Check([]byte(`{"schema":`), checked); len(a.Wrong) != 1 || !strings.Contains(a.Wrong[0], "cannot be read") {
		t.Errorf("answer is %+v", a)
	}
}

func TestCheckTellsAStrayFromAWrongVerdict(t *testing.T) {
	s, err := Load(samples + "/introduced-flake.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[triage.Class]Answer{
		triage.Inconclusive:     {Strays: []string{"example.com/retry TestDelayStaysInBounds: by chance inconclusive [unstable]"}},
		triage.LikelyRegression: {},
		triage.PreExistingFlake: {Wrong: []string{"example.com/retry TestDelayStaysInBounds: class is pre-existing-flake [unstable], want introduced-flake or likely-regression"}},
	} {
		r := ideal(s, checked)
		r.Verdicts[0].Class, r.Verdicts[0].Reasons = class, []triage.Reason{triage.ReasonUnstable}
		if diff := cmp.Diff(want, s.Check(encode(t, r), checked)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", class, diff)
		}
	}
}

func TestOwnName(t *testing.T) {
	for f, want := range map[string]string{
		"Put":                              "Put",
		"(*Dispatcher).handle":             "handle",
		"(*Dispatcher).run.func1":          "run",
		"Registry.Mark":                    "Mark",
		"TestPut.func2.1":                  "TestPut",
		"example.com/mail.(*fake).Send":    "Send",
		"example.com/mail/dispatch.handle": "handle",
	} {
		if got := ownName(f); got != want {
			t.Errorf("ownName(%q) = %q, want %q", f, got, want)
		}
	}
}
