package framework

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/jest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
	"github.com/triagebot/triagebot/internal/framework/vitest"
)

// seedRow is where a framework's order seed is to be found. Go is left out: each
// of its packages has a seed of its own, which stands with its failures.
type seedRow struct {
	// line is how a run prints it.
	line *regexp.Regexp
	// options are those that set it. Without one of needs a run is not shuffled by
	// it; empty when it is.
	options, needs []string
}

var seedRows = map[string]seedRow{
	pytest.Name: {regexp.MustCompile(`^Using --random(?:ly|-order)-seed=(\d+)\s*$`), []string{"--randomly-seed", "--random-order-seed"}, nil},
	vitest.Name: {regexp.MustCompile(`^\s*Running tests with seed "(-?\d+)"`), []string{"--sequence.seed"}, []string{"--sequence.shuffle", "--sequence.shuffle.tests", "--sequence.shuffle.files"}},
	jest.Name:   {regexp.MustCompile(`^Seed: +(-?\d+)\s*$`), []string{"--seed"}, []string{"--randomize"}},
}

// reDecor is what a terminal and a CI service add to a line.
var reDecor = regexp.MustCompile(`\x1b\[[\d;]*[A-Za-z]|^\x{feff}?\d{4}-\d\d-\d\dT[\d:.]+Z ?`)

// maxSeedLine bounds a line that a seed is looked for in, in bytes.
const maxSeedLine = 4 << 10

// Seeds are the order seeds that runs printed. It is written to with what they
// printed, which may come in any pieces. The zero value is ready.
type Seeds struct {
	found map[string][]int64
	line  []byte
}

// Write looks through a piece of the output. It never fails.
func (s *Seeds) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.line = append(s.line, p[:min(len(p), max(0, maxSeedLine-len(s.line)))]...)
			break
		}
		if len(s.line) > 0 {
			s.read(append(s.line, p[:i]...))
			s.line = s.line[:0]
		} else {
			s.read(p[:i])
		}
		p = p[i+1:]
	}
	return n, nil
}

func (s *Seeds) read(line []byte) {
	if len(line) > maxSeedLine || !bytes.Contains(line, []byte("eed")) {
		return
	}
	text := strings.TrimRight(reDecor.ReplaceAllString(string(line), ""), "\r")
	for name, row := range seedRows {
		if m := row.line.FindStringSubmatch(text); m != nil {
			if seed, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				s.add(name, seed)
			}
		}
	}
}

func (s *Seeds) add(framework string, seed int64) {
	if s.found == nil {
		s.found = map[string][]int64{}
	}
	if !slices.Contains(s.found[framework], seed) {
		s.found[framework] = append(s.found[framework], seed)
	}
}

// end reads the last line, which may have no end.
func (s *Seeds) end() {
	s.read(s.line)
	s.line = nil
}

// Merge adds the seeds of another output.
func (s *Seeds) Merge(o *Seeds) {
	o.end()
	for name, found := range o.found {
		for _, seed := range found {
			s.add(name, seed)
		}
	}
}

// Drop forgets the seeds of a framework.
func (s *Seeds) Drop(framework string) {
	s.end()
	delete(s.found, framework)
}

// Only is the seed of a framework's runs, 0 when none was printed or they differ.
func (s *Seeds) Only(framework string) int64 {
	s.end()
	if found := s.found[framework]; len(found) == 1 {
		return found[0]
	}
	return 0
}

// CommandSeed is the order seed that a command's own arguments set, 0 for none.
func CommandSeed(framework string, argv []string) int64 {
	row := seedRows[framework]
	seed, shuffled := int64(0), len(row.needs) == 0
	for i, word := range argv {
		name, value, attached := strings.Cut(word, "=")
		if slices.Contains(row.needs, name) {
			shuffled = value != "false"
		}
		if !slices.Contains(row.options, name) {
			continue
		}
		if !attached && i+1 < len(argv) {
			value = argv[i+1]
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			seed = n
		}
	}
	if !shuffled {
		return 0
	}
	return seed
}
