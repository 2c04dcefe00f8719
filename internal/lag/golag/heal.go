package golag

import (
	"bufio"
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
)

// maxStrikes is the number of errors in one file after which it is left as it was.
const maxStrikes = 6

// compileError is the head of a compiler's message.
var compileError = regexp.MustCompile(`(?m)^(?:vet: )?(.*\.go):(\d+)(?::\d+)?: `)

// Heal reads what a failed build of the instrumented package printed and takes
// out the sites that can have caused it: those on the line of an error in a
// rewritten file, else those of the function around it, else all of the file's.
// It rewrites the overlay and returns the number of sites dropped; 0 means that
// the failure is not of our making. The caller builds and heals in turn.
func (in *Instrumentation) Heal(compileOutput []byte) (dropped int, err error) {
	struck := map[string]bool{}
	sc := bufio.NewScanner(bytes.NewReader(compileOutput))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		m := compileError.FindStringSubmatch(sc.Text())
		if m == nil || struck[m[1]+":"+m[2]] {
			continue
		}
		struck[m[1]+":"+m[2]] = true
		line, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		dropped += in.strike(m[1], line)
	}
	if dropped == 0 {
		return 0, nil
	}
	return dropped, in.write()
}

// strike takes out what can have caused an error at a line of a file.
func (in *Instrumentation) strike(path string, line int) int {
	base := filepath.Base(path)
	if t := in.testing; t != nil && (base == "testing.go" || base == "hook.go") {
		in.testing = nil
		in.skip("testing/testing.go", "the rewritten package does not compile with this tool chain")
		return 1
	}
	for _, f := range in.files {
		if f.dropped || base != filepath.Base(f.out) && path != f.path {
			continue
		}
		f.strikes++
		if f.strikes <= maxStrikes {
			if n := f.dropLine(line); n > 0 {
				return n
			}
			if n := f.dropFunc(line); n > 0 {
				return n
			}
		}
		n := f.live()
		f.dropped = true
		in.skip(f.rel, "its instrumented copy does not compile")
		return n
	}
	return 0
}

// dropLine takes out the sites with an insertion on the line.
func (f *source) dropLine(line int) int {
	n := 0
	for _, e := range f.edits {
		if m := f.sites[e.site]; e.line == line && !m.dropped {
			m.dropped = true
			n++
		}
	}
	return n
}

// dropFunc takes out the sites of the declaration around the line: a missing
// return is reported at the closing brace.
func (f *source) dropFunc(line int) int {
	n := 0
	for _, m := range f.sites {
		if m.from <= line && line <= m.to && !m.dropped {
			m.dropped = true
			n++
		}
	}
	return n
}
