package gotest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// exitMessage is the signature's message of a process that ended before its
// tests did. It has no exit code: the go command does not print it when the
// tests printed anything, so a CI log often lacks it.
const exitMessage = "process ended early"

// explain gives every red test its failure once the process has ended. command
// is set when the process failed in a way that belongs to no test.
func (p *pkgRun) explain(failed bool) (command *triage.Failure) {
	if p.race != nil && len(p.races) < maxRaces { // cut off in the middle
		p.races = append(p.races, *p.race)
	}
	if failed && p.crash.real() {
		command = p.explainCrash()
	} else if failed {
		p.explainExit()
	}
	tests := p.inOrder()
	red := command != nil
	for _, t := range tests {
		if t.outcome.Red() && t.failure == nil {
			t.failure = p.explainTest(t)
		}
		red = red || t.outcome.Red()
	}
	p.inherit(tests)
	if failed && !red {
		command = p.explainCommand()
	}
	if command != nil {
		command.Target = p.target("")
		command.Seed = p.seed
	}
	return command
}

// explainCrash gives the crash to the tests it belongs to, and returns it when
// there is none.
func (p *pkgRun) explainCrash() *triage.Failure {
	f := p.crash.failure(p.packageName())
	if f.Location.File != "" {
		f.Location.File = p.place(p.frameBase(), f.Location.File)
	}
	owners := p.crashOwners()
	for _, name := range owners {
		t := p.get(name)
		own := f
		if f.Outcome == triage.Timeout {
			own.Signature.Func = topTest(name)
			own.Location = p.blockedAt(name)
		}
		p.attach(t, own)
	}
	if len(owners) > 0 {
		return nil
	}
	return &f
}

// blockedAt is where the goroutine of a test stood when the alarm went off.
func (p *pkgRun) blockedAt(test string) triage.Location {
	frames := p.crash.stackOf(topTest(test))
	if u, ok := userFrame(frames, p.packageName()); ok {
		return triage.Location{File: p.place(packageOf(u.fn), u.file), Line: u.line, Func: shortFunc(u.fn)}
	}
	return triage.Location{}
}

func (p *pkgRun) frameBase() string {
	if u, ok := userFrame(p.crash.stack(), p.pkg); ok {
		return packageOf(u.fn)
	}
	return p.pkg
}

// packageName is the package when it is known, else what the stack tells.
func (p *pkgRun) packageName() string {
	if p.pkg == "" && p.crash != nil {
		pkg, _ := testFunc(p.crash.stack())
		return pkg
	}
	return p.pkg
}

// crashOwners are the tests that a crash belongs to: those a timeout lists; the
// one that the testing package reported before it panicked again; the running
// ones whose function is in the stack; all running ones.
func (p *pkgRun) crashOwners() []string {
	c := p.crash
	if c.timedOut() {
		if names := c.runningTests(); len(names) > 0 {
			return names
		}
	}
	if strings.Contains(c.first(), " [recovered") {
		if name := p.repanicked(); name != "" {
			return []string{name}
		}
	}
	running := p.running()
	_, top := testFunc(c.stack())
	if top == "" {
		return running
	}
	var own []string
	for _, name := range running {
		if topTest(name) == top {
			own = append(own, name)
		}
	}
	if len(own) > 0 {
		return own
	}
	if len(running) == 0 && !c.timedOut() {
		return []string{top}
	}
	return running
}

// repanicked is the leaf test that the testing package reported as failed
// before it let the panic go on.
func (p *pkgRun) repanicked() string {
	_, top := testFunc(p.crash.stack())
	if n := len(p.crash.after); n > 0 {
		top = topTest(p.crash.after[n-1])
		var group []string
		for _, name := range p.crash.after {
			if topTest(name) == top {
				group = append(group, name)
			}
		}
		if names := leaves(group); len(names) > 0 && names[len(names)-1] != top {
			return names[len(names)-1]
		}
	}
	var reds []string
	for _, t := range p.inOrder() {
		if t.outcome.Red() && topTest(t.name) == top {
			reds = append(reds, t.name)
		}
	}
	if names := leaves(reds); len(names) > 0 {
		return names[len(names)-1]
	}
	return ""
}

// running is the tests that began and did not end, leaves only.
func (p *pkgRun) running() []string {
	var names []string
	for _, t := range p.inOrder() {
		if t.running {
			names = append(names, t.name)
		}
	}
	return leaves(names)
}

// explainExit handles a process that ended without a crash while tests ran.
func (p *pkgRun) explainExit() {
	if p.passed || p.failed {
		return // its last word comes after its last test: a result line was missed
	}
	for _, name := range p.running() {
		p.attach(p.get(name), p.exitFailure(p.get(name).text.bytes()))
	}
}

func (p *pkgRun) exitFailure(text []byte) triage.Failure {
	f := triage.Failure{Outcome: triage.Error, Message: exitMessage, Excerpt: excerpt(text)}
	f.Signature = triage.Signature{Phase: triage.PhaseExit, Message: exitMessage}
	if fatal, ok := logLine(p.lastLine); ok {
		f.Message = fatal
		f.Signature.Message = Normalise(fatal)
	}
	if p.exitLine != "" {
		f.Message += " (" + p.exitLine + ")"
	}
	return f
}

