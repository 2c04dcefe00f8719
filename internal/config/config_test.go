package config

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/triagebot/triagebot/internal/triage"
)

const whole = `# how triagebot runs here
version: 1
budget: 15m
max-trials: 40
trial-timeout: 90s
lag: [double, worker-10]
seed: 7
alpha: 0.005
fail-on: introduced
pass-env: [DATABASE_URL, LANG]
suites:
  - name: go
    dir: services/api/
    framework: gotest
    command: go test -race -run 'Test A' "-tags=a b" ./...
    setup:
      - go generate ./...
      - [make, "one two"]
    pass-env: CGO_ENABLED,GOFLAGS
    seams:
      - --dispatch-lag={seconds}
      - example.com/app/store:Registry.Register
  - name: script
    command: ["sh", "-c", "echo $HOME | cat", 8, true]
    setup: ./prepare.sh --fast
`

func TestAWholeFile(t *testing.T) {
	got, err := Load(strings.NewReader(whole), "t.yml")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{Budget: 15 * time.Minute, MaxTrials: 40, TrialTimeout: 90 * time.Second, Lag: "double,worker-10", Seed: 7, Alpha: 0.005,
		FailOn: FailOnIntroduced, PassEnv: []string{"DATABASE_URL", "LANG"},
		Suites: []Suite{
			{Name: "go", Dir: "services/api", Framework: "gotest", Command: []string{"go", "test", "-race", "-run", "Test A", "-tags=a b", "./..."},
				Setup: [][]string{{"go", "generate", "./..."}, {"make", "one two"}}, PassEnv: []string{"CGO_ENABLED", "GOFLAGS"},
				Seams: []string{"--dispatch-lag={seconds}", "example.com/app/store:Registry.Register"}},
			{Name: "script", Dir: ".", Command: []string{"sh", "-c", "echo $HOME | cat", "8", "true"}, Setup: [][]string{{"./prepare.sh", "--fast"}}},
		}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if at := got.At("suites[0].framework"); at != "t.yml:14:16" {
		t.Errorf("suites[0].framework is at %q", at)
	}
}

func TestEmptyFilesGiveNothing(t *testing.T) {
	for _, text := range []string{"", "\n\n", "# nothing\n", "---\n", "---\n# x\n", "suites: []\n", "null\n"} {
		got, err := Load(strings.NewReader(text), "t.yml")
		if diff := cmp.Diff(Config{}, got, cmpopts.IgnoreUnexported(Config{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
}

func TestFaultsAreLocated(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "lag: off\nbudgte: 1m\n", `t.yml:2:1: unknown key "budgte", did you mean "budget"?`},
		{"key with underscore", "max_trials: 3\n", `t.yml:1:1: unknown key "max_trials", did you mean "max-trials"?`},
		{"key without likeness", "colour: red\n", `t.yml:1:1: unknown key "colour", the keys are version, suites, budget, max-trials, trial-timeout, lag, seed, alpha, fail-on, pass-env`},
		{"unknown key of a suite", "suites:\n  - name: a\n    comand: go test\n", `t.yml:3:5: suites[0]: unknown key "comand", did you mean "command"?`},
		{"key twice", "seed: 1\nseed: 2\n", `t.yml:2:1: mapping key "seed" already defined at [1:1]`},
		{"key twice in braces", "suites: [{name: a, name: b}]\n", "t.yml:1:20: "},
		{"later version", "version: 2\n", "t.yml:1:10: version: this triagebot reads version 1 of the file"},
		{"number without unit", "budget: 10\n", `t.yml:1:9: budget: "10" has no unit, write 10m or 10s`},
		{"no duration", "budget: soon\n", `t.yml:1:9: budget: "soon" is not a duration such as 10m or 90s`},
		{"duration out of range", "budget: 48h\n", `t.yml:1:9: budget: "48h" is not between 1s and 24h`},
		{"negative duration", "trial-timeout: -1s\n", `t.yml:1:16: trial-timeout: "-1s" is not between 100ms and 24h`},
		{"list for duration", "budget: [1m]\n", "t.yml:1:9: budget: want duration, found a list"},
		{"nothing", "budget:\n", "t.yml:1:9: budget: want duration, found nothing"},
		{"fraction", "max-trials: 1.5\n", `t.yml:1:13: max-trials: "1.5" is not a whole number`},
		{"zero", "max-trials: 0\n", `t.yml:1:13: max-trials: "0" is not between 1 and 10000`},
		{"seed", "seed: 0\n", `t.yml:1:7: seed: "0" is not a whole number from 1`},
		{"alpha", "alpha: 0.9\n", `t.yml:1:8: alpha: "0.9" is not above 0 and at most 0.5`},
		{"not a number", "alpha: .nan\n", "t.yml:1:8: alpha: want number, found a number"},
		{"policy", "fail-on: everything\n", `t.yml:1:10: fail-on: "everything" is not one of none, regression, introduced, any`},
		{"lag as switch", "lag: false\n", `t.yml:1:6: lag: "false" is not a rung, write off`},
		{"lag off beside a rung", "lag: [off, double]\n", "t.yml:1:6: lag: off stands alone, without rungs beside it"},
		{"lag with a sentence", "lag: [\"a b\"]\n", "t.yml:1:6: lag: want auto, off, or a list of rungs, found a list"},
		{"variable with value", "pass-env: [A=1]\n", `t.yml:1:11: pass-env: "A=1" gives a value, but only names are passed`},
		{"variable of the runner", "pass-env: GITHUB_TOKEN\n", `t.yml:1:11: pass-env: "GITHUB_TOKEN" is never passed to tests: it belongs to the runner or to triagebot`},
		{"suites as keys", "suites:\n  go: x\n", "t.yml:2:3: suites: want a list of at most 200 suites, found keys and values"},
		{"suite without name", "suites:\n  - dir: a\n", `t.yml:2:5: suites[0]: the key "name" is missing`},
		{"suite twice", "suites:\n  - name: a\n  - name: a\n", `t.yml:3:5: suites[1]: there is another suite of the name "a"`},
		{"suite as text", "suites: [go]\n", "t.yml:1:10: suites[0]: want keys and values, found text"},
		{"dir outside", "suites:\n- name: a\n  dir: ../x\n", `t.yml:3:8: suites[0].dir: "../x" leaves the repository`},
		{"dir absolute", "suites:\n- name: a\n  dir: /x\n", `t.yml:3:8: suites[0].dir: "/x" is not relative to the root of the repository`},
		{"dir of Windows", "suites:\n- name: a\n  dir: a\\b\n", `t.yml:3:8: suites[0].dir: "a\\b" has backslashes, write forward slashes`},
		{"pipe", "suites:\n- name: a\n  command: go test | tee x\n", `t.yml:3:12: suites[0].command: '|' is a pipe only to a shell`},
		{"variable", "suites:\n- name: a\n  command: go test $PKG\n", `t.yml:3:12: suites[0].command: '$' is a variable only to a shell`},
		{"option first", "suites:\n- name: a\n  command: [-v]\n", `t.yml:3:12: suites[0].command: "-v" is an option, not a command`},
		{"empty command", "suites:\n- name: a\n  command: []\n", "t.yml:3:12: suites[0].command: the command is empty"},
		{"keys for command", "suites:\n- name: a\n  command: {a: b}\n", "t.yml:3:12: suites[0].command: want a command line or a list of words, found keys and values"},
		{"setup of words", "suites:\n- name: a\n  setup: [go, mod, download]\n", `t.yml:3:10: suites[0].setup: these are 3 commands of one word each; one command is [[go, mod, download]] or "go mod download"`},
		{"setup with shell", "suites:\n- name: a\n  setup:\n  - make\n  - a && b\n", `t.yml:5:5: setup: '&' is a second command only to a shell`},
		{"seam without a dose", "suites:\n- name: a\n  seams: [--lag]\n", `t.yml:3:11: seams: the option "--lag" wants {seconds} or {ms} in it once, as in --dispatch-lag={seconds}`},
		{"seam with two doses", "suites:\n- name: a\n  seams:\n  - x.y:f\n  - --lag={ms}{seconds}\n", `t.yml:5:5: seams: the option "--lag={ms}{seconds}" wants {seconds} or {ms} in it once`},
		{"seam of two words", "suites:\n- name: a\n  seams:\n  - --lag {ms}\n", `t.yml:4:5: seams: the option "--lag {ms}" is more than one word: join its value with =`},
		{"seam that is no option", "suites:\n- name: a\n  seams:\n  - lag={ms}\n", `t.yml:4:5: seams: "lag={ms}" has a dose, and so is an option, but does not begin with a dash`},
		{"seam without a function", "suites:\n- name: a\n  seams: [the_loop.sessions]\n", `t.yml:3:11: seams: "the_loop.sessions" is neither an option such as --dispatch-lag={seconds} nor a function such as package.module:Class.method`},
		{"seam twice", "suites:\n- name: a\n  seams: [a.b:c, a.b:c]\n", `t.yml:3:18: seams: "a.b:c" is there twice`},
		{"seams as keys", "suites:\n- name: a\n  seams: {a: b}\n", `t.yml:3:10: suites[0].seams: want a list of options and functions, found keys and values`},
		{"setup as keys", "suites:\n- name: a\n  setup: {a: b}\n", "t.yml:3:10: suites[0].setup: want a list of commands, found keys and values"},
		{"quote left open", "suites:\n- name: a\n  command: sh -c 'x\n", "t.yml:3:12: suites[0].command: a single quote is not closed"},
		{"zero byte", "suites:\n- name: a\n  command: [\"a\\0b\"]\n", "t.yml:3:12: suites[0].command: the word"},
		{"name with a blank", "suites:\n- name: a b\n", `t.yml:2:9: suites[0].name: "a b" is not a name of letters`},
		{"name as number", "suites:\n- name: 5\n", "t.yml:2:9: suites[0].name: want name, found a number"},
		{"empty dir", "suites:\n- name: a\n  dir: ''\n", `t.yml:3:8: suites[0].dir: "" is not a path`},
		{"name of a variable", "pass-env: [a-b]\n", `t.yml:1:11: pass-env: "a-b" is not the name of a variable`},
		{"variable twice", "pass-env: [A, A]\n", `t.yml:1:11: pass-env: "A" is there twice`},
		{"rung twice", "lag: [a, a]\n", "t.yml:1:6: lag: the rung a is there twice"},
		{"no rung", "lag: []\n", `t.yml:1:6: lag: "" is not auto, off or a list of rungs`},
		{"rung in capitals", "lag: Auto\n", `t.yml:1:6: lag: "Auto" is not the name of a rung`},
		{"lag on", "lag: on\n", `t.yml:1:6: lag: "on" is not a rung, write auto`},
		{"text for number", "max-trials: many\n", `t.yml:1:13: max-trials: "many" is not a whole number`},
		{"text for fraction", "alpha: small\n", `t.yml:1:8: alpha: "small" is not a number`},
		{"long value", "fail-on: " + strings.Repeat("é", 100) + "\n", `…" is not one of none`},
		{"long key", strings.Repeat("k", 100) + ": 1\n", "t.yml:1:1: unknown key"},
		{"anchor", "budget: &a 1m\n", "t.yml:1:9: budget: want duration, found an anchor or alias, which this file may not have"},
		{"alias", "a: &x 1\nbudget: *x\n", `t.yml:1:1: unknown key "a"`},
		{"merge", "<<: {budget: 1m}\n", "t.yml:1:1: a key must be plain text, without anchors, tags or merges"},
		{"tag", "budget: !!str 1m\n", "t.yml:1:9: budget: want duration, found a tag, which this file may not have"},
		{"second document", "seed: 1\n---\nseed: 2\n", "t.yml:3:1: a second document: write one"},
		{"a list", "- a\n", "t.yml:1:1: want keys and values, found a list"},
		{"syntax", "budget: [1m\n", "t.yml:1:9: sequence end token ']' not found"},
		{"not UTF-8", "a: \xff\n", "t.yml:1:4: the file is not UTF-8"},
		{"control character", "a: b\nc: \x1b[1m\n", "t.yml:2:4: the control character U+001B"},
		{"deep brackets", "a: " + strings.Repeat("[", 5000), "t.yml:1:24: nested deeper than 20"},
		{"deep dashes", strings.Repeat("- ", 5000), "t.yml:1:1: nested deeper than 20"},
		{"deep blocks", deepBlocks(3000), "indented by more than 160"},
		{"large", strings.Repeat("#\n", maxFile), "the file is larger than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(strings.NewReader(c.text), "t.yml")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error = %v\nwant    %s", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("not one clean line: %q", err)
			}
		})
	}
}

func deepBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
		if b.Len() > maxFile-n {
			break
		}
	}
	return b.String()
}

