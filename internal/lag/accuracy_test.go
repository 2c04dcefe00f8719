package lag

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	programs = flag.Int("lag.programs", 120, "planted programs a family in the accuracy test")
	table    = flag.Bool("lag.table", false, "print the accuracy test's table in Markdown")
)

// score counts the grades of a family.
type score struct {
	grades   [4]int
	revealed int
	trials   int
	most     int
}

func (s score) share(g grade) float64 { return float64(s.grades[g]) / float64(max(1, s.revealed)) }

func scoreFamily(t *testing.T, family, n int, spoil func(*program)) score {
	var sc score
	for i := range n {
		p := planted(family, uint64(i))
		if spoil != nil {
			spoil(p)
		}
		plan, first, ok := reveal(p)
		if !ok {
			continue
		}
		sc.revealed++
		in := Input{Plan: plan, Red: first, Reference: wanted, Sites: p.siteMap(), Control: plainly(p, 6)}
		res, err := Explain(in, p.run)
		if err != nil {
			t.Fatalf("%s %d: %v", p.family, i, err)
		}
		g := judge(p, res.Cause)
		if testing.Verbose() && g != right {
			t.Logf("%s #%d %s: grade %d kind %s sites %v any %v dose %g trials %d note %q", p.family, i, plan.Name, g, res.Cause.Kind, ids(res), res.Cause.AnyOf, res.Cause.DoseMS, res.Trials, res.Cause.Note)
		}
		sc.grades[g]++
		sc.trials += res.Trials
		sc.most = max(sc.most, res.Trials)
	}
	return sc
}

// plainly is what the plain arm of a check knows by then.
func plainly(p *program, n int) Control {
	c := Control{Runs: n}
	for range n {
		if t, _ := p.run(triage.LagPlan{}); t.SameFailure(wanted) {
			c.Red++
		}
	}
	return c
}

func ids(r Result) []string {
	var out []string
	for _, s := range r.Cause.Sites {
		out = append(out, s.ID)
	}
	return out
}

func TestPlantedCausesAreNamed(t *testing.T) {
	var b strings.Builder
	b.WriteString("| planted truth | programs | revealed | right | right sites, other kind | wrong site | unstable | probes, mean | most |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, noise := range []struct {
		name  string
		spoil func(*program)
	}{
		{"", nil},
		{", sites passed unevenly", func(p *program) { p.uneven = 0.15 }},
		{", red 5–40 % without lag", func(p *program) { p.flaky = between(p.rng, 0.05, 0.4) }},
		{", red in 70–97 % under lag", func(p *program) { p.soft = 0.7 + 0.27*p.rng.Float64() }},
	} {
		var all score
		for f := range families {
			sc := scoreFamily(t, f, *programs, noise.spoil)
			row(&b, families[f].name+noise.name, *programs, sc)
			for g := range sc.grades {
				all.grades[g] += sc.grades[g]
			}
			all.revealed += sc.revealed
			all.trials += sc.trials
			all.most = max(all.most, sc.most)
		}
		row(&b, "**all**"+noise.name, *programs*len(families), all)
		if noise.spoil == nil && (all.share(right) < 0.9 || all.grades[wrongSite] > 0) {
			t.Errorf("quiet programs: %.1f %% named right, want 90; %d wrong sites, want none", 100*all.share(right), all.grades[wrongSite])
		}
		if all.share(wrongSite) > 0.01 {
			t.Errorf("programs%s: %.2f %% named a wrong site, want at most 1", noise.name, 100*all.share(wrongSite))
		}
		if all.most > DefaultTrials {
			t.Errorf("programs%s: a search took %d probes", noise.name, all.most)
		}
	}
	if *table {
		fmt.Fprint(os.Stdout, b.String())
	}
}

func row(b *strings.Builder, name string, n int, s score) {
	fmt.Fprintf(b, "| %s | %d | %d | %.1f %% | %.1f %% | %.2f %% | %.1f %% | %.1f | %d |\n", name, n, s.revealed,
		100*s.share(right), 100*s.share(wrongKind), 100*s.share(wrongSite), 100*s.share(unstable),
		float64(s.trials)/float64(max(1, s.revealed)), s.most)
}
