package jstest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	reScript = regexp.MustCompile(`^[^\s"'<>|]+\.[cm]?[jt]sx?$`)
	// reFail heads a file or a failure: " FAIL  |project| test/a.test.ts > d > t" of
	// vitest, "FAIL test/a.test.js (5.1 s)" of jest. With colours a project's name
	// stands between spaces.
	reFail = regexp.MustCompile(`^\s*FAIL\s+(?:\|[^|]*\| |\([^)]*\) |[^\s|(>]+(?: [^\s>]+)* {2})?\s*([^\s>]+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?(?: > (.+?))?(?: \[ .* \])?\s*$`)
	// reBullet heads a failure of jest.
	reBullet = regexp.MustCompile(`^  ● (.+)$`)
	// reOrder is the seed as the frameworks print it.
	reOrder = regexp.MustCompile(`(?:Running tests with seed "|^Seed: +)(-?\d+)`)
	// reRun begins a run of vitest.
	reRun = regexp.MustCompile(`^ *RUN +v\d`)
	// reStamp is the time that a CI service puts before each line.
	reStamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z ?`)
)

// ReadLog reads the failures out of the raw output of vitest or jest; that of
// mocha and node:test is another: see [ReadMochaLog] and [ReadNodeLog].
//
// The error is [ErrEmpty] for an empty log.
func ReadLog(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	l := logReader{d: d, o: o}
	in := bufio.NewReaderSize(r, 64<<10)
	empty := true
	for {
		line, err := readLine(in)
		if len(line) > 0 {
			empty = false
			l.line(reANSI.ReplaceAllString(string(line[:min(len(line), maxLine)]), ""))
		} else if err == nil {
			l.line("")
		}
		switch {
		case errors.Is(err, io.EOF) && empty:
			return nil, fmt.Errorf("reading %s log: %w", d.Name, ErrEmpty)
		case errors.Is(err, io.EOF):
			return l.done()
		case err != nil:
			return l.found.list, fmt.Errorf("reading %s log: %w", d.Name, err)
		}
	}
}

type logReader struct {
	d     Dialect
	o     Options
	found collector
	// file is that of the last heading of jest, open the failure being read.
	file string
	open *triage.Target
	text strings.Builder
	// seed is that of the run being read, which vitest prints at its beginning and
	// jest at its end; from is the first failure of that run of jest.
	seed int64
	from int
}

func (l *logReader) line(s string) {
	s = reStamp.ReplaceAllString(s, "")
	if reRun.MatchString(s) {
		l.close()
		l.seed = 0
	}
	if m := reOrder.FindStringSubmatch(s); m != nil {
		l.order(m[1])
	}
	if m := reFail.FindStringSubmatch(s); m != nil {
		l.close()
		l.file = l.o.file(m[1])
		if l.d.Separator == " > " {
			l.start(l.d.target(l.o, l.file, m[2]))
		}
		return
	}
	if m := reBullet.FindStringSubmatch(s); m != nil && l.file != "" && l.d.Separator == " " {
		l.close()
		test := strings.Join(strings.Split(m[1], " › "), " ")
		if m[1] == "Test suite failed to run" {
			test = ""
		}
		l.start(l.d.target(l.o, l.file, test))
		return
	}
	if strings.HasPrefix(s, "⎯⎯⎯") || strings.HasPrefix(s, "Test Suites:") || strings.HasPrefix(s, " ❯ ") && l.text.Len() == 0 {
		l.close()
		if strings.HasPrefix(s, "Test Suites:") { // a run of jest that has no seed ends here too
			l.from = len(l.found.list)
		}
		return
	}
	if l.open != nil && l.text.Len() < maxText {
		l.text.WriteString(strings.TrimPrefix(s, "    "))
		l.text.WriteByte('\n')
	}
}

// order takes the seed of a run.
func (l *logReader) order(word string) {
	seed, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return
	}
	if l.d.Separator == " > " {
		l.seed = seed
		return
	}
	l.close()
	for i := l.from; i < len(l.found.list); i++ {
		l.found.list[i].Seed = seed
	}
	l.from = len(l.found.list)
}

func (l *logReader) start(t triage.Target) { l.open = &t }

func (l *logReader) close() {
	if l.open == nil {
		return
	}
	phase := triage.PhaseTest
	if l.open.Test == "" {
		phase = triage.PhaseBuild
	}
	f := l.d.failure(l.o, *l.open, phase, thrown{Message: strings.TrimSpace(l.text.String())})
	f.Seed = l.seed
	l.found.add(f)
	l.open = nil
	l.text.Reset()
}

func (l *logReader) done() ([]triage.Failure, error) {
	l.close()
	return l.found.done(nil)
}
