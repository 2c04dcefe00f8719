package golag

import (
	"bytes"
	"fmt"
	"go/token"
	"hash/fnv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

// source is one file and what is to be inserted into it.
type source struct {
	unit
	src   []byte
	out   string
	sites []*mark
	edits []edit
	count map[string]int
	// alias is the runtime's name in the file, handle the variable that carries the file's sites.
	alias, handle string
	// clause is the offset right after the package clause.
	clause int
	// dropped is set when the whole file stays as it was; strikes counts the
	// compile errors that were laid at its door.
	dropped bool
	strikes int
}

// mark is a site with what is needed to take it out again.
type mark struct {
	triage.Site
	ordinal int
	// from and to are the lines of the function declaration around it.
	from, to int
	dropped  bool
}

// edit is an insertion. Edits at one offset are ordered by rank.
type edit struct {
	off, line int
	rank      rank
	site      int
	text      string
}

// rank orders insertions at the same offset: what closes an expression, what
// follows a statement, what opens a block, what precedes a statement, what
// opens an expression.
type rank int

const (
	closing rank = iota
	following
	entering
	preceding
	opening
)

func newSource(u unit, src []byte) *source {
	f := &source{unit: u, src: src, count: map[string]int{}, clause: u.offset(u.file.Name.End())}
	h := fnv.New32a()
	h.Write([]byte(u.rel))
	f.alias = f.free("__lag")
	f.handle = f.free(fmt.Sprintf("__lag_%08x", h.Sum32()))
	return f
}

func (u unit) offset(p token.Pos) int { return u.fset.PositionFor(p, false).Offset }

func (u unit) line(p token.Pos) int { return u.fset.PositionFor(p, false).Line }

// free finds a name that occurs nowhere in the file.
func (f *source) free(name string) string {
	for bytes.Contains(f.src, []byte(name)) {
		name += "_"
	}
	return name
}

var (
	lineDirective = regexp.MustCompile(`(?m)^//line |/\*line `)
	generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.\r?$`)
)

// unfit says why a file cannot or should not be rewritten, or nothing.
func unfit(u unit, src []byte) string {
	for _, i := range u.file.Imports {
		if i.Path.Value == `"C"` {
			return "it uses cgo"
		}
	}
	switch {
	case lineDirective.Match(src):
		return "it has //line directives"
	case generatedLine.Match(src[:min(len(src), 64<<10)]) && !u.isMock():
		return "it is generated"
	}
	return ""
}

// add makes a site; its ordinal counts the kind within the function.
func (f *source) add(kind triage.Kind, pos token.Pos, fn string, test bool, around span) int {
	name := fn + ":" + string(kind)
	f.count[name]++
	m := &mark{ordinal: f.count[name], from: around.from, to: around.to}
	m.Site = triage.Site{
		ID:   fmt.Sprintf("%s:%s:%d", f.rel, name, m.ordinal),
		Kind: kind, File: f.rel, Line: f.line(pos), Func: fn, Text: f.textAt(f.offset(pos)), Test: test,
	}
	f.sites = append(f.sites, m)
	return len(f.sites) - 1
}

// insert notes text for the site at a position.
func (f *source) insert(site int, at token.Pos, r rank, text string) {
	f.edits = append(f.edits, edit{off: f.offset(at), line: f.line(at), rank: r, site: site, text: text})
}

// call is a call of the runtime for a site, up to the closing parenthesis.
func (f *source) call(fn string, site int) string {
	return fmt.Sprintf("%s.%s(&%s, %d", f.alias, fn, f.handle, site)
}

// maxText bounds the source line that is shown for a site, in bytes.
const maxText = 120

func (f *source) textAt(off int) string {
	start := bytes.LastIndexByte(f.src[:off], '\n') + 1
	end := len(f.src)
	if i := bytes.IndexByte(f.src[off:], '\n'); i >= 0 {
		end = off + i
	}
	s := strings.TrimSpace(string(f.src[start:end]))
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// live counts the sites that are left.
func (f *source) live() int {
	n := 0
	for _, m := range f.sites {
		if !m.dropped {
			n++
		}
	}
	return n
}

// list has the sites that are left, for people and plans.
func (f *source) list() []triage.Site {
	var s []triage.Site
	for _, m := range f.sites {
		if !m.dropped {
			s = append(s, m.Site)
		}
	}
	return s
}

// render makes the rewritten file. All but the last insertion keep their line;
// the last stands below the file's end.
func (f *source) render(runtime string) []byte {
	edits := slices.Clone(f.edits)
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.off != b.off {
			return a.off - b.off
		}
		return int(a.rank - b.rank)
	})
	var b bytes.Buffer
	b.Write(f.src[:f.clause])
	fmt.Fprintf(&b, "; import %s %q", f.alias, runtime)
	at := f.clause
	for _, e := range edits {
		if f.sites[e.site].dropped {
			continue
		}
		b.Write(f.src[at:e.off])
		b.WriteString(e.text)
		at = e.off
	}
	b.Write(f.src[at:])
	fmt.Fprintf(&b, "\nvar %s = %s.File{Name: %q, Sites: %s}\n", f.handle, f.alias, f.rel, strconv.Quote(f.table()))
	return b.Bytes()
}

// table is the runtime's view of the sites; their numbers never change, so a
// dropped one keeps its line.
func (f *source) table() string {
	var b strings.Builder
	for _, m := range f.sites {
		where := "p"
		if m.Test {
			where = "t"
		}
		fmt.Fprintf(&b, "%s\t%s\t%s\t%d\n", m.Kind, where, m.Func, m.ordinal)
	}
	return b.String()
}
