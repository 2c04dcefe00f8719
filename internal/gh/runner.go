package gh

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"
)

// SummaryBytes is the most that one step may write to its job summary.
const SummaryBytes = 1 << 20

// AnnotationsShown is how many annotations of a level GitHub shows of a step.
const AnnotationsShown = 10

// Runner is the GitHub runner under a step: its log, outputs and summary.
// Outside Actions commands are dropped, and text is written as it is.
type Runner struct {
	getenv func(string) string
	out    io.Writer
	act    *githubactions.Action

	mu      sync.Mutex
	shown   map[Level]int
	summary int64 // bytes written by this process
}

// NewRunner reads GITHUB_ACTIONS, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY,
// RUNNER_DEBUG and the INPUT_ variables through getenv and writes commands to
// w, which must be the step's standard output.
func NewRunner(getenv func(string) string, w io.Writer) *Runner {
	return &Runner{
		getenv: getenv, out: w, shown: map[Level]int{},
		act: githubactions.New(githubactions.WithGetenv(getenv), githubactions.WithWriter(w)),
	}
}

// Active reports whether a runner is there.
func (r *Runner) Active() bool { return r.getenv("GITHUB_ACTIONS") == "true" }

// Debug reports whether the user asked for a debug log.
func (r *Runner) Debug() bool { return r.getenv("RUNNER_DEBUG") == "1" }

// Input reads an action input by its name in action.yml.
func (r *Runner) Input(name string) string { return r.act.GetInput(name) }

// word is a name that means nothing to the runner's files.
var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,99}$`)

// Output sets an output of the step. The name is a word of ours; the value may
// be anything.
func (r *Runner) Output(name, value string) error {
	if !word.MatchString(name) {
		return fmt.Errorf("setting output %q: the name is no word", name)
	}
	if !r.Active() {
		return nil
	}
	// The library ends a value with a fixed line, which a value may hold; ours
	// is new each time.
	end, err := randomWord()
	if err != nil {
		return fmt.Errorf("setting output %q: %w", name, err)
	}
	err = try(func() {
		r.act.IssueFileCommand(&githubactions.Command{Name: "output", Message: name + "<<" + end + "\n" + value + "\n" + end})
	})
	if err != nil {
		return fmt.Errorf("setting output %q: %w", name, err)
	}
	return nil
}

// Summary adds Markdown to the job summary. What would take the file beyond
// [SummaryBytes] is [ErrTooLong] and not written: GitHub would drop the whole
// summary.
func (r *Runner) Summary(markdown string) error {
	if !r.Active() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	has := r.summary
	if f, err := os.Stat(r.getenv("GITHUB_STEP_SUMMARY")); err == nil {
		has = max(has, f.Size())
	}
	if n := has + int64(len(markdown)) + 2; n > SummaryBytes {
		return fmt.Errorf("writing the job summary: %d bytes, GitHub takes %d: %w", n, SummaryBytes, ErrTooLong)
	}
	if err := try(func() { r.act.AddStepSummary(markdown + "\n") }); err != nil {
		return fmt.Errorf("writing the job summary: %w", err)
	}
	r.summary = has + int64(len(markdown)) + 2
	return nil
}

// Annotate shows a remark in the check and on the file. It is false when ten of
// the level were shown already, as GitHub would drop it, or it cannot be written.
func (r *Runner) Annotate(a Annotation) bool {
	if !r.Active() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Level != Notice && a.Level != Failure {
		a.Level = Warning
	}
	if r.shown[a.Level] >= AnnotationsShown {
		return false
	}
	r.shown[a.Level]++
	fields := map[string]string{}
	for name, v := range map[string]string{"file": a.Path, "line": line(a.Line), "endLine": line(a.EndLine), "title": a.Title} {
		if v != "" {
			fields[name] = v
		}
	}
	issue := map[Level]func(string, ...any){}
	act := r.act.WithFieldsMap(fields)
	issue[Notice], issue[Warning], issue[Failure] = act.Noticef, act.Warningf, act.Errorf
	message := strings.ToValidUTF8(a.Message[:min(len(a.Message), maxAnnotation)], "\uFFFD")
	return try(func() { issue[a.Level]("%s", message) }) == nil
}

func line(n int) string {
	if n < 1 {
		return ""
	}
	return strconv.Itoa(n)
}

// Mask hides a secret in the log from here on, each of its lines.
func (r *Runner) Mask(secret string) {
	if !r.Active() {
		return
	}
	for s := range strings.Lines(secret) {
		if s = strings.TrimSpace(s); s != "" {
			_ = try(func() { r.act.AddMask(s) }) // the log is gone: nothing to hide
		}
	}
}

// Group folds what write writes, under a title.
func (r *Runner) Group(title string, write func() error) error {
	if !r.Active() {
		return write()
	}
	if err := try(func() { r.act.Group(oneLine(title)) }); err != nil {
		return err
	}
	err := write()
	return errors.Join(err, try(r.act.EndGroup))
}

// Fence lets write print untrusted text: between the fences the runner obeys no
// command in it. The fence's word is new and random each time. Nothing else may
// be written to the log meanwhile, and standard error is not covered.
func (r *Runner) Fence(write func(w io.Writer) error) (err error) {
	if !r.Active() {
		return write(r.out)
	}
	end, err := randomWord()
	if err != nil {
		return fmt.Errorf("fencing output: %w", err)
	}
	if _, err := fmt.Fprintf(r.out, "::stop-commands::%s\n", end); err != nil {
		return fmt.Errorf("fencing output: %w", err)
	}
	w := &lastByte{w: r.out, last: '\n'}
	defer func() { // also when write panics: the runner would stay deaf
		text := "::" + end + "::\n"
		if w.last != '\n' {
			text = "\n" + text
		}
		if _, werr := io.WriteString(r.out, text); werr != nil {
			err = errors.Join(err, fmt.Errorf("fencing output: %w", werr))
		}
	}()
	return write(w)
}

// lastByte remembers the last byte that went through it.
type lastByte struct {
	w    io.Writer
	last byte
}

// Write implements [io.Writer].
func (l *lastByte) Write(p []byte) (int, error) {
	n, err := l.w.Write(p)
	if n > 0 {
		l.last = p[n-1]
	}
	return n, err
}

// randomWord is a word that nobody can have written before.
func randomWord() (string, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return "triagebot-" + hex.EncodeToString(b), nil
}

// try turns the library's panics, which are failed writes, into errors.
func try(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error:
			panic(p) // a bug, no failed write
		case error:
			err = p
		default:
			err = fmt.Errorf("%v", p)
		}
	}()
	f()
	return nil
}
