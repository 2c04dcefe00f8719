package bench

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/lag"
)

var (
	table  = flag.Bool("bench-table", false, "measure everything and print the pages")
	write  = flag.Bool("bench-write", false, "write the pages too")
	rounds = flag.Int("bench-rounds", 0, "rounds of everything that is measured on each test; 0 is 3 for Go and 1 for Python and Node")
	parts  = flag.String("bench-parts", allParts, "what is measured; all of it for a page")
	match  = flag.String("bench-match", "", "a regular expression on the tests of the corpora; all of them for a page")
)

const (
	page     = "../../docs/benchmarks.md"
	goRounds = 3
	allParts = "reveal,false,causes,cost,check"
)

func roundsOr(n int) int {
	if *rounds > 0 {
		return *rounds
	}
	return n
}

// refuseParts ends a run that is to write a page and would not measure the whole of it.
func refuseParts(t testing.TB) {
	t.Helper()
	if _, err := regexp.Compile(*match); err != nil {
		t.Fatalf("reading -bench-match: %v", err)
	}
	if *write && (*parts != allParts || *match != "") {
		t.Fatal("a page is written of a whole run only: leave out -bench-parts and -bench-match, or -bench-write")
	}
}

// chosen are those whose names -bench-match matches.
func chosen[T any](all []T, name func(T) string) []T {
	re := regexp.MustCompile(*match)
	return slices.DeleteFunc(slices.Clone(all), func(c T) bool { return !re.MatchString(name(c)) })
}

// writePage replaces a page at once, so that an interrupt leaves the old one.
func writePage(t testing.TB, path, text string) {
	t.Helper()
	if !*write {
		return
	}
	err := os.WriteFile(path+".new", []byte(text), 0o644)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	say("written: " + path)
}

// results are everything that one run measured.
type results struct {
	began, ended time.Time
	load         [2]string
	machine      string
	// bin is the triagebot binary.
	bin    string
	rounds int
	rungs  int
	rows   []row
	// correctRuns lagged runs of correct tests had these reds.
	correctTests, correctRuns int
	correctReds               []string
	// honestReds under lag were asked for a cause; calledRace are those called a race.
	honestRuns, honestReds int
	calledRace             []string
	honestSaid             map[string]int
	causes                 []explained
	pairs                  []pair
	builds                 []namedBuilds
	checks                 []checks
}

type namedBuilds struct {
	pkg string
	builds
}

// TestBench measures the Go promises of the design, all in one run.
func TestBench(t *testing.T) {
	if !*table {
		t.Skip("run with -bench-table to measure")
	}
	refuseParts(t)
	r := results{began: time.Now(), machine: machine(), rounds: roundsOr(goRounds), honestSaid: map[string]int{}}
	r.load[0] = load()
	r.bin = buildTriagebot(t)
	l := newLab(t)
	r.rungs = len(l.ladder)
	for _, m := range []struct {
		part string
		do   func(testing.TB, *lab)
	}{
		{"reveal", r.measureReveal}, {"false", r.measureFalse}, {"causes", r.measureCauses}, {"cost", r.measureCost}, {"check", r.measureChecks},
	} {
		if wants(m.part) {
			m.do(t, l)
		}
	}
	r.ended, r.load[1] = time.Now(), load()
	text := r.page()
	fmt.Println(text)
	writePage(t, page, text)
}

func racyTest(c corpusTest) bool { return c.is(racy) }

// measureReveal interleaves test by test, so that a change of the machine's load
// meets all ways of looking alike.
func (r *results) measureReveal(t testing.TB, l *lab) {
	bins := map[string]string{}
	for range r.rounds {
		for _, c := range only(chosen(corpus(t), corpusTest.String), racyTest) {
			if bins[c.pkg] == "" {
				bins[c.pkg] = bareBuild(t, c)
			}
			w := l.reveal(t, c, bins[c.pkg])
			r.rows = append(r.rows, w)
			say(fmt.Sprintf("%s: red %v after %d lagged runs", c, w.ladder.red, w.ladder.runs))
		}
	}
}

func (r *results) measureFalse(t testing.TB, l *lab) {
	ok := only(chosen(corpus(t), corpusTest.String), func(c corpusTest) bool { return c.is(correct) })
	r.correctTests = len(ok)
	for range r.rounds {
		for _, c := range ok {
			reds, runs := l.falseReds(t, c)
			r.correctRuns += runs
			for _, h := range reds {
				r.correctReds = append(r.correctReds, fmt.Sprintf("%s under %s: %s", c, h.plan.Name, h.red.Failure.Message))
			}
		}
		for _, c := range only(chosen(corpus(t), corpusTest.String), func(c corpusTest) bool { return c.is(honest) }) {
			reds, runs := l.falseReds(t, c)
			r.honestRuns += runs
			for _, h := range reds {
				r.honestReds++
				cause := l.explain(t, c, h, lag.Control{Runs: controls}).Cause
				r.honestSaid[string(cause.Kind)]++
				if calledRace(cause) {
					r.calledRace = append(r.calledRace, fmt.Sprintf("%s under %s: %s %v %s", c, h.plan.Name, cause.Kind, cause.Sites, cause.Note))
				}
			}
		}
		say("correct and honest tests run")
	}
}

func (r *results) measureCauses(t testing.TB, l *lab) {
	rows := truths(t)
	for range r.rounds {
		for _, c := range only(chosen(corpus(t), corpusTest.String), racyTest) {
			began := time.Now()
			e := l.nameCause(t, c, rows[c.String()])
			e.wallMS = ms(time.Since(began))
			r.causes = append(r.causes, e)
			say(e.String())
		}
	}
}

func (r *results) measureCost(t testing.TB, l *lab) {
	for _, name := range []string{"dispatch.OkJoin", "sleepy.OkNegative", "hot.OkHot"} {
		c := pick(t, name)[0]
		r.pairs = append(r.pairs, l.cost(t, c, bareBuild(t, c)))
	}
	for _, name := range []string{"dispatch.OkJoin", "notify.OkDelivered"} {
		c := pick(t, name)[0]
		r.builds = append(r.builds, namedBuilds{c.pkg, timeBuilds(t, c, 5)})
	}
	say("cost measured")
}

func (r *results) measureChecks(t testing.TB, _ *lab) {
	for _, name := range oneRed {
		c := timeChecks(t, r.bin, name, r.rounds)
		r.checks = append(r.checks, c)
		say(fmt.Sprintf("%s: %s in %.1f s", name, c.said, median(c.each(func(c check) float64 { return c.wall.Seconds() }))))
	}
}

// say shows that the benchmark is alive.
func say(what string) { fmt.Fprintln(os.Stderr, time.Now().Format(time.TimeOnly), what) }