func TestTheNearestLayerWins(t *testing.T) {
	flags := Config{Seed: 3}
	env, err := FromEnv(func(k string) (string, bool) {
		v, ok := map[string]string{"TRIAGEBOT_BUDGET": "20m", "TRIAGEBOT_SEED": "4", "TRIAGEBOT_LAG": "", "TRIAGEBOT_PASS_ENV": "A, B\nC"}[k]
		return v, ok
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := Load(strings.NewReader("seed: 5\nbudget: 5m\nlag: off\nfail-on: any\nsuites: [{name: a}]\n"), "t.yml")
	if err != nil {
		t.Fatal(err)
	}
	got := Merge(flags, env, file, Defaults())
	want := Config{Seed: 3, Budget: 20 * time.Minute, Lag: "off", FailOn: "any", TrialTimeout: 2 * time.Minute, Alpha: 0.01,
		PassEnv: []string{"A", "B", "C"}, Suites: []Suite{{Name: "a", Dir: "."}}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for path, at := range map[string]string{"budget": "TRIAGEBOT_BUDGET", "lag": "t.yml:3:6", "alpha": "", "suites[0].name": "t.yml:5:17"} {
		if got.At(path) != at {
			t.Errorf("%s is at %q, want %q", path, got.At(path), at)
		}
	}
}

func TestFaultsOfVariablesNameThem(t *testing.T) {
	_, err := FromEnv(func(k string) (string, bool) { return "10", k == "TRIAGEBOT_BUDGET" })
	if want := `reading TRIAGEBOT_BUDGET: "10" has no unit, write 10m or 10s`; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestSetReadsTextAsTheFileDoes(t *testing.T) {
	var c Config
	for key, text := range map[string]string{"budget": "15m", "max-trials": "40", "trial-timeout": "90s", "lag": "double, worker-10", "seed": "7",
		"alpha": "0.005", "fail-on": "introduced", "pass-env": "DATABASE_URL LANG"} {
		if err := c.Set(key, text); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	file, err := Load(strings.NewReader(whole), "t.yml")
	if err != nil {
		t.Fatal(err)
	}
	file.Suites = nil
	if diff := cmp.Diff(file, c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("(-file +flags)\n%s", diff)
	}
	if err := c.Set("sed", "1"); err == nil || !strings.Contains(err.Error(), `did you mean "seed"`) {
		t.Errorf("unknown key: %v", err)
	}
	if err := c.Set("suites", "a"); err == nil {
		t.Error("suites can be set from text")
	}
}

func TestDefaultsAreThoseOfTheTable(t *testing.T) {
	var c Config
	for _, k := range Keys() {
		if k.Default != "" {
			if err := c.Set(k.Name, k.Default); err != nil {
				t.Errorf("%s: %v", k.Name, err)
			}
		}
	}
	if diff := cmp.Diff(Defaults(), c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("(-Defaults +table)\n%s", diff)
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	for _, k := range append(Keys(), SuiteKeys()...) {
		if k.Type == "" || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: type %q, sentence %q", k.Name, k.Type, k.Doc)
		}
	}
}

func TestPolicies(t *testing.T) {
	regression := triage.Verdict{Class: triage.LikelyRegression}
	flaky := triage.Verdict{Class: triage.IntroducedFlake}
	old := triage.Verdict{Class: triage.PreExistingFlake}
	open := triage.Verdict{}
	for policy, want := range map[string][4]bool{
		"": {}, FailOnNone: {}, FailOnRegression: {true}, FailOnIntroduced: {true, true}, FailOnAny: {true, true, true, true},
	} {
		got := [4]bool{}
		for i, v := range []triage.Verdict{regression, flaky, old, open} {
			got[i] = Config{FailOn: policy}.Fails(v)
		}
		if got != want {
			t.Errorf("%q: %v, want %v", policy, got, want)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("cable pulled") }

func TestReadErrorsNameTheFile(t *testing.T) {
	_, err := Load(brokenReader{}, "t.yml")
	if want := "reading t.yml: cable pulled"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestBlockTextIsReadAsOneLine(t *testing.T) {
	got, err := Load(strings.NewReader("suites:\n- name: a\n  command: >\n    go test\n    ./...\n"), "t.yml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"go", "test", "./..."}, got.Suites[0].Command); diff != "" {
		t.Error(diff)
	}
}
