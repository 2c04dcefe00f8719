package nodelag_test

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/lag"
	"github.com/triagebot/triagebot/internal/lag/nodelag"
	"github.com/triagebot/triagebot/internal/triage"
)

var (
	measure = flag.Bool("measure", false, "measure the corpus; takes minutes (the table of docs/decisions/0007)")
	times   = flag.Int("times", 3, "runs of each cell when measuring")
	columns = flag.String("rungs", "plain,worker-10,worker-100,test-50,all-400", "measure these rungs")
	only    = flag.String("only", "", "measure only tests whose name contains this")
)

func wanted(t *testing.T) {
	if !*measure {
		t.Skip("a measurement: run with -args -measure")
	}
}

// TestMeasureRungs counts the reds of each rung on every test of the corpus.
func TestMeasureRungs(t *testing.T) {
	wanted(t)
	l := newLab(t)
	plans := append([]triage.LagPlan{{Name: "plain"}}, rungs(t)...)
	chosen := strings.Split(*columns, ",")
	plans = slices.DeleteFunc(plans, func(p triage.LagPlan) bool { return !slices.Contains(chosen, p.Name) })
	tests := slices.Clone(correct)
	for _, c := range racy {
		tests = append(tests, [2]string{c.file, c.test})
	}
	for _, c := range append(tests, honest...) {
		if !strings.Contains(c[0], *only) {
			continue
		}
		var cells []string
		for _, p := range plans {
			reds := 0
			for range *times {
				plan := &p
				if p.Name == "plain" {
					plan = nil
				}
				if l.run(target(c[0], c[1]), plan).Outcome.Red() {
					reds++
				}
			}
			cells = append(cells, fmt.Sprintf("%s %d/%d", p.Name, reds, *times))
		}
		fmt.Printf("%s: %s\n", c[0], strings.Join(cells, ", "))
	}
}

// TestMeasureCauses climbs the ladder and names the cause of each red.
func TestMeasureCauses(t *testing.T) {
	wanted(t)
	l := newLab(t)
	right, total, quick := 0, 0, 0
	for _, c := range racy {
		if !strings.Contains(c.file, *only) {
			continue
		}
		total++
		cause, plan, runs, probes := l.explain(target(c.file, c.test), rungs(t))
		if runs <= 3 {
			quick++
		}
		ok := cause != nil && len(cause.Sites) > 0 && slices.Contains(c.kinds, cause.Kind) && slices.ContainsFunc(cause.Sites[:1], func(s triage.Site) bool { return slices.Contains(c.funcs, s.Func) })
		if ok {
			right++
		}
		fmt.Printf("%s: rung %s after %d runs, %d probes, right %v: %s\n", c.test, plan.Name, runs, probes, ok, tell(cause))
	}
	fmt.Printf("racy: %d of %d named right, %d within 3 runs\n", right, total, quick)
	for _, c := range honest {
		if test := c[1]; strings.Contains(c[0], *only) {
			cause, plan, runs, probes := l.explain(target(c[0], test), rungs(t))
			fmt.Printf("%s: rung %s after %d runs, %d probes: %s\n", test, plan.Name, runs, probes, tell(cause))
			if cause != nil && (cause.Kind == triage.CauseRace || cause.Kind == triage.CauseFixedSleep) {
				t.Errorf("the honest deadline %s is called a %s", test, cause.Kind)
			}
		}
	}
}

func tell(c *triage.Cause) string {
	if c == nil {
		return "not revealed"
	}
	var sites []string
	for _, s := range c.Sites {
		sites = append(sites, s.ID)
	}
	return fmt.Sprintf("%s %v, dose %.4g ms, %d/%d, %s; %s", c.Kind, sites, c.DoseMS, c.Red, c.Runs, c.Advice, c.Note)
}

// explain names the cause of a test, as the product does it: from the rungs in
// turn until one is conclusive.
func (l *lab) explain(t triage.Target, plans []triage.LagPlan) (cause *triage.Cause, plan triage.LagPlan, runs, probes int) {
	for len(plans) > 0 {
		p, red, n := l.reveal(t, plans)
		runs += n
		if !red.Outcome.Red() {
			break
		}
		res := l.search(t, p, red)
		probes += res.Trials
		if cause == nil || res.Conclusive() {
			cause, plan = res.Cause, p
		}
		i := slices.IndexFunc(plans, func(q triage.LagPlan) bool { return q.Name == p.Name })
		if res.Conclusive() || i < 0 {
			break
		}
		plans = plans[i+1:]
	}
	return cause, plan, runs, probes
}

func (l *lab) search(t triage.Target, p triage.LagPlan, red triage.Trial) lag.Result {
	sites := map[string]triage.Site{}
	learn := func(tr triage.Trial) {
		for _, d := range tr.Decisions {
			sites[d.Site] = l.sites[d.Site]
		}
		for _, id := range tr.Stretched {
			sites[id] = l.sites[id]
		}
		maps.DeleteFunc(sites, func(_ string, s triage.Site) bool { return s.ID == "" })
	}
	learn(red)
	res, err := lag.Explain(lag.Input{
		Plan: p, Red: red, Reference: red.Failure.Signature, Sites: sites, Control: lag.Control{Runs: 5},
	}, func(p triage.LagPlan) (triage.Trial, error) {
		tr := l.run(t, &p)
		learn(tr)
		return tr, nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return res
}

// TestMeasureOverhead prints what one await costs without the runtime, with it
// off, and with it on where nothing is delayed; and what a process start costs.
func TestMeasureOverhead(t *testing.T) {
	wanted(t)
	tree, err := filepath.Abs(filepath.Join("testdata", "bench"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, err := nodelag.Engine{}.Instrument(t.Context(), start, tree, "", "", filepath.Join(dir, "lag"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lag.WritePlan(filepath.Join(dir, "plan"), *rung(t, "worker-10")); err != nil {
		t.Fatal(err)
	}
	off := []string{"NODE_OPTIONS=--require " + filepath.Join(in.Overlay(), nodelag.Preload), nodelag.EnvTree + "=" + tree}
	on := append(slices.Clone(off), lag.EnvPlan+"="+filepath.Join(dir, "plan"), lag.EnvLog+"="+filepath.Join(dir, "log"))
	for range *times {
		for _, c := range []struct {
			name string
			env  []string
		}{{"without", nil}, {"off", off}, {"on", on}} {
			out, _, err := start(t.Context(), triage.Command{Dir: tree, Argv: []string{"node", "awaits.cjs"}, Env: c.env})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if _, _, err := start(t.Context(), triage.Command{Dir: tree, Argv: []string{"node", "-e", "0"}, Env: c.env}); err != nil {
				t.Fatal(err)
			}
			fmt.Printf("%s: %s ns an await, %d ms a start\n", c.name, strings.TrimSpace(string(out)), time.Since(began).Milliseconds())
		}
	}
}
