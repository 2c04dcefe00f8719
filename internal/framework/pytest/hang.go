package pytest

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// hang is what pytest-timeout prints before it ends the whole process (its method
// "thread"): there is no summary then, only the stack of each thread.
type hang struct {
	// at is the progress that stood before it: a node id with -v, else a file and dots.
	at    string
	stack block
}

// hangMark is in the lines that begin and end the stacks.
const hangMark = "+ Timeout +"

var (
	// reHang begins and ends the stacks.
	reHang     = regexp.MustCompile(`^(.*?)\++ Timeout \++$`)
	reRootDir  = regexp.MustCompile(`^rootdir: (.+?)(?:, (?:config|ini|test).*)?$`)
	reStack    = regexp.MustCompile(`^~+ Stack of (.+) \(\d+\) ~+$`)
	reHung     = regexp.MustCompile(`^\s+File "(.+)", line (\d+), in (\S+)$`)
	reProgress = regexp.MustCompile(`^(\S+\.py) [.FEsxX]*$`)
)

// noteHang looks for the stacks, and for where pytest stands.
func (l *logReader) noteHang(line []byte) {
	if l.section != inProgress {
		return
	}
	if l.hang != nil && len(l.hang.stack.text) < maxText {
		l.hang.stack.add(line)
	}
	switch {
	case line[0] == 'r':
		if m := reRootDir.FindSubmatch(line); m != nil {
			l.root = strings.ReplaceAll(string(m[1]), `\`, "/")
		}
	case l.hang == nil && line[len(line)-1] == '+':
		if m := reHang.FindSubmatch(line); m != nil {
			l.hang = &hang{at: string(m[1])}
		}
	}
}

// hung tells of the test that hung: the one that pytest had begun, else the test
// function in the main thread's stack. It is false where neither names a test.
func (l *logReader) hung() (triage.Failure, bool) {
	at := strings.TrimSpace(l.hang.at)
	file, function := hungIn(l.hang.stack.text)
	var t triage.Target
	switch m := reProgress.FindStringSubmatch(l.hang.at); {
	case strings.Contains(at, ".py::"):
		t = ParseID(at, l.o)
	case function == "":
		return triage.Failure{}, false
	case m != nil && strings.HasSuffix(file, "/"+m[1]):
		t = l.o.target(m[1], function)
	case l.root != "" && strings.HasPrefix(file, l.root+"/"):
		t = l.o.target(strings.TrimPrefix(file, l.root+"/"), function)
	default:
		return triage.Failure{}, false
	}
	return l.o.failure(t, crash{phase: triage.PhaseTimeout, message: timeoutMessage, text: string(l.hang.stack.text)}), true
}

// hungIn is the first test function below pytest's own frames in the stack of the
// main thread, and its file.
func hungIn(stack []byte) (file, function string) {
	main := false
	for line := range bytes.Lines(stack) {
		line = bytes.TrimRight(line, "\r\n")
		if m := reStack.FindSubmatch(line); m != nil {
			main = string(m[1]) == "MainThread"
		}
		m := reHung.FindSubmatch(line)
		if !main || m == nil {
			continue
		}
		name, in := strings.ReplaceAll(string(m[1]), `\`, "/"), string(m[3])
		switch {
		case path.Base(path.Dir(name)) == "_pytest":
			file, function = "", ""
		case function == "" && strings.HasPrefix(in, "test"):
			file, function = name, in
		}
	}
	return file, function
}
