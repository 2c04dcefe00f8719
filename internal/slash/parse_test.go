package slash

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		body string
		want Command
	}{
		"alone":                        {"/triage", Command{Action: Measure}},
		"with a line end of Windows":   {"/triage\r\nplease", Command{Action: Measure}},
		"one test":                     {"/triage TestParse/empty", Command{Action: Measure, Tests: []string{"TestParse/empty"}}},
		"quoted tests":                 {`/triage 'TestA/with blanks' "TestB/it's"`, Command{Action: Measure, Tests: []string{"TestA/with blanks", "TestB/it's"}}},
		"a test twice":                 {"/triage TestA TestA", Command{Action: Measure, Tests: []string{"TestA"}}},
		"options":                      {"/triage runs=20 lag=500ms", Command{Action: Measure, Runs: 20, Lag: "500ms"}},
		"options beside a test":        {"/triage\tlag=off  TestÄ/日本 runs=1", Command{Action: Measure, Tests: []string{"TestÄ/日本"}, Runs: 1, Lag: "off"}},
		"rerun":                        {"/triage rerun", Command{Action: Rerun}},
		"help":                         {"/triage help\n\nthanks", Command{Action: Help}},
		"a test named rerun":           {"/triage 'rerun'", Command{Action: Measure, Tests: []string{"rerun"}}},
		"help behind a test":           {"/triage TestA help", Command{Action: Measure, Tests: []string{"TestA", "help"}}},
		"an equals sign in a test":     {"/triage TestA/a=b 'runs=3'", Command{Action: Measure, Tests: []string{"TestA/a=b", "runs=3"}}},
		"options of other programs":    {"/triage -exec=/bin/sh --fail-on=none -", Command{Action: Measure, Tests: []string{"-exec=/bin/sh", "--fail-on=none", "-"}}},
		"characters of a shell":        {"/triage $(id) `id` ;rm >x &", Command{Action: Measure, Tests: []string{"$(id)", "`id`", ";rm", ">x", "&"}}},
		"a backslash means nothing":    {`/triage TestA\ b`, Command{Action: Measure, Tests: []string{`TestA\`, "b"}}},
		"expressions of the runner's":  {"/triage ${{secrets.X}}", Command{Action: Measure, Tests: []string{"${{secrets.X}}"}}},
		"only the first line counts":   {"/triage TestA\n/triage TestB runs=3", Command{Action: Measure, Tests: []string{"TestA"}}},
		"a longer duration, rewritten": {"/triage lag=1s", Command{Action: Measure, Lag: "1s"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Parse (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNoCommand(t *testing.T) {
	for _, body := range []string{
		"", "hello", " /triage", "\n/triage", "> /triage", "`/triage`", "/triagebot", "/triage-now", "/Triage",
		"please /triage", "\ufeff/triage", "//triage", "/triage\u00a0x", "/triage\vx",
	} {
		if _, err := Parse(body); !errors.Is(err, ErrNone) {
			t.Errorf("Parse(%q) = %v, want no command", body, err)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	many := "/triage"
	for i := range maxTests + 1 {
		many += " T" + strings.Repeat("x", i)
	}
	for name, tc := range map[string]struct{ body, want string }{
		"an open quote":           {"/triage 'TestA", "not closed"},
		"glued quotes":            {"/triage 'Test'A", "blank is missing"},
		"an empty test":           {"/triage ''", "empty name"},
		"an unknown option":       {"/triage budget=9h", `no option "budget"`},
		"no number":               {"/triage runs=many", "runs is a number"},
		"too many runs":           {"/triage runs=101", "runs is a number"},
		"a number written oddly":  {"/triage runs=+5", "runs is a number"},
		"runs twice":              {"/triage runs=1 runs=2", "twice"},
		"lag twice":               {"/triage lag=off lag=auto", "twice"},
		"too much lag":            {"/triage lag=1h", "lag is"},
		"lag with a comma":        {"/triage lag=worker-10,x", "lag is"},
		"less than a millisecond": {"/triage lag=1.5ms", "lag is"},
		"words behind rerun":      {"/triage rerun TestA", "takes nothing"},
		"too many tests":          {many, "more than 20"},
		"a long name":             {"/triage " + strings.Repeat("x", maxTest+1), "more than 512"},
		"a long line":             {"/triage " + strings.Repeat("x ", maxLine), "more than 2000"},
		"text that turns around":  {"/triage Test\u202eA", "U+202E"},
		"an escape":               {"/triage Test\x1b[31m", "U+001B"},
		"a zero byte":             {"/triage Test\x00", "U+0000"},
		"a carriage return":       {"/triage Test\rA", "U+000D"},
		"bytes that are no text":  {"/triage Test\xff", "not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(tc.body)
			if err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Parse(%q) = %v, want %q", tc.body, err, tc.want)
			}
		})
	}
}

func TestFlagsAreSingleArguments(t *testing.T) {
	c := Command{Action: Measure, Tests: []string{"-exec=sh", "TestA b"}, Runs: 20, Lag: "500ms"}
	want := []string{"--test=-exec=sh", "--test=TestA b", "--max-trials=20", "--lag=worker-500"}
	if diff := cmp.Diff(want, c.Flags()); diff != "" {
		t.Errorf("Flags (-want +got):\n%s", diff)
	}
	if got := (Command{Lag: "off"}).Flags(); !slices.Equal(got, []string{"--lag=off"}) {
		t.Errorf("Flags of lag=off: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"/triage", "/triage 'a b' runs=3 lag=10ms", "/triage --x=\"$(id)\"", "/triage \xff", "/triage lag=1h2m", "x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, body string) {
		c, err := Parse(body)
		if err != nil {
			if !utf8.ValidString(err.Error()) || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("Parse(%q): the error is not fit to be shown: %q", body, err)
			}
			return
		}
		if !strings.HasPrefix(body, Name) || c.Action == "" || len(c.Tests) > maxTests {
			t.Fatalf("Parse(%q) = %+v", body, c)
		}
		line, _, _ := strings.Cut(body, "\n")
		for _, test := range c.Tests {
			if !strings.Contains(line, test) || strings.ContainsAny(test, "\n\r\x00") {
				t.Fatalf("Parse(%q): %q is not in the line", body, test)
			}
		}
		for _, flag := range c.Flags() {
			if !strings.HasPrefix(flag, "--test=") && !strings.HasPrefix(flag, "--max-trials=") && !strings.HasPrefix(flag, "--lag=") {
				t.Fatalf("Parse(%q): flag %q", body, flag)
			}
		}
	})
}
