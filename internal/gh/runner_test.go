package gh

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is a runner's step: its log, and what its files hold.
type step struct {
	*Runner
	log strings.Builder
	env map[string]string
}

func newStep(t *testing.T, env ...string) *step {
	dir := t.TempDir()
	s := &step{env: map[string]string{
		"GITHUB_ACTIONS":      "true",
		"GITHUB_OUTPUT":       filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary"),
	}}
	for i := 0; i < len(env); i += 2 {
		s.env[env[i]] = env[i+1]
	}
	s.Runner = NewRunner(func(k string) string { return s.env[k] }, &s.log)
	return s
}

func (s *step) file(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(s.env[name])
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

// obeyed are the workflow commands of a log as the runner reads it: "::" at the
// start of a line, and nothing between stop-commands and its word.
func obeyed(log string) (commands []string) {
	stop := ""
	for _, line := range regexp.MustCompile(`\r\n|\r|\n`).Split(log, -1) {
		line = strings.TrimSpace(line)
		switch {
		case stop != "":
			if line == "::"+stop+"::" {
				stop = ""
			}
		case strings.HasPrefix(line, "::stop-commands::"):
			stop = strings.TrimPrefix(line, "::stop-commands::")
		case strings.HasPrefix(line, "::"), strings.Contains(line, "##["):
			commands = append(commands, line)
		}
	}
	return commands
}

// outputs reads an output file as the runner does.
func outputs(t *testing.T, text string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		name, end, ok := strings.Cut(lines[i], "<<")
		if !ok {
			t.Fatalf("the output file has the line %q", lines[i])
		}
		var value []string
		for i++; i < len(lines) && lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		out[name] = strings.Join(value, "\n")
	}
	return out
}

func TestOutputsHoldAnyValue(t *testing.T) {
	s := newStep(t)
	values := map[string]string{
		"verdict":     "likely-regression",
		"empty":       "",
		"lines":       "one\ntwo\n\nthree",
		"report-path": "a=b<<EOF\nx\nEOF\nevil=1",
		"library":     "x\n_GitHubActionsFileCommandDelimeter_\nevil=1\nevil<<_GitHubActionsFileCommandDelimeter_\ny",
	}
	for name, v := range values {
		if err := s.Output(name, v); err != nil {
			t.Fatal(err)
		}
	}
	got := outputs(t, s.file(t, "GITHUB_OUTPUT"))
	if len(got) != len(values) {
		t.Errorf("the runner reads %v", got)
	}
	for name, v := range values {
		if got[name] != v {
			t.Errorf("%s is read as %q, want %q", name, got[name], v)
		}
	}
}

