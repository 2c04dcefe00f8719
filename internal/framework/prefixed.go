package framework

import (
	"bufio"
	"bytes"
	"io"
	"regexp"

	"github.com/triagebot/triagebot/internal/triage"
)

// rePrefix is what programs that run the tests of many packages write before each
// line: turbo ("name:task: "), pnpm ("folder task: "), lerna ("name: "), yarn
// ("[name]: ") and concurrently ("[name] ").
var rePrefix = regexp.MustCompile(`^(?:\[([^\]\s]+)\]:? |([@\w./-]+):[\w:.-]+: ?|([@\w./-]+) [\w:.-]+: ?|([@\w./-]+): )`)

const (
	// maxPrefixes bounds the packages of one log, maxPrefixed what is kept of each, in bytes.
	maxPrefixes = 200
	maxPrefixed = 8 << 20
	// maxInAll bounds them together.
	maxInAll = 128 << 20
)

// ReadPrefixed reads a log in which each line has the name of a package or its folder
// before it, as a log of each package. folder gives the directory of a package's name.
// Lines of packages that are too many, and the end of one that is too long, are left out.
func ReadPrefixed(r io.Reader, in Reading, folder func(name string) string) ([]triage.Failure, error) {
	logs := map[string]*bytes.Buffer{}
	var order []string
	total := 0
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			line = reDecor.ReplaceAll(line, nil)
			if m := rePrefix.FindSubmatch(line); m != nil {
				name := string(bytes.Join(m[1:], nil))
				log, ok := logs[name]
				if !ok && len(logs) < maxPrefixes {
					log = &bytes.Buffer{}
					logs[name], order = log, append(order, name)
				}
				if log != nil && log.Len() < maxPrefixed && total < maxInAll {
					n, _ := log.Write(line[len(m[0]):])
					total += n
				}
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil && err != bufio.ErrBufferFull {
			return nil, err
		}
	}
	var all []triage.Failure
	for _, name := range order {
		in.At = name
		if at := folder(name); at != "" {
			in.At = at
		}
		fs, _ := ReadLog(logs[name], in) // one that is no log of tests has none
		all = append(all, fs...)
	}
	return all, nil
}
