package gotest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/triagebot/triagebot/internal/triage"
)

// ReadLog finds the failed tests in a raw log that holds the output of go test,
// verbose or not: a terminal's, or a CI job's with time stamps, colours and the
// output of other tools in between. Lines of go test -json are understood too.
//
// Failures are leaves only, each target once, in the order of the log. A log
// without go test's output has none, which is no error. The error wraps
// [ErrEmpty] or [ErrTruncated] (the log ends within a package's tests).
func ReadLog(r io.Reader, opt Options) ([]triage.Failure, error) {
	l := newLogReader(opt)
	lines := newLineReader(r)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return l.out.list, err
		}
		l.line(l.clean.clean(line))
	}
	if lines.n == 0 {
		return nil, fmt.Errorf("reading log: %w", ErrEmpty)
	}
	return l.out.done(l.close())
}

type logReader struct {
	opt    Options
	clean  cleaner
	run    *pkgRun
	scan   scanner
	builds buildLog
	json   *jsonReader
	sum    summary
	out    collector
}

func newLogReader(opt Options) *logReader {
	l := &logReader{opt: opt, run: newPkgRun(opt, false), sum: summary{opt: opt}}
	l.scan.run = l.run
	return l
}

func (l *logReader) line(line []byte) {
	if (l.sum.cur != nil || len(line) > 0 && line[0] == '=') && l.sum.line(line) {
		return
	}
	if len(line) == 0 {
		if l.builds.open {
			l.builds.open = false
		}
		l.scan.line(line)
		return
	}
	switch line[0] {
	case 'F', 'o', '?':
		if l.summary(line) {
			return
		}
	case '{':
		if bytes.HasPrefix(line, []byte(`{"`)) && bytes.Contains(line, []byte(`"Action":"`)) && l.event(line) {
			return
		}
	case 'e', 's', '-':
		if l.remark(line) {
			return
		}
	}
	if (line[0] == '#' || l.builds.open) && l.builds.line(line) {
		return
	}
	l.scan.line(line)
}

// event takes a line of go test -json.
func (l *logReader) event(line []byte) bool {
	if l.json == nil {
		l.json = newJSONReader(l.opt, &l.out)
	}
	return l.json.line(line) == nil
}

// remark takes the lines that the go command or the testing package adds.
func (l *logReader) remark(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte("exit status ")), bytes.HasPrefix(line, []byte("signal: ")):
		l.run.exitLine = bound(string(line))
		return true
	case bytes.HasPrefix(line, []byte("-test.shuffle ")):
		l.run.seed = parseSeed(line)
		return l.run.seed != 0
	}
	return false
}

func parseSeed(line []byte) int64 {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(line[len("-test.shuffle "):])), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// summary takes the go command's last line on a package.
func (l *logReader) summary(line []byte) bool {
	pkg, verdict, ok := parseSummary(line)
	if !ok {
		return false
	}
	if verdict != summaryOK {
		l.sum.see(pkg)
	}
	switch verdict {
	case summaryBuild, summarySetup:
		l.out.add(buildFailure(l.run.withPackage(pkg).target(""), l.builds.of(pkg), verdict == summarySetup))
		l.run.pkg = l.opt.Package
		return true
	case summaryFail:
		l.out.add(l.run.withPackage(pkg).failures(true)...)
	}
	l.run.clear()
	l.scan.reset()
	return true
}

func (p *pkgRun) withPackage(pkg string) *pkgRun {
	p.pkg = pkg
	return p
}

type summaryVerdict int

const (
	summaryOK summaryVerdict = iota
	summaryFail
	summaryBuild
	summarySetup
)

// parseSummary reads "ok  \tpkg\t0.01s", "FAIL\tpkg\t0.01s", "FAIL\tpkg [build failed]".
func parseSummary(line []byte) (pkg string, v summaryVerdict, ok bool) {
	rest, fail := bytes.CutPrefix(line, []byte("FAIL\t"))
	if !fail {
		for _, p := range [...]string{"ok  \t", "?   \t"} {
			if rest, ok = bytes.CutPrefix(line, []byte(p)); ok {
				break
			}
		}
		if !ok {
			return "", 0, false
		}
	}
	name, after, _ := bytes.Cut(rest, []byte{'\t'})
	name, note, _ := bytes.Cut(name, []byte(" ["))
	if len(name) == 0 || bytes.IndexByte(name, ' ') >= 0 {
		return "", 0, false
	}
	switch {
	case !fail:
		return string(name), summaryOK, true
	case bytes.HasPrefix(note, []byte("build failed")):
		return string(name), summaryBuild, true
	case bytes.HasPrefix(note, []byte("setup failed")):
		return string(name), summarySetup, true
	case len(after) == 0 || after[0] < '0' || after[0] > '9':
		return "", 0, false
	}
	return string(name), summaryFail, true
}

// close ends the log. Reds that no summary followed have no package, and the
// tests that still ran are no failures: the log stops, not they.
func (l *logReader) close() error {
	err := l.sum.close(&l.out)
	if l.json != nil {
		err = errors.Join(err, l.json.close())
	}
	if !l.run.crash.real() {
		for _, t := range l.run.inOrder() {
			t.running = false
		}
	}
	fs := l.run.failures(l.run.crash.real())
	if len(fs) == 0 {
		return err
	}
	l.out.add(fs...)
	return errors.Join(err, fmt.Errorf("reading log: %w: %d failures are not followed by their package", ErrTruncated, len(fs)))
}
