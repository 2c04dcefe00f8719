package sweep

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

func three() []triage.Report {
	return []triage.Report{
		shardReport(1, 3, 4, goTest("a", "TestA"), goTest("a", "TestB")),
		shardReport(2, 3, 4, goTest("b", "TestC")),
		shardReport(3, 3, 4, goTest("c", "TestD")),
	}
}

func TestShardsAreJoinedInTheirOrderWhateverThatOfTheFiles(t *testing.T) {
	s := sources(t, three()...)
	want, err := Merge(s, report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(want); err != nil {
		t.Errorf("the joined report is not valid: %v", err)
	}
	for _, order := range [][]int{{0, 2, 1}, {2, 1, 0}, {1, 2, 0}} {
		got, err := Merge([]Source{s[order[0]], s[order[1]], s[order[2]]}, report.Decode)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(encode(t, want)), string(encode(t, got))); diff != "" {
			t.Errorf("order %v:\n%s", order, diff)
		}
	}
	if n := len(want.Verdicts); n != 4 {
		t.Errorf("%d verdicts, want 4", n)
	}
	last := want.Verdicts[3]
	if last.Trial != 7 || last.Reproduce != "triagebot replay report.json --trial 7" || want.Trials[6].Target.Test != "TestD" {
		t.Errorf("the last verdict is of trial %d (%s), %q", last.Trial, want.Trials[6].Target, last.Reproduce)
	}
	if c := want.Cost; c.WallMS != 3000 || c.Trials != 8 || c.Builds != 3 {
		t.Errorf("cost %+v", c)
	}
	if diff := cmp.Diff([]string{"the machine is slow"}, want.Warnings); diff != "" {
		t.Errorf("warnings:\n%s", diff)
	}
}

