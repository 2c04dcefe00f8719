package shell

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]Step{
		"":             nil,
		"mocha":        {{Words: []string{"mocha"}}},
		"A=1 B=x=y m":  {{Env: []string{"A=1", "B=x=y"}, Words: []string{"m"}}},
		"A='1 2' m A=": {{Env: []string{"A=1 2"}, Words: []string{"m", "A="}}},
		"'A=1' m":      {{Words: []string{"A=1", "m"}}},
		"tsc -p . && mocha --ui tdd || echo no; x | tee out &": {
			{Words: []string{"tsc", "-p", "."}}, {Words: []string{"mocha", "--ui", "tdd"}}, {Words: []string{"echo", "no"}}, {Words: []string{"x"}}, {Words: []string{"tee", "out"}},
		},
		`m "a b" 'c"d' e\ f "g\"h\i" ''`:            {{Words: []string{"m", "a b", `c"d`, "e f", `g"h\i`, ""}}},
		"m > out.txt 2>&1 a >>b c &>d e 3":          {{Words: []string{"m", "a", "c", "e", "3"}}},
		"m spec/**/*.js {a,b} # no":                 {{Words: []string{"m", "spec/**/*.js", "{a,b}"}}},
		"m a#b\nn":                                  {{Words: []string{"m", "a#b"}}, {Words: []string{"n"}}},
		"m # no\nn":                                 {{Words: []string{"m"}}, {Words: []string{"n"}}},
		`m $X "${Y:-z}/a" $(pwd)/b ` + "`c` $ '$Z'": {{Words: []string{"m", Unknown, Unknown + "/a", Unknown + "/b", Unknown, "$", "$Z"}}},
		"A=$(f $(x)) m":                             {{Env: []string{"A=" + Unknown}, Words: []string{"m"}}},
		"(cd a && export A=1 && m) && n":            {{Env: []string{"A=1"}, Words: []string{"m"}, Dir: "a"}, {Words: []string{"n"}}},
		"cd a && cd ../b; m":                        {{Words: []string{"m"}, Dir: "b"}},
		"cd $X && m":                                {{Words: []string{"m"}, Odd: "a directory that only a shell knows"}},
		"cd /x && m":                                {{Words: []string{"m"}, Odd: "a directory that only a shell knows"}},
		"if x; then cd a; fi; m":                    {{Words: []string{"x"}, Odd: "a condition or loop"}, {Words: []string{"m"}, Odd: "a directory that only a shell knows"}},
		"if x; then m; fi":                          {{Words: []string{"x"}, Odd: "a condition or loop"}, {Words: []string{"m"}, Odd: "a condition or loop"}},
		"m 'a":                                      {{Words: []string{"m", "'a"}, Odd: "a line that no shell takes"}},
		"export A=1 B; m":                           {{Env: []string{"A=1"}, Words: []string{"m"}}},
		"time m":                                    {{Words: []string{"m"}}},
		"m <<E\nx\nE":                               {{Words: []string{"m"}, Odd: "a here-document"}},
		"m @(a|b)":                                  {{Words: []string{"m", "@(a|b)"}}},
		"m \\\n  --a":                               {{Words: []string{"m", "--a"}}},
	} {
		if d := cmp.Diff(want, Parse(line)); d != "" {
			t.Errorf("%q (-want +got):\n%s", line, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`A=1 m "x $Y" > f && n | o`)
	f.Add("if a; then b; fi # c")
	f.Add("m `x")
	f.Add("m $(a")
	f.Fuzz(func(t *testing.T, line string) {
		for _, s := range Parse(line) {
			if len(s.Env)+len(s.Words) == 0 {
				t.Errorf("%q: an empty step", line)
			}
			if strings.ContainsAny(line, "$`") {
				continue
			}
			if strings.Contains(strings.Join(s.Words, " "), Unknown) {
				t.Errorf("%q: something is unknown in %q", line, s.Words)
			}
		}
	})
}

func TestAssignmentsStandBeforeACommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{
		"A=1 B= m C=2": {"A=1 B=", "m C=2"},
		"m":            {"", "m"},
		"A=1":          {"A=1", ""},
		"":             {"", ""},
	} {
		env, rest := Assignments(strings.Fields(line))
		if got := [2]string{strings.Join(env, " "), strings.Join(rest, " ")}; got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestPassiveProgramsRunNothingHere(t *testing.T) {
	t.Parallel()
	for program, want := range map[string]bool{"echo": true, "/usr/bin/docker": true, "mocha": false, "": false} {
		if Passive(program) != want {
			t.Errorf("%q: %v", program, !want)
		}
	}
}
