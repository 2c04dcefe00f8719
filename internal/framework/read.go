package framework

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/jstest"
	"github.com/triagebot/triagebot/internal/framework/mocha"
	"github.com/triagebot/triagebot/internal/framework/nodetest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
	"github.com/triagebot/triagebot/internal/triage"
)

// Reading is what reports are read with.
type Reading struct {
	// Suites are the suites that the reports may be of, the likeliest first. A
	// report that does not show its framework is of the first that can write
	// its kind.
	Suites []Suite
	// Go is what the readers of Go need beside that; its Suite is not used.
	Go gotest.Options
	// Root is the absolute root of the checkout, and Exists tells whether a file
	// is in it, given its path with forward slashes; both may be left out.
	Root   string
	Exists func(file string) bool
	// Holds tells whether a file of the checkout has a text, as a test's name; it
	// may be left out.
	Holds func(file, text string) bool
	// At is the directory that the report lies in, with forward slashes, relative to
	// Root where it is below that; empty when it says nothing.
	At string
	// Doubt is told what a report leaves open; it may be left out.
	Doubt func(string)
}

// writes are the kinds of report whose writer may not show and that a framework
// writes. TAP of vitest and mocha always shows it.
var writes = map[string][]Kind{
	gotest.Name: {TestJSON, JUnit}, pytest.Name: {ReportLog, JUnit}, vitest.Name: {ScriptJSON, JUnit},
	jest.Name: {ScriptJSON, JUnit}, mocha.Name: {ScriptJSON, JUnit}, nodetest.Name: {TAP, JUnit},
}

// ReadReport finds the failed tests in a report of any kind that is known. A
// kind of text is read as [ReadLog] does.
func ReadReport(r io.Reader, in Reading) (Kind, []triage.Failure, error) {
	k, by, r, err := Sniff(r)
	if err != nil {
		return k, nil, err
	}
	if k == Log {
		fs, err := ReadLog(r, in)
		return k, fs, err
	}
	fs, err := in.read(r, k, in.suite(k, by))
	return k, fs, err
}

// ReadLog finds the failed tests in a log. What one framework's reader finds
// nothing in is given to the next: the log of a job may be of several suites, so
// all of them are asked.
func ReadLog(r io.Reader, in Reading) ([]triage.Failure, error) {
	suites := in.distinct()
	if len(suites) == 0 {
		suites = []Suite{{Name: "go", Framework: gotest.Name}}
	}
	if len(suites) == 1 {
		return in.read(r, Log, suites[0])
	}
	return in.readShared(r, suites)
}

// readShared gives one stream to several readers at once.
func (in Reading) readShared(r io.Reader, suites []Suite) ([]triage.Failure, error) {
	type answer struct {
		fs  []triage.Failure
		err error
	}
	answers := make([]chan answer, len(suites))
	writers := make([]io.Writer, len(suites))
	closers := make([]*io.PipeWriter, len(suites))
	for i, s := range suites {
		pr, pw := io.Pipe()
		writers[i], closers[i], answers[i] = pw, pw, make(chan answer, 1)
		go func() {
			fs, err := in.read(pr, Log, s)
			_, _ = io.Copy(io.Discard, pr) // one reader that is done must not hold up the others
			answers[i] <- answer{fs, err}
		}()
	}
	_, copyErr := io.Copy(io.MultiWriter(writers...), r)
	for _, c := range closers {
		c.CloseWithError(copyErr)
	}
	var all []triage.Failure
	var first error
	for _, a := range answers {
		got := <-a
		all = append(all, got.fs...)
		if first == nil {
			first = got.err
		}
	}
	if len(all) > 0 && !IsTruncated(first) && copyErr == nil {
		first = nil // it is the log of another of the suites
	}
	return all, first
}

// distinct are the suites without a second one of a framework.
func (in Reading) distinct() []Suite {
	var out []Suite
	for _, s := range in.Suites {
		if !slices.ContainsFunc(out, func(o Suite) bool { return o.Framework == s.Framework }) {
			out = append(out, s)
		}
	}
	return out
}

// suite is the one that a report is of.
func (in Reading) suite(k Kind, by string) Suite {
	for _, s := range in.Suites {
		if by == s.Framework || by == "" && slices.Contains(writes[s.Framework], k) {
			return s
		}
	}
	switch {
	case by != "":
		return Suite{Name: short(by), Framework: by}
	case k == TAP:
		return Suite{Name: nodetest.Name, Framework: nodetest.Name}
	case k == ScriptJSON:
		return Suite{Name: vitest.Name, Framework: vitest.Name}
	}
	return Suite{Name: "go", Framework: gotest.Name}
}