// logLine is the message of a line in the format of package log: what log.Fatal
// leaves as the last line of a process.
func logLine(line []byte) (string, bool) {
	const stamp = "2006/01/02 15:04:05 "
	if len(line) <= len(stamp) {
		return "", false
	}
	for i := range len(stamp) {
		c := line[i]
		if digit := stamp[i] >= '0' && stamp[i] <= '9'; digit && (c < '0' || c > '9') || !digit && c != stamp[i] {
			return "", false
		}
	}
	return strings.ToValidUTF8(string(line[len(stamp):]), "\uFFFD"), true
}

// attach gives a failure to a test and makes it red.
func (p *pkgRun) attach(t *testRun, f triage.Failure) {
	f.Target = p.target(t.name)
	f.Seed = p.seed
	t.running = false
	t.outcome = f.Outcome
	t.failure = &f
}

// explainTest describes a test that was reported red.
func (p *pkgRun) explainTest(t *testRun) *triage.Failure {
	text := t.text.bytes()
	if bytes.Contains(text, []byte(raceFailed)) {
		if r, ok := raceOf(p.races, p.pkg, t.name); ok {
			f := r.failure(p.pkg)
			f.Location.File = p.place(packageOfRace(r, p.pkg), f.Location.File)
			p.attach(t, f)
			return t.failure
		}
	}
	f := triage.Failure{Target: p.target(t.name), Outcome: triage.Fail, Seed: p.seed, Excerpt: excerpt(text)}
	f.Signature = triage.Signature{Phase: triage.PhaseTest, Func: topTest(t.name)}
	if strings.HasPrefix(t.name, "Example") {
		f.Message = exampleMessage(text)
	} else if m, ok := chooseMessage(t.messages(text)); ok {
		f.Message = bound(m.plain())
		f.Location = triage.Location{File: p.place(p.pkg, m.file), Line: m.line, Func: topTest(t.name)}
	}
	f.Signature.Message = Normalise(f.Message)
	if t.mute && f.Message == "" {
		f.Signature = triage.Signature{}
	}
	return &f
}

// messages finds a test's messages. A report that drops lines shows by a message
// without text that what follows it is lost: then none can be trusted.
func (t *testRun) messages(text []byte) []message {
	ms := findMessages(text, t.minIndent)
	if t.mute && slices.ContainsFunc(ms, func(m message) bool { return strings.TrimSpace(m.text) == "" }) {
		return nil
	}
	return ms
}

func packageOfRace(r raceReport, pkg string) string {
	for _, frames := range r.accesses() {
		if u, ok := userFrame(frames, pkg); ok {
			return packageOf(u.fn)
		}
	}
	return pkg
}

// exampleMessage is what an example printed against what its comment wants.
func exampleMessage(text []byte) string {
	i := bytes.Index(text, []byte("got:\n"))
	if i < 0 {
		return ""
	}
	return bound(strings.TrimSpace(string(text[i:])))
}

// inherit finds the parents that are red only through their subtests and lends
// them the failure of their first red leaf.
func (p *pkgRun) inherit(tests []*testRun) {
	for _, t := range tests {
		if t.outcome != triage.Fail || t.failure == nil {
			continue
		}
		m, ok := chooseMessage(t.messages(t.text.bytes()))
		if ok && m.rank >= rankTesting {
			continue
		}
		if leaf := firstRedLeaf(tests, t.name); leaf != nil {
			f := *leaf.failure
			f.Target = p.target(t.name)
			t.failure, t.inherited, t.outcome = &f, true, f.Outcome
		}
	}
}

func firstRedLeaf(tests []*testRun, parent string) *testRun {
	for _, t := range tests {
		if t.failure == nil || !strings.HasPrefix(t.name, parent+"/") {
			continue
		}
		if leaf := firstRedLeaf(tests, t.name); leaf != nil {
			return leaf
		}
		return t
	}
	return nil
}

// explainCommand describes a process that failed though no test did.
func (p *pkgRun) explainCommand() *triage.Failure {
	if r, ok := raceOf(p.races, p.pkg, ""); ok {
		f := r.failure(p.pkg)
		f.Location.File = p.place(packageOfRace(r, p.pkg), f.Location.File)
		return &f
	}
	f := p.exitFailure(p.loose.bytes())
	if p.loose.empty() && p.exitLine == "" && !p.passed {
		f.Message = "failed without a word"
		f.Signature = triage.Signature{}
	}
	return &f
}

// failures are the reds of the process, leaves only, in the order of the run.
func (p *pkgRun) failures(failed bool) []triage.Failure {
	command := p.explain(failed)
	var out []triage.Failure
	for _, t := range p.inOrder() {
		if t.outcome.Red() && t.failure != nil && !t.inherited {
			out = append(out, *t.failure)
		}
	}
	if command != nil {
		out = append(out, *command)
	}
	return out
}

// topTest is the test function of a subtest.
func topTest(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

// bound limits a message that is shown to people.
func bound(s string) string {
	const limit = 2 << 10
	return truncate(strings.ToValidUTF8(s, "\uFFFD"), limit)
}