func TestAnOutputThatCannotBeSetIsAnError(t *testing.T) {
	s := newStep(t)
	for _, name := range []string{"", "a b", "a=b", "a\nb", "a<<b", "-x"} {
		if err := s.Output(name, "v"); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	s.env["GITHUB_OUTPUT"] = t.TempDir()
	if err := s.Output("x", "v"); err == nil {
		t.Error("a file that cannot be written is no error")
	}
	if err := newStep(t, "GITHUB_STEP_SUMMARY", "").Summary("x"); err == nil {
		t.Error("no summary file is no error")
	}
}

func TestTheSummaryStaysBelowItsLimit(t *testing.T) {
	s := newStep(t)
	if err := s.Summary("# one"); err != nil {
		t.Fatal(err)
	}
	half := strings.Repeat("x", SummaryBytes/2)
	if err := s.Summary(half); err != nil {
		t.Fatal(err)
	}
	if err := s.Summary(half); !errors.Is(err, ErrTooLong) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := s.Summary("the end"); err != nil {
		t.Errorf("a short one still fits: %v", err)
	}
	text := s.file(t, "GITHUB_STEP_SUMMARY")
	if len(text) > SummaryBytes || !strings.HasPrefix(text, "# one\n") || !strings.HasSuffix(text, "the end\n\n") {
		t.Errorf("the summary has %d bytes", len(text))
	}
	// Another process of the step wrote before us.
	other := newStep(t)
	if err := os.WriteFile(other.env["GITHUB_STEP_SUMMARY"], make([]byte, SummaryBytes-10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := other.Summary("a dozen bytes"); !errors.Is(err, ErrTooLong) {
		t.Errorf("after another: %v", err)
	}
}

func TestAnnotationsAreEscapedAndTenOfALevel(t *testing.T) {
	s := newStep(t)
	hostile := Annotation{
		Path: "a,b:c.go", Line: 3, EndLine: 4, Level: Failure,
		Title: "x,line=9::y\n::add-path::/evil", Message: "100% red\n::set-env name=X::y\r::add-mask::z",
	}
	if !s.Annotate(hostile) {
		t.Error("not shown")
	}
	got := obeyed(s.log.String())
	want := "::error endLine=4,file=a%2Cb%3Ac.go,line=3,title=x%2Cline=9%3A%3Ay%0A%3A%3Aadd-path%3A%3A/evil::100%25 red%0A::set-env name=X::y%0D::add-mask::z"
	if len(got) != 1 || got[0] != want {
		t.Errorf("the runner obeys %q", got)
	}
	for i := range 20 {
		if shown := s.Annotate(Annotation{Level: Failure, Message: "m"}); shown != (i < AnnotationsShown-1) {
			t.Errorf("error %d: shown %v", i+2, shown)
		}
	}
	if !s.Annotate(Annotation{Level: Notice, Message: "m"}) || !s.Annotate(Annotation{Level: "unheard of", Message: "m"}) {
		t.Error("another level is counted with it")
	}
	if n := len(obeyed(s.log.String())); n != AnnotationsShown+2 {
		t.Errorf("%d annotations", n)
	}
	if log := s.log.String(); !strings.Contains(log, "\n::notice::m\n::warning::m\n") {
		t.Errorf("the log ends %q", log[len(log)-60:])
	}
}

func TestUntrustedTextCommandsNothing(t *testing.T) {
	hostile := strings.Join([]string{
		"::add-mask::x", "  ::error::y", "##[add-path]/evil", "text ##[set-output]x", "::stop-commands::mine", "::mine::", "::endgroup::", "\r::warning::z",
	}, "\n")
	for _, end := range []string{"", "\n", "\r"} {
		s := newStep(t)
		err := s.Fence(func(w io.Writer) error { _, err := io.WriteString(w, hostile+end); return err })
		if err != nil {
			t.Fatal(err)
		}
		if !s.Annotate(Annotation{Level: Notice, Message: "after"}) {
			t.Error("not shown")
		}
		if got := obeyed(s.log.String()); len(got) != 1 || got[0] != "::notice::after" {
			t.Errorf("end %q: the runner obeys %q", end, got)
		}
		if !strings.Contains(s.log.String(), hostile) {
			t.Error("the text is not there")
		}
	}
}

func TestAFenceIsNewEachTimeAndAlwaysEnds(t *testing.T) {
	s := newStep(t)
	failed := errors.New("failed")
	if err := s.Fence(func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("the error is lost: %v", err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		_ = s.Fence(func(io.Writer) error { panic("x") })
	}()
	words := regexp.MustCompile(`(?m)^::stop-commands::(\S{20,})$`).FindAllStringSubmatch(s.log.String(), -1)
	if len(words) != 2 || words[0][1] == words[1][1] {
		t.Fatalf("the words are %v", words)
	}
	for _, w := range words {
		if !strings.Contains(s.log.String(), "\n::"+w[1]+"::\n") {
			t.Errorf("the fence %s does not end", w[1])
		}
	}
}

func TestGroupsAndMasks(t *testing.T) {
	s := newStep(t)
	err := s.Group("test x\n::add-mask::y", func() error { fmt.Fprintln(&s.log, "inside"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	s.Mask("one\ntwo\r\n\n")
	s.Mask("")
	want := "::group::test x ::add-mask::y\ninside\n::endgroup::\n::add-mask::one\n::add-mask::two\n"
	if got := s.log.String(); got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
}

func TestOutsideActionsThereIsOnlyText(t *testing.T) {
	s := newStep(t, "GITHUB_ACTIONS", "", "RUNNER_DEBUG", "1", "INPUT_REPORT-GLOB", " x ")
	if s.Active() || !s.Debug() || s.Input("report-glob") != "x" {
		t.Errorf("%v %v %q", s.Active(), s.Debug(), s.Input("report-glob"))
	}
	err := errors.Join(s.Output("a", "b"), s.Summary("x"),
		s.Group("g", func() error {
			return s.Fence(func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err })
		}))
	s.Mask("secret")
	if s.Annotate(Annotation{Message: "m"}) || err != nil || s.log.String() != "text" {
		t.Errorf("%v, the log is %q", err, s.log.String())
	}
	if s.file(t, "GITHUB_OUTPUT") != "" || s.file(t, "GITHUB_STEP_SUMMARY") != "" {
		t.Error("files were written")
	}
}

type brokenLog struct{}

func (brokenLog) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestALogThatCannotBeWrittenIsAnError(t *testing.T) {
	s := newStep(t)
	r := NewRunner(func(k string) string { return s.env[k] }, brokenLog{})
	if err := r.Fence(func(io.Writer) error { t.Error("written without a fence"); return nil }); err == nil {
		t.Error("Fence: no error")
	}
	if r.Annotate(Annotation{Message: "m"}) {
		t.Error("Annotate: shown")
	}
	if err := r.Group("x", func() error { return nil }); err == nil {
		t.Error("Group: no error")
	}
}

func FuzzOutput(f *testing.F) {
	f.Add("plain")
	f.Add("a<<b\nb\nevil=1\n")
	f.Add("\n\n")
	f.Fuzz(func(t *testing.T, value string) {
		s := newStep(t)
		if err := s.Output("x", value); err != nil {
			t.Fatal(err)
		}
		if got := outputs(t, s.file(t, "GITHUB_OUTPUT")); len(got) != 1 || got["x"] != value {
			t.Fatalf("%q is read as %q", value, got)
		}
	})
}

func FuzzRunnerObeysNothing(f *testing.F) {
	f.Add("::add-mask::x", "##[error]y")
	f.Add("\r::x::", "a\n::stop-commands::b\n::b::")
	f.Fuzz(func(t *testing.T, foreign, title string) {
		s := newStep(t)
		if err := s.Fence(func(w io.Writer) error { _, err := io.WriteString(w, foreign); return err }); err != nil {
			t.Fatal(err)
		}
		s.Annotate(Annotation{Path: title, Title: title, Message: foreign, Level: Notice})
		if got := obeyed(s.log.String()); len(got) != 1 || !strings.HasPrefix(got[0], "::notice") {
			t.Fatalf("the runner obeys %q", got)
		}
		if line := oneLine(foreign); len(line) > maxMessage+len("…") || strings.ContainsAny(line, "\n\r\x00\x1b\u202e") {
			t.Fatalf("%q is printed as %q", foreign, line)
		}
	})
}
