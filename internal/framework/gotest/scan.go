package gotest

import (
	"bytes"
	"strconv"

	"github.com/triagebot/triagebot/internal/triage"
)

// marker begins the lines that the testing package itself prints under
// -test.v=test2json. Test output can imitate the words, hardly the marker.
const marker = 0x16

// scanner reads the text of one test process into its model. With markers only
// marked lines are events; without, lines of the right form are.
type scanner struct {
	run    *pkgRun
	framed bool
	// cur is the test whose output is read, stack the results by depth.
	cur     string
	stack   []string
	example bool
}

func (s *scanner) reset() { s.cur, s.stack, s.example, s.framed = "", s.stack[:0], false, false }

// line reads one line without its newline.
func (s *scanner) line(line []byte) {
	if i := bytes.IndexByte(line, marker); i >= 0 {
		if !s.framed && s.run.keep {
			s.run.distrust() // what looked like events before was printed by the program
			s.end()
		}
		s.framed = true
		if i > 0 {
			s.output(line[:i])
		}
		if !s.event(line[i+1:]) {
			s.output(line[i+1:])
		}
		return
	}
	if s.framed || !s.plain(line) {
		s.output(line)
	}
}

// plain reads a line without a marker as an event where it has the form of one.
func (s *scanner) plain(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	switch line[0] {
	case '=', '-', ' ', 'P', 'F':
		if s.event(line) {
			return true
		}
	}
	if i := bytes.Index(line, []byte("--- ")); i > 0 && line[i-1] != ' ' {
		// Behind a print without a newline. A pass is not believed in a trial.
		if _, o, _, ok := parseResult(line[i:]); ok && (o.Red() || !s.run.keep) {
			s.output(line[:i])
			return s.event(line[i:])
		}
	}
	return false
}

// event carries out an event line; false when it is none.
func (s *scanner) event(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	switch line[0] {
	case 'P':
		if string(line) == "PASS" {
			s.run.passed = true
			s.end()
			return true
		}
	case 'F':
		if string(line) == "FAIL" {
			s.run.failed = true
			s.end()
			return true
		}
	case '=':
		return s.update(line)
	case '-', ' ':
		return s.report(line)
	}
	return false
}

func (s *scanner) end() {
	s.cur, s.stack, s.example = "", s.stack[:0], false
}

// update is a "=== RUN   TestX" line.
func (s *scanner) update(line []byte) bool {
	verb, name, ok := parseUpdate(line)
	if !ok {
		return false
	}
	switch verb {
	case "RUN":
		if !isTestName(topTest(string(name))) {
			return true // a benchmark
		}
		s.run.start(string(name))
	case "CONT":
		s.run.mark("", false)
	case "ATTR", "ARTIFACTS":
		return true
	}
	s.setCurrent(name)
	s.stack, s.example = s.stack[:0], false
	return true
}

func (s *scanner) setCurrent(name []byte) {
	if s.cur != string(name) {
		s.cur = string(name)
	}
}

// parseUpdate splits "=== RUN   TestX".
func parseUpdate(line []byte) (verb string, name []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("=== "))
	if !ok {
		return "", nil, false
	}
	for _, verb := range [...]string{"RUN", "PAUSE", "CONT", "NAME", "PASS", "FAIL", "SKIP", "ATTR", "ARTIFACTS"} {
		if name, found := bytes.CutPrefix(rest, []byte(verb)); found && (len(name) == 0 || name[0] == ' ') {
			name = bytes.TrimSpace(name)
			if bytes.IndexByte(name, ' ') >= 0 && verb != "ATTR" && verb != "ARTIFACTS" {
				return "", nil, false
			}
			return verb, name, true
		}
	}
	return "", nil, false
}

// report is a "--- FAIL: TestX (0.00s)" line, indented by its depth.
func (s *scanner) report(line []byte) bool {
	depth := 0
	for bytes.HasPrefix(line, []byte("    ")) {
		line = line[4:]
		depth++
	}
	name, outcome, seconds, ok := parseResult(line)
	if !ok || depth > len(s.stack) && !s.framed {
		return false
	}
	if outcome == triage.Unknown { // a benchmark
		return true
	}
	s.run.result(string(name), outcome, seconds)
	s.setCurrent(name)
	s.stack = append(s.stack[:min(depth, len(s.stack))], s.cur)
	s.example = bytes.HasPrefix(name, []byte("Example"))
	return true
}

// parseResult reads "--- FAIL: TestX (0.00s)". The outcome is Unknown for a benchmark.
func parseResult(line []byte) (name []byte, o triage.Outcome, seconds float64, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("--- "))
	if !ok || len(rest) < 7 {
		return nil, 0, 0, false
	}
	switch string(rest[:5]) {
	case "PASS:":
		o = triage.Pass
	case "FAIL:":
		o = triage.Fail
	case "SKIP:":
		o = triage.Skip
	case "BENCH":
		return nil, triage.Unknown, 0, bytes.HasPrefix(rest, []byte("BENCH: "))
	default:
		return nil, 0, 0, false
	}
	name, after, ok := bytes.Cut(rest[6:], []byte(" ("))
	after, ends := bytes.CutSuffix(bytes.TrimRight(after, " "), []byte("s)"))
	if !ok || !ends || len(name) == 0 || bytes.IndexByte(name, ' ') >= 0 {
		return nil, 0, 0, false
	}
	seconds, err := strconv.ParseFloat(string(after), 64)
	if err != nil {
		return nil, 0, 0, false
	}
	if top, _, _ := bytes.Cut(name, []byte("/")); !isTestName(string(top)) {
		o = triage.Unknown
	}
	return name, o, seconds, true
}

// output adds a line that is no event to the test it belongs to. Below the
// results of a process that is not verbose the indentation tells whose it is.
func (s *scanner) output(line []byte) {
	if len(s.stack) == 0 || s.framed || len(bytes.TrimSpace(line)) == 0 {
		s.run.print(s.cur, line)
		return
	}
	n := 0
	for bytes.HasPrefix(line[4*n:], []byte("    ")) {
		n++
	}
	switch {
	case n == 0 && s.example:
		s.run.print(s.cur, line)
	case n == 0:
		s.end()
		s.run.print("", line)
	case n < len(s.stack):
		if _, _, ok := messageStart(line, 4); ok {
			s.stack = s.stack[:n]
			s.cur = s.stack[n-1]
		}
		s.run.print(s.cur, line)
	default:
		s.run.print(s.cur, line)
	}
}
