package framework

import (
	"strings"
	"testing"
)

func TestSeedsThatRunsPrint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		framework, out string
		want           int64
	}{
		"pytest-randomly":       {"pytest", "====\nUsing --randomly-seed=4\nrootdir: /a\n", 4},
		"pytest-random-order":   {"pytest", "Using --random-order-seed=12345\n", 12345},
		"vitest":                {"vitest", "\n RUN  v3.2.4 /a\n      Running tests with seed \"17\"\n", 17},
		"vitest, in colours":    {"vitest", "\x1b[2m      Running tests with seed \"17\"\x1b[22m\n", 17},
		"jest":                  {"jest", "Seed:        -1234\nTest Suites: 1 failed\n", -1234},
		"the log of a job":      {"pytest", "2026-11-30T03:47:27.2757230Z Using --randomly-seed=4\r\n", 4},
		"without an end":        {"jest", "Seed: 9", 9},
		"the same one twice":    {"vitest", "Running tests with seed \"17\"\nRunning tests with seed \"17\"\n", 17},
		"runs that differ":      {"vitest", "Running tests with seed \"17\"\nRunning tests with seed \"18\"\n", 0},
		"another framework's":   {"jest", "Running tests with seed \"17\"\n", 0},
		"in the midst of words": {"pytest", "E  assert 'Using --randomly-seed=4'\n", 0},
		"a test's own word":     {"jest", "    Seed: 12\n", 0},
		"too large":             {"jest", "Seed: 99999999999999999999\n", 0},
		"a line without an end": {"jest", strings.Repeat("x", 10<<10) + "\nSeed: 5\n" + strings.Repeat("y", 10<<10), 5},
		"nothing":               {"pytest", "", 0},
	} {
		for _, piece := range []int{1, 7, 1 << 20} {
			var s Seeds
			for rest := c.out; rest != ""; {
				n := min(piece, len(rest))
				if got, err := s.Write([]byte(rest[:n])); got != n || err != nil {
					t.Fatal(got, err)
				}
				rest = rest[n:]
			}
			if got := s.Only(c.framework); got != c.want {
				t.Errorf("%s, %d bytes at once: got %d, want %d", name, piece, got, c.want)
			}
		}
	}
}

func TestSeedsOfCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]int64{
		"pytest: python3 -m pytest -p randomly --randomly-seed=4":           4,
		"pytest: pytest --random-order --random-order-seed 7":               7,
		"pytest: pytest --randomly-seed=last":                               0,
		"pytest: pytest -p no:randomly":                                     0,
		"vitest: npx vitest run --sequence.shuffle --sequence.seed=":        0,
		"vitest: npx vitest run --sequence.shuffle --sequence.seed=3":       3,
		"vitest: npx vitest run --sequence.shuffle.tests --sequence.seed 3": 3,
		"vitest: npx vitest run --sequence.seed=3":                          0,
		"vitest: vitest --sequence.shuffle=false --sequence.seed=3":         0,
		"jest: npx jest --randomize --seed=-5":                              -5,
		"jest: npx jest --seed 5":                                           0,
		"mocha: mocha --seed=5":                                             0,
		"gotest: go test -shuffle=5 ./...":                                  0,
	} {
		name, argv, _ := strings.Cut(command, ": ")
		if got := CommandSeed(name, strings.Fields(argv)); got != want {
			t.Errorf("%s: got %d, want %d", command, got, want)
		}
	}
}