// short is the name of a framework's suite where none is known.
func short(framework string) string {
	for _, r := range rows {
		if r.framework == framework {
			return r.short
		}
	}
	return framework
}

// read reads a report of one kind of one suite.
func (in Reading) read(r io.Reader, k Kind, s Suite) ([]triage.Failure, error) {
	if s.Framework == gotest.Name {
		return in.readGo(r, k, s)
	}
	if of := in.of(s.Framework); len(of) > 1 && in.Exists != nil {
		return in.readSeveral(r, k, s, of)
	}
	fs, err := in.readOne(r, k, s)
	for i := range fs {
		in.place(&fs[i], s)
	}
	return fs, err
}

// readOne reads a report whose relative paths are those of one suite.
func (in Reading) readOne(r io.Reader, k Kind, s Suite) ([]triage.Failure, error) {
	if s.Framework == pytest.Name {
		return in.readPython(r, k, s)
	}
	return in.readScript(r, k, s)
}

// place finds the suite of a failure among those of one framework, which differ
// by their directories: its file tells. The report's paths may be relative to
// the suite's directory, of which the reader was told the first suite's. Of two
// suites that a file lies in, the deeper one is its own.
func (in Reading) place(f *triage.Failure, read Suite) {
	if in.Exists == nil || f.Target.Package == "" {
		return
	}
	bare := strings.TrimPrefix(f.Target.Package, below(read.Dir)+"/")
	suites := slices.Clone(in.Suites)
	slices.SortStableFunc(suites, func(a, b Suite) int { return len(below(b.Dir)) - len(below(a.Dir)) })
	for _, s := range suites {
		if s.Framework != read.Framework {
			continue
		}
		if file := path.Join(s.Dir, bare); in.Exists(file) && !in.Exists(f.Target.Package) {
			f.Target.Package = file
		}
		if s.Dir == "." || strings.HasPrefix(f.Target.Package, s.Dir+"/") {
			f.Target.Suite = s.Name
			if in.Exists(f.Target.Package) {
				return
			}
		}
	}
}

func (in Reading) readGo(r io.Reader, k Kind, s Suite) ([]triage.Failure, error) {
	opt := in.Go
	opt.Suite = s.Name
	switch k {
	case TestJSON:
		return gotest.ReadJSON(r, opt)
	case JUnit:
		return gotest.ReadJUnit(r, opt)
	}
	return gotest.ReadLog(r, opt)
}

func (in Reading) readPython(r io.Reader, k Kind, s Suite) ([]triage.Failure, error) {
	opt := pytest.Options{Suite: s.Name, Dir: below(s.Dir), Exists: in.Exists}
	switch k {
	case ReportLog:
		return pytest.ReadReportLog(r, opt)
	case JUnit:
		return pytest.ReadJUnit(r, opt)
	}
	return pytest.ReadLog(r, opt)
}

// scripts are the readers of the frameworks of JavaScript; nil is for what a
// framework does not write by itself.
var scripts = map[string]struct {
	json, tap, junit, log func(io.Reader, jstest.Options) ([]triage.Failure, error)
}{
	vitest.Name:   {vitest.ReadJSON, vitest.ReadTAP, vitest.ReadJUnit, vitest.ReadLog},
	jest.Name:     {jest.ReadJSON, nil, jest.ReadJUnit, jest.ReadLog},
	mocha.Name:    {mocha.ReadJSON, mocha.ReadTAP, mocha.ReadJUnit, mocha.ReadLog},
	nodetest.Name: {nil, nodetest.ReadTAP, nodetest.ReadJUnit, nodetest.ReadLog},
}

func (in Reading) readScript(r io.Reader, k Kind, s Suite) ([]triage.Failure, error) {
	readers := scripts[s.Framework]
	read := readers.log
	switch k {
	case ScriptJSON:
		read = readers.json
	case TAP:
		read = readers.tap
	case JUnit:
		read = readers.junit
	}
	if read == nil {
		return nil, fmt.Errorf("reading %s of %s: there is no reader for it: give a JUnit XML report", k, s.Framework)
	}
	return read(r, jstest.Options{Suite: s.Name, Dir: below(s.Dir), Root: in.Root, Exists: in.Exists})
}

// below is a suite's directory as the adapters have it: empty for the root.
func below(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

// IsTruncated reports whether a report ended too early.
func IsTruncated(err error) bool {
	return errors.Is(err, gotest.ErrTruncated) || errors.Is(err, pytest.ErrTruncated) || errors.Is(err, jstest.ErrTruncated)
}

// IsEmpty reports whether a report had nothing in it.
func IsEmpty(err error) bool {
	return errors.Is(err, gotest.ErrEmpty) || errors.Is(err, pytest.ErrEmpty) || errors.Is(err, jstest.ErrEmpty)
}
