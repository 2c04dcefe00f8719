package gotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxPackages bounds the packages that run at once in one report.
const maxPackages = 4096

// ReadJSON finds the failed tests in the output of go test -json, also as
// gotestsum --jsonfile keeps it. Packages may be interleaved; lines that are
// no events (of the compiler, on stderr) are allowed between them.
//
// Failures are leaves only, each target once, in the order in which their
// packages ended. The error wraps [ErrEmpty], [ErrKind] (no line is an event)
// or [ErrTruncated]; with the last the failures found so far are returned.
func ReadJSON(r io.Reader, opt Options) ([]triage.Failure, error) {
	var out collector
	j := newJSONReader(opt, &out)
	lines := newLineReader(r)
	lines.keepLong = true
	cut := false
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out.list, err
		}
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		if len(line) > 0 && line[0] == '{' && j.line(line) == nil {
			continue
		}
		cut = len(line) > 0 && line[0] == '{'
		j.builds.line(line)
	}
	switch {
	case lines.n == 0:
		return nil, fmt.Errorf("reading go test -json: %w", ErrEmpty)
	case j.events == 0 && !cut:
		return nil, fmt.Errorf("reading go test -json: %w: no line is an event of test2json", ErrKind)
	}
	err := j.close()
	if err == nil && cut {
		err = fmt.Errorf("reading go test -json: %w: the last event is cut", ErrTruncated)
	}
	return out.done(err)
}

// event is one line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

type jsonReader struct {
	opt    Options
	out    *collector
	runs   map[string]*jsonRun
	order  []string
	builds buildLog
	events int
}

// jsonRun is one package's process.
type jsonRun struct {
	*pkgRun
	// part is output without a newline yet, of the test partOf.
	part   []byte
	partOf string
	// buildFailed and setupFailed are set when the go command said so.
	buildFailed, setupFailed bool
}

func newJSONReader(opt Options, out *collector) *jsonReader {
	return &jsonReader{opt: opt, out: out, runs: map[string]*jsonRun{}}
}

// line reads one event. The error is for a line that is none.
func (j *jsonReader) line(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("decoding event: %w", err)
	}
	if e.Action == "" {
		return errors.New("decoding event: no action")
	}
	j.events++
	switch e.Action {
	case "build-output":
		j.buildOutput(e)
		return nil
	case "build-fail":
		return nil
	}
	r := j.runs[e.Package]
	if r == nil {
		if len(j.runs) >= maxPackages {
			return nil
		}
		r = &jsonRun{pkgRun: newPkgRun(j.opt, false)}
		r.pkg = e.Package
		j.runs[e.Package] = r
		j.order = append(j.order, e.Package)
	}
	if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
		j.end(r, e)
		return nil
	}
	r.event(e)
	return nil
}

func (j *jsonReader) buildOutput(e event) {
	b := &j.builds
	if b.last != e.ImportPath || b.blocks == nil {
		b.header(e.ImportPath)
	}
	b.open = false
	for line := range bytes.SplitSeq([]byte(e.Output), []byte{'\n'}) {
		if len(line) > 0 && !bytes.HasPrefix(line, []byte("# ")) {
			b.add(e.ImportPath, line)
		}
	}
}

// end closes a package.
func (j *jsonReader) end(r *jsonRun, e event) {
	r.flush()
	switch {
	case e.FailedBuild != "":
		j.out.add(buildFailure(r.target(""), j.builds.blocks[e.FailedBuild], r.setupFailed))
	case r.buildFailed:
		j.out.add(buildFailure(r.target(""), j.builds.of(r.pkg), r.setupFailed))
	case e.Action == "fail":
		j.out.add(r.failures(true)...)
	}
	j.forget(e.Package)
}

func (j *jsonReader) forget(pkg string) {
	delete(j.runs, pkg)
	for i, p := range j.order {
		if p == pkg {
			j.order = append(j.order[:i], j.order[i+1:]...)
			return
		}
	}
}

// close ends the report: packages without an end were cut off.
func (j *jsonReader) close() error {
	if len(j.order) == 0 {
		return nil
	}
	for _, pkg := range j.order {
		r := j.runs[pkg]
		r.flush()
		if !r.crash.real() {
			for _, t := range r.inOrder() {
				t.running = false
			}
		}
		j.out.add(r.failures(r.crash.real())...)
	}
	return fmt.Errorf("reading go test -json: %w: %d packages have no result, the first is %q", ErrTruncated, len(j.order), j.order[0])
}

func (r *jsonRun) event(e event) {
	switch e.Action {
	case "run":
		r.flush()
		if isTestName(topTest(e.Test)) {
			r.begin(e.Test)
		}
	case "output":
		r.output(e)
	case "pass":
		r.settleEvent(e, triage.Pass)
	case "fail":
		r.settleEvent(e, triage.Fail)
	case "skip":
		r.settleEvent(e, triage.Skip)
	}
}

func (r *jsonRun) settleEvent(e event, o triage.Outcome) {
	r.flush()
	if isTestName(topTest(e.Test)) {
		r.settle(e.Test, o, e.Elapsed)
	}
}

// output joins the pieces of a line that test2json split.
func (r *jsonRun) output(e event) {
	if len(r.part) > 0 && r.partOf != e.Test {
		r.flush()
	}
	text := []byte(e.Output)
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		text = rest
		switch {
		case !whole:
			if len(r.part)+len(line) < maxLine {
				r.part = append(r.part, line...)
			}
			r.partOf = e.Test
		case len(r.part) > 0:
			r.part = append(r.part, line...)
			r.flush()
		default:
			r.line(e.Test, line)
		}
	}
}

func (r *jsonRun) flush() {
	if len(r.part) > 0 {
		part := r.part
		r.part = nil
		r.line(r.partOf, part)
		r.part = part[:0]
	}
}

// line takes one line of output. The lines that became events are only noted.
func (r *jsonRun) line(test string, line []byte) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if test == "" && r.packageLine(line) {
		return
	}
	if r.frameLine(line) {
		return
	}
	if test != "" && !isTestName(topTest(test)) {
		test = ""
	}
	r.print(test, line)
}

// frameLine notes a line that test2json turned into an event as well.
func (p *pkgRun) frameLine(line []byte) bool {
	if len(line) < 8 || line[0] != '=' && line[0] != '-' && line[0] != ' ' {
		return false
	}
	if verb, _, ok := parseUpdate(line); ok {
		if verb == "RUN" || verb == "CONT" {
			p.mark("", false)
		}
		return true
	}
	name, o, _, ok := parseResult(bytes.TrimLeft(line, " "))
	if !ok {
		return false
	}
	p.mark(string(name), o.Red())
	return true
}

// packageLine takes the lines of the go command and the process's last word.
func (r *jsonRun) packageLine(line []byte) bool {
	switch {
	case string(line) == "PASS":
		r.passed = true
		return true
	case string(line) == "FAIL":
		r.failed = true
		return true
	case bytes.HasPrefix(line, []byte("exit status ")), bytes.HasPrefix(line, []byte("signal: ")):
		r.exitLine = bound(string(line))
		return true
	case bytes.HasPrefix(line, []byte("-test.shuffle ")):
		r.seed = parseSeed(line)
		return true
	}
	_, v, ok := parseSummary(line)
	r.setupFailed = r.setupFailed || ok && v == summarySetup
	r.buildFailed = r.buildFailed || ok && v == summaryBuild || r.setupFailed
	return ok
}
