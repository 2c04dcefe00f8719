package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

// LedgerPath is where the ledger of known reds stands by default.
const LedgerPath = ".github/known-red.txt"

// Caps on a ledger. One that comes near them is no list of exceptions any more.
const (
	maxLedger = 1 << 20 // bytes
	maxName   = 4096    // bytes of one name
)

// Ledger is a list of tests that are known to be red. It only shrinks. Reds on it
// are measured and judged like any other.
type Ledger struct {
	// Path is the file's name, for messages.
	Path    string
	Entries []Entry
	// raw has the lines with their ends, for a patch.
	raw []string
}

// Entry is one test on the ledger.
type Entry struct {
	// Name is the test as it is written there; see [Entry.Is].
	Name string
	// Line counts from 1.
	Line int
	// Comment is the block of comment lines right above, without their marks.
	Comment string
}

// ParseLedger reads a ledger: one test a line, as --test takes it; comments are
// lines that begin with "#". What is wrong is told with its line, all of it at
// once, and the rest is returned beside it.
func ParseLedger(r io.Reader, path string) (Ledger, error) {
	l := Ledger{Path: path}
	text, err := io.ReadAll(io.LimitReader(r, maxLedger+1))
	if err != nil {
		return l, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(text) > maxLedger {
		return l, fmt.Errorf("reading %s: it is larger than %d bytes", path, maxLedger)
	}
	var wrong []error
	at := map[string]int{}
	var comment []string
	l.raw = slices.Collect(strings.Lines(string(text)))
	for i, raw := range l.raw {
		line := strings.TrimSpace(strings.TrimPrefix(raw, "\ufeff"))
		switch {
		case line == "":
			comment = nil
			continue
		case strings.HasPrefix(line, "#"):
			comment = append(comment, strings.TrimSpace(strings.TrimLeft(line, "#")))
			continue
		}
		if err := validName(line); err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", path, i+1, err))
			continue
		}
		if first, ok := at[line]; ok {
			wrong = append(wrong, fmt.Errorf("%s:%d: %s is on line %d already: delete one of the lines", path, i+1, line, first))
			continue
		}
		at[line] = i + 1
		l.Entries = append(l.Entries, Entry{Name: line, Line: i + 1, Comment: strings.Join(comment, "\n")})
		comment = nil
	}
	return l, errors.Join(wrong...)
}

func validName(s string) error {
	switch {
	case len(s) > maxName:
		return fmt.Errorf("a name of %d bytes is no test: at most %d are read", len(s), maxName)
	case !utf8.ValidString(s):
		return errors.New("the line is not UTF-8")
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return fmt.Errorf("%q has a character that is not seen: delete it", s)
	}
	return nil
}

// Is reports whether the entry names a test: by the test's name alone, or with
// its package or file before it, in the ways that the frameworks write it.
func (e Entry) Is(t triage.Target) bool {
	if t.IsCommand() {
		return e.Name == t.Package
	}
	if e.Name == t.Test {
		return true
	}
	rest, ok := strings.CutPrefix(e.Name, t.Package)
	if !ok || t.Package == "" {
		return false
	}
	for _, joint := range []string{" ", ".", "::", " > "} {
		if rest == joint+t.Test {
			return true
		}
	}
	return false
}

// Find is the entry that names a test.
func (l Ledger) Find(t triage.Target) (Entry, bool) {
	i := slices.IndexFunc(l.Entries, func(e Entry) bool { return e.Is(t) })
	if i < 0 {
		return Entry{}, false
	}
	return l.Entries[i], true
}

// Fault is a line that a ledger must not have.
type Fault struct {
	Entry
	// Text says what is wrong and what to do.
	Text string
}

// Lister tells which of the names are not tests of the head tree any more, and of
// which it cannot tell.
type Lister func(ctx context.Context, names []string) (gone, unclear []string, err error)

// CheckLedger holds head's ledger against base's: a name that was added is a
// fault, and so is one that names no test any more. Unclear are the names that
// the lister cannot tell of.
func CheckLedger(ctx context.Context, base, head Ledger, list Lister) (faults []Fault, unclear []string, err error) {
	known := map[string]bool{}
	for _, e := range base.Entries {
		known[e.Name] = true
	}
	for _, e := range head.Entries {
		if !known[e.Name] {
			faults = append(faults, Fault{e, "added: the ledger of known reds only shrinks; mend the test, or leave it red"})
		}
	}
	if list == nil || len(head.Entries) == 0 {
		return faults, nil, nil
	}
	gone, unclear, err := list(ctx, head.names())
	if err != nil {
		return nil, nil, err
	}
	for _, e := range head.Entries {
		if slices.Contains(gone, e.Name) {
			faults = append(faults, Fault{e, "there is no such test any more: delete the line"})
		}
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return a.Line - b.Line })
	return faults, unclear, nil
}

func (l Ledger) names() []string {
	var out []string
	for _, e := range l.Entries {
		out = append(out, e.Name)
	}
	return out
}

// Without is the patch that takes lines from the ledger, in the unified format
// that git apply and patch read. A comment goes with the last entry below it.
func (l Ledger) Without(entries []Entry) string {
	drop := map[int]bool{}
	for _, e := range entries {
		drop[e.Line-1] = true
	}
	for i := range l.raw {
		if drop[i] && (i+1 == len(l.raw) || !drop[i+1]) {
			l.dropComment(i, drop)
		}
	}
	return removal(l.Path, l.raw, drop)
}

// dropComment also drops the comment above a run of dropped lines that ends at i,
// unless an entry that stays follows right below: then it may speak of that too.
func (l Ledger) dropComment(i int, drop map[int]bool) {
	text := func(i int) string { return strings.TrimSpace(l.raw[i]) }
	if i+1 < len(l.raw) && text(i+1) != "" && !strings.HasPrefix(text(i+1), "#") {
		return
	}
	for drop[i] {
		i--
	}
	for ; i >= 0 && strings.HasPrefix(text(i), "#"); i-- {
		drop[i] = true
	}
}

// around is the number of lines of context of a patch.
const around = 3

// removal writes the unified diff that drops lines.
func removal(path string, lines []string, drop map[int]bool) string {
	var b strings.Builder
	gone := 0
	for i := 0; i < len(lines); i++ {
		if !drop[i] {
			continue
		}
		last := i
		for j := i; j < len(lines) && j <= last+2*around; j++ {
			if drop[j] {
				last = j
			}
		}
		from, to := max(0, i-around), min(len(lines), last+1+around)
		removed := 0
		var hunk strings.Builder
		for j := from; j < to; j++ {
			mark := " "
			if drop[j] {
				mark, removed = "-", removed+1
			}
			hunk.WriteString(mark + lines[j])
			if !strings.HasSuffix(lines[j], "\n") {
				hunk.WriteString("\n\\ No newline at end of file\n")
			}
		}
		fmt.Fprintf(&b, "@@ -%s +%s @@\n%s", span(from, to-from), span(from-gone, to-from-removed), hunk.String())
		gone += removed
		i = to - 1
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("--- a/%s\n+++ b/%s\n%s", path, path, b.String())
}

// span is a range of a hunk's head; an empty one is numbered by the line before it.
func span(from, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}
