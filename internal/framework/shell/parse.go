package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Unknown stands in a word for what only a shell can tell: the value of a
// variable, or what a command prints.
const Unknown = "\x00"

// Step is one simple command of a line.
type Step struct {
	// Env are the words KEY=VALUE before the command.
	Env []string
	// Words are the command and its arguments, without quotes and redirections.
	Words []string
	// Dir is where "cd" before it leads, relative to where the line is started; ""
	// for there.
	Dir string
	// Odd says what kind of shell's construct the step is in, empty for none.
	Odd string
}

// maxLine bounds what is read of a line, in bytes: one that nests deeper than any
// script would cost much to read.
const maxLine = 16 << 10

// reName is the name of a variable.
var reName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Assignment takes a word KEY=VALUE apart.
func Assignment(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, "=")
	return name, value, ok && reName.MatchString(name)
}

// Assignments are the words KEY=VALUE that a command begins with, and the rest of it.
func Assignments(words []string) (env, rest []string) {
	for i, w := range words {
		if _, _, ok := Assignment(w); !ok {
			return words[:i:i], words[i:]
		}
	}
	return words, nil
}

// passive are programs whose arguments may name others that they do not run, or
// not on this machine.
var passive = []string{
	"echo", "printf", "which", "rm", "cp", "mkdir", "install", "pkill", "git", "pip", "pip3", "apt-get", "docker", "docker-compose", "podman", "ssh", "kubectl",
}

// Passive tells that what a program's arguments name does not run here.
func Passive(program string) bool { return slices.Contains(passive, path.Base(program)) }

// Parse tells the simple commands of a line apart, in the order in which they
// are written, without "cd" and "export": their effect is in the steps behind them.
// Of a line that no shell would take, its words are one odd step.
func Parse(line string) []Step {
	line = strings.ReplaceAll(line, Unknown, "")
	var r reader
	if len(line) > maxLine {
		return []Step{{Words: strings.Fields(line[:maxLine]), Odd: "a line that is too long to read"}}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		r.add(Step{Words: strings.Fields(line), Odd: "a line that no shell takes"})
		return r.steps
	}
	r.all(file.Stmts, "")
	return r.steps
}

// reader is a shell as it reads a line.
type reader struct {
	steps []Step
	// dir and env are what "cd" and "export" have set; lost says that only a shell
	// knows where it is.
	dir  string
	env  []string
	lost bool
}

func (r *reader) add(s Step) {
	switch {
	case len(s.Env)+len(s.Words) == 0:
		return
	case len(s.Words) == 0: // variables of the shell alone
	case s.Words[0] == "export":
		for _, w := range s.Words[1:] {
			if _, _, ok := Assignment(w); ok {
				r.env = append(slices.Clone(r.env), w)
			}
		}
		return
	case s.Words[0] == "cd":
		if len(s.Words) != 2 || strings.Contains(s.Words[1], Unknown) || path.IsAbs(s.Words[1]) || strings.HasPrefix(s.Words[1], "-") || strings.HasPrefix(s.Words[1], "~") {
			r.lost = true
			return
		}
		r.dir = path.Join(r.dir, s.Words[1])
		return
	}
	if r.lost && s.Odd == "" {
		s.Odd = "a directory that only a shell knows"
	}
	s.Dir, s.Env = r.dir, slices.Concat(r.env, s.Env)
	r.steps = append(r.steps, s)
}

func (r *reader) all(stmts []*syntax.Stmt, odd string) {
	for _, s := range stmts {
		r.stmt(s, odd)
	}
}

// stmt reads a statement, which stands in an odd construct unless odd is empty.
func (r *reader) stmt(s *syntax.Stmt, odd string) {
	for _, to := range s.Redirs {
		if to.Hdoc != nil {
			odd = "a here-document"
		}
	}
	switch c := s.Cmd.(type) {
	case nil: // nothing but a redirection
	case *syntax.CallExpr:
		r.call(c, odd)
	case *syntax.BinaryCmd:
		r.stmt(c.X, odd)
		r.stmt(c.Y, odd)
	case *syntax.DeclClause: // export A=1
		step := Step{Words: []string{c.Variant.Value}, Odd: odd}
		for _, a := range c.Args {
			step.Words = append(step.Words, assigned(a))
		}
		r.add(step)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			r.stmt(c.Stmt, odd)
		}
	case *syntax.Subshell:
		dir, env, lost := r.dir, r.env, r.lost
		r.all(c.Stmts, odd)
		r.dir, r.env, r.lost = dir, env, lost
	default:
		dir := r.dir
		syntax.Walk(c, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok {
				r.call(call, "a condition or loop")
			}
			return true
		})
		r.lost, r.dir = r.lost || r.dir != dir, dir
	}
}

func (r *reader) call(c *syntax.CallExpr, odd string) {
	s := Step{Odd: odd}
	for _, a := range c.Assigns {
		s.Env = append(s.Env, assigned(a))
	}
	for _, w := range c.Args {
		s.Words = append(s.Words, word(w.Parts, false))
	}
	r.add(s)
}

// assigned is an assignment as KEY=VALUE, or a name alone.
func assigned(a *syntax.Assign) string {
	name := ""
	if a.Name != nil {
		name = a.Name.Value
	}
	switch {
	case a.Naked && a.Value != nil:
		return name + word(a.Value.Parts, false)
	case a.Naked:
		return name
	case a.Value != nil:
		return name + "=" + word(a.Value.Parts, false)
	}
	return name + "="
}

// word is a word's text.
func word(parts []syntax.WordPart, quoted bool) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(unescaped(p.Value, quoted))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(word(p.Parts, true))
		case *syntax.ExtGlob:
			b.WriteString(p.Op.String() + p.Pattern.Value + ")")
		default:
			b.WriteString(Unknown)
		}
	}
	return b.String()
}

// unescaped takes the backslashes of a literal away: in double quotes only those
// before what they keep from its meaning.
func unescaped(s string, quoted bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\", s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