// A shard plans for its own tests only, and each part is judged again by the plan of all.
func TestTheJoinedPlanIsThatOfAllShards(t *testing.T) {
	all := three()
	all[0].Plan.Ladders, all[0].Plan.Unlike = map[string][]string{"gotest": {"g"}}, []string{"go"}
	all[1].Plan.Ladders, all[1].Plan.SuiteScope = map[string][]string{"pytest": {"p"}}, []string{"py"}
	all[2].Plan.Ladders, all[2].Plan.SuiteScope = map[string][]string{"pytest": {"p"}}, []string{"py", "web"}
	all[2].Plan.Unlike, all[2].Plan.Detectors = []string{"web", "go"}, map[string]string{"gotest": "race"}
	r, err := Join(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(Split(r), r) {
		got := triage.Plan{Ladders: p.Plan.Ladders, Detectors: p.Plan.Detectors, SuiteScope: p.Plan.SuiteScope, Unlike: p.Plan.Unlike}
		want := triage.Plan{Ladders: map[string][]string{"gotest": {"g"}, "pytest": {"p"}}, Detectors: map[string]string{"gotest": "race"},
			SuiteScope: []string{"py", "web"}, Unlike: []string{"go", "web"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("shard %v:\n%s", p.Plan.Shard, diff)
		}
	}
	if len(all[0].Plan.Ladders) != 1 {
		t.Error("a shard's own plan was changed")
	}
}

func TestTheJoinedReportIsAdjustedOverAllTests(t *testing.T) {
	r, err := Merge(sources(t, three()...), report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Evidence {
		if got := e.Comparisons[0].AdjustedP; got != 0.02 {
			t.Errorf("%s: p = 0.005 in four tests is adjusted to %v, want 0.02", e.Target, got)
		}
	}
}

func TestALostShardIsSaidAndTheRestKept(t *testing.T) {
	all := sources(t, three()...)
	gone := Source{"shard-b.json", func() (io.ReadCloser, error) { return nil, &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist} }}
	whole := encode(t, three()[1])
	for name, tc := range map[string]struct {
		lost Source
		says string
	}{
		"no file":  {gone, "shard-b.json is left out: there is no such file"},
		"cut off":  {source("shard-b.json", whole[:len(whole)/2]), "shard-b.json is left out: decoding report: "},
		"empty":    {source("shard-b.json", nil), "shard-b.json is left out: decoding report: the file is empty"},
		"a forger": {source("shard-b.json", []byte(strings.Replace(string(whole), `"seq": 2`, `"seq": 1`, 1))), "does not come after"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Merge([]Source{all[0], tc.lost, all[2]}, report.Decode)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Verdicts) != 3 || len(r.Plan.Parts) != 2 {
				t.Errorf("%d verdicts in %d parts are kept, want 3 in 2", len(r.Verdicts), len(r.Plan.Parts))
			}
			for _, want := range []string{tc.says, "shard 2 of 3 is missing", "this report tells of 3 of 4 tests"} {
				if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
					t.Errorf("no warning says %q: %q", want, r.Warnings)
				}
			}
			if err := report.Validate(r); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestNothingIsMadeOfNothing(t *testing.T) {
	for _, s := range [][]Source{nil, {source("a.json", []byte("{"))}} {
		if _, err := Merge(s, report.Decode); !errors.Is(err, ErrNoShard) {
			t.Errorf("%v, want ErrNoShard", err)
		}
	}
}

func TestWhatIsNotOfOneRunIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(rs []triage.Report)
		want   string
	}{
		"another head":    {func(rs []triage.Report) { rs[1].Check.Head.SHA = "beef" }, `of different heads, "4f1c9a7b" and "beef"`},
		"another base":    {func(rs []triage.Report) { rs[2].Check.Base.SHA = "beef" }, "different bases"},
		"another version": {func(rs []triage.Report) { rs[1].Tool.Version = "v0.2.0" }, "different versions of triagebot"},
		"another suite":   {func(rs []triage.Report) { rs[1].Check.Suite = "web" }, "different suites"},
		"another number":  {func(rs []triage.Report) { rs[1].Plan.Shard.Of = 4 }, "different numbers of shards"},
		"other tests":     {func(rs []triage.Report) { rs[1].Plan.Shard.Tests = 9 }, "different numbers of tests"},
		"no shard":        {func(rs []triage.Report) { rs[0].Plan.Shard = triage.Shard{} }, "is not the report of a shard"},
		"one shard twice": {func(rs []triage.Report) { rs[1].Plan.Shard.Index = 1 }, "shard-a.json and shard-b.json are both shard 1/3"},
		"a trial twice": {func(rs []triage.Report) {
			shard := rs[1].Plan.Shard
			rs[1] = rs[0]
			rs[1].Plan.Shard = shard
		}, "trial 1 of shard-b.json is in shard-a.json too"},
		"a test twice": {func(rs []triage.Report) { rs[1] = shardReport(2, 3, 4, goTest("a", "TestB")) }, "TestB is judged in shard-a.json and in shard-b.json"},
	} {
		t.Run(name, func(t *testing.T) {
			rs := three()
			tc.change(rs)
			if _, err := Merge(sources(t, rs...), report.Decode); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestRunsOfACommandInSeveralShardsFollowEachOther(t *testing.T) {
	rs := three()[:2]
	command := goTest("whole", "")
	for i := range rs {
		rs[i].Evidence = append(rs[i].Evidence, triage.Evidence{Target: command, Tallies: []triage.Tally{
			{Arm: triage.Arm{Scope: triage.InSuite}, Pass: 2, Same: i, Sequence: ".." + strings.Repeat("F", i)}}})
	}
	r, err := Merge(sources(t, rs...), report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Evidence {
		if e.Target == command && (len(e.Tallies) != 1 || e.Tallies[0].Sequence != "....F" || e.Tallies[0].Pass != 4) {
			t.Errorf("tallies %+v", e.Tallies)
		}
	}
	if err := report.Validate(r); err != nil {
		t.Error(err)
	}
}

func TestAJoinedReportCanBeTakenApartAndJoinedAgain(t *testing.T) {
	want, err := Merge(sources(t, three()...), report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	parts := Split(want)
	for i, p := range parts {
		original := three()[i]
		if diff := cmp.Diff(original.Trials, p.Trials); diff != "" {
			t.Errorf("trials of shard %d:\n%s", i+1, diff)
		}
		if diff := cmp.Diff(original.Failures, p.Failures); diff != "" {
			t.Errorf("failures of shard %d:\n%s", i+1, diff)
		}
		parts[i].Evidence, parts[i].Verdicts = original.Evidence, original.Verdicts // as judging again gives them
	}
	got, err := Join(parts)
	if err != nil {
		t.Fatal(err)
	}
	got.Cost, got.Warnings, got.Plan.Created = want.Cost, want.Warnings, want.Plan.Created
	if diff := cmp.Diff(string(encode(t, want)), string(encode(t, got))); diff != "" {
		t.Error(diff)
	}
}

// FuzzMerge: whatever stands in one of the files, the others are kept or the
// whole is refused, and what comes out is valid.
func FuzzMerge(f *testing.F) {
	f.Add(encode(f, three()[1]))
	f.Add([]byte("{}"))
	f.Add([]byte(strings.Replace(string(encode(f, three()[1])), "TestC", "TestA", 1)))
	good := encode(f, three()[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Merge([]Source{source("a", good), source("b", b)}, report.Decode)
		if err != nil {
			return
		}
		if err := report.Validate(r); err != nil {
			t.Fatal(err)
		}
		if len(r.Verdicts) < 2 {
			t.Fatalf("%d verdicts are left of the good shard", len(r.Verdicts))
		}
	})
}

// hundred are 100 shards of 10,000 tests: each has 100 tests with a run in the
// suite without and with lag, and measures 5 of them alone in 24 trials.
func hundred(b testing.TB) []Source {
	var out []Source
	plan := triage.LagPlan{Version: 1, Name: "doubles", Kinds: []triage.Kind{triage.KindReturn}, MinMS: 400, MaxMS: 400}
	text := strings.Repeat("    mail_test.go:18: sent 0 letters, want 1\n", 20)
	for i := 1; i <= 100; i++ {
		var leads []triage.Target
		for k := range 5 {
			leads = append(leads, goTest(fmt.Sprintf("p%02d", i), fmt.Sprintf("TestLead%d", k)))
		}
		r := shardReport(i, 100, 500, leads...)
		r.Plan.LagPlans = map[string]triage.LagPlan{plan.ID(): plan}
		for k, t := range slices.Clone(r.Trials) {
			for again := range 11 {
				t.Seq, t.DurationMS = len(r.Trials)+1, t.DurationMS+float64(k)+float64(again+1)/100
				t.Output = text
				r.Trials = append(r.Trials, t)
			}
		}
		for k := range 95 {
			e := triage.Evidence{Target: goTest(fmt.Sprintf("p%02d", i), fmt.Sprintf("TestOfTheSuite%02d", k)), DurationMS: 12.5}
			for _, lag := range []string{"", plan.ID()} {
				e.Tallies = append(e.Tallies, triage.Tally{Arm: triage.Arm{Scope: triage.InSuite, Lag: lag}, Pass: 3, Sequence: "..."})
			}
			r.Evidence = append(r.Evidence, e)
		}
		out = append(out, source(fmt.Sprintf("shard-%03d.json", i), encode(b, r)))
	}
	return out
}

func TestAHundredShardsMakeOneReport(t *testing.T) {
	r, err := Merge(hundred(t), report.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Evidence) != 10_000 || len(r.Trials) != 12_000 || len(r.Plan.Parts) != 100 {
		t.Errorf("%d tests, %d trials, %d parts", len(r.Evidence), len(r.Trials), len(r.Plan.Parts))
	}
	if _, err := report.Decode(strings.NewReader(string(encode(t, r)))); err != nil {
		t.Errorf("the joined report cannot be read again: %v", err)
	}
}

// BenchmarkMergeHundredShards reads, joins and writes; docs/scaling.md has its numbers.
func BenchmarkMergeHundredShards(b *testing.B) {
	in := hundred(b)
	size := 0
	for _, s := range in {
		f, _ := s.Open()
		text, _ := io.ReadAll(f)
		size += len(text)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Merge(in, report.Decode)
		if err != nil {
			b.Fatal(err)
		}
		if err := report.Encode(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}
