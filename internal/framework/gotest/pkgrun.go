package gotest

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxReds bounds the red tests kept of one package and of one report.
const maxReds = 10_000

// testRun is what is known of one test of a running package.
type testRun struct {
	name string
	seq  int
	// running is set between the test's start and its result.
	running bool
	// outcome is Unknown until a result was seen. Red wins over green when a
	// test has two, for example because it printed one of them itself.
	outcome triage.Outcome
	elapsed float64
	text    block
	// minIndent is what messages are indented by at least in this report.
	minIndent int
	// mute is set when the report may have left out what the test said.
	mute    bool
	failure *triage.Failure
	// inherited is set for a parent that is red only because a subtest is.
	inherited bool
}

// pkgRun is the model of one test process: all readers feed it, and it alone
// decides what failed and how.
type pkgRun struct {
	pkg string
	opt Options
	// keep keeps finished green tests; otherwise memory holds only the red and the running ones.
	keep  bool
	tests map[string]*testRun
	seq   int
	reds  int
	loose block
	races []raceReport
	race  *raceReport
	crash *crash
	// fails are the FAIL results since the last other event.
	fails []string
	ghost *testRun
	// lastLine is the last line the process printed that is not blank.
	lastLine []byte
	// exitLine is "exit status 3" or "signal: killed", when the go command printed it.
	exitLine string
	// passed and failed tell of the process's own last word, PASS or FAIL.
	passed, failed bool
	seed           int64
	spare          []*testRun
}

func newPkgRun(opt Options, keep bool) *pkgRun {
	return &pkgRun{pkg: opt.Package, opt: opt, keep: keep, tests: map[string]*testRun{}}
}

// clear makes the run ready for the next package and keeps its memory.
func (p *pkgRun) clear() {
	for _, t := range p.tests {
		p.recycle(t)
	}
	clear(p.tests)
	p.loose.reset()
	*p = pkgRun{opt: p.opt, pkg: p.opt.Package, keep: p.keep, tests: p.tests, loose: p.loose, spare: p.spare, lastLine: p.lastLine[:0]}
}

func (p *pkgRun) recycle(t *testRun) {
	if len(p.spare) < 16 && !p.keep {
		t.text.reset()
		p.spare = append(p.spare, t)
	}
}

// get finds a test or makes it.
func (p *pkgRun) get(name string) *testRun {
	if t := p.tests[name]; t != nil {
		return t
	}
	t := &testRun{}
	if n := len(p.spare); n > 0 {
		t = p.spare[n-1]
		p.spare = p.spare[:n-1]
	}
	*t = testRun{name: strings.Clone(name), seq: p.seq, text: t.text, minIndent: 4}
	p.seq++
	p.tests[t.name] = t
	return t
}

// start notes that a test began.
func (p *pkgRun) start(name string) {
	p.mark("", false)
	p.begin(name)
}

// begin is start without the bookkeeping of the order of lines.
func (p *pkgRun) begin(name string) {
	if t := p.get(name); !t.outcome.Red() {
		t.running = true
		t.outcome = triage.Unknown
	}
}

// result notes that a test ended.
func (p *pkgRun) result(name string, o triage.Outcome, seconds float64) {
	p.mark(name, o.Red())
	p.settle(name, o, seconds)
}

// settle is result without the bookkeeping of the order of lines.
func (p *pkgRun) settle(name string, o triage.Outcome, seconds float64) {
	t := p.get(name)
	t.running = false
	t.elapsed = seconds
	switch {
	case t.outcome.Red():
	case o.Red() || p.keep:
		if o.Red() {
			p.reds++
		}
		t.outcome = o
	default:
		delete(p.tests, name)
		p.recycle(t)
	}
	if p.reds > maxReds && !p.keep {
		delete(p.tests, name)
	}
}

// mark keeps track of what stands between results and a crash: a line that
// looks like a crash but is followed by a test's event was none.
func (p *pkgRun) mark(name string, red bool) {
	p.crash = nil
	if red {
		p.fails = append(p.fails, strings.Clone(name))
	} else {
		p.fails = p.fails[:0]
	}
	if g := p.ghost; g != nil && g.name != name {
		if !g.running && g.outcome == triage.Unknown && p.tests[g.name] == g {
			delete(p.tests, g.name)
			p.recycle(g)
		}
		p.ghost = nil
	}
}

// print adds a line of output. test is empty when it is not known whose it is.
func (p *pkgRun) print(test string, line []byte) {
	p.watch(test, line)
	if test == "" {
		p.loose.add(line)
		return
	}
	t := p.tests[test]
	if t == nil {
		t = p.get(test)
		p.ghost = t
	}
	t.text.add(line)
}

// watch looks for crashes and race reports in what is printed.
func (p *pkgRun) watch(test string, line []byte) {
	if len(line) > 0 && (line[0] != ' ' || len(bytes.TrimSpace(line)) > 0) {
		p.lastLine = append(p.lastLine[:0], line[:min(len(line), 512)]...)
	}
	switch {
	case p.race != nil:
		if len(p.race.text) < maxRace {
			p.race.text = append(append(p.race.text, line...), '\n')
		}
		if bytes.HasPrefix(line, []byte(raceRule)) {
			if len(p.races) < maxRaces {
				p.races = append(p.races, *p.race)
			}
			p.race = nil
		}
	case p.crash != nil:
		p.crash.add(line)
	case crashStart(line):
		p.crash = &crash{after: slices.Clone(p.fails), current: strings.Clone(test)}
		p.crash.add(line)
	case len(line) > 0 && line[0] == 'W' && bytes.HasPrefix(line, []byte(raceMark)):
		p.race = &raceReport{test: strings.Clone(test)}
	}
}

// distrust forgets the events so far.
func (p *pkgRun) distrust() {
	clear(p.tests)
	p.fails, p.ghost = p.fails[:0], nil
	p.passed, p.failed, p.reds = false, false, 0
}

// inOrder is the tests in the order they were first seen.
func (p *pkgRun) inOrder() []*testRun {
	out := make([]*testRun, 0, len(p.tests))
	for _, t := range p.tests {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *testRun) int { return cmp.Compare(a.seq, b.seq) })
	return out
}

// place is a file of a package as a report names it: relative to the root when
// the package's directory is known, else its base name.
func (p *pkgRun) place(pkg, file string) string {
	if p.opt.root != "" && filepath.IsAbs(file) {
		if rel, err := filepath.Rel(p.opt.root, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	file = file[strings.LastIndexAny(file, `/\`)+1:]
	if p.opt.PackageDir != nil && file != "" {
		if dir, ok := p.opt.PackageDir(strings.TrimSuffix(pkg, "_test")); ok && dir != "." {
			return dir + "/" + file
		}
	}
	return file
}

// target names a test of the package.
func (p *pkgRun) target(test string) triage.Target {
	return triage.Target{Suite: p.opt.suite(), Framework: Name, Package: p.pkg, Test: test}
}
