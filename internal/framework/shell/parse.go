package shell

import (
	"regexp"
	"slices"
	"strings"
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
	// Odd says what kind of shell's construct the step is in, empty for none.
	Odd string
}

// reName is the name of a variable.
var reName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Assignment takes a word KEY=VALUE apart.
func Assignment(word string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(word, "=")
	return name, value, ok && reName.MatchString(name)
}

// constructs are words that make a step a part of something larger.
var constructs = []string{"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "{", "}", "[", "[[", "test"}

// Parse tells the simple commands of a line apart, in order, at the words of a
// POSIX shell between them: && || ; | & and the ends of lines.
func Parse(line string) []Step {
	r := reader{rest: strings.ReplaceAll(strings.ReplaceAll(line, Unknown, ""), "\\\n", " ")}
	for r.rest != "" {
		r.next()
	}
	r.step()
	return r.steps
}

type reader struct {
	rest  string
	steps []Step
	words []string
	// literal tells of each word that its beginning was not quoted, as an assignment's is.
	literal []bool
	word    strings.Builder
	open    bool
	quoted  bool
	// drop is set when the next word is a redirection's file.
	drop bool
	odd  string
}

// take puts text into the word, and goes on behind the first n bytes.
func (r *reader) take(text string, n int) {
	r.word.WriteString(text)
	r.open = true
	r.rest = r.rest[n:]
}

// end closes the word.
func (r *reader) end() {
	switch {
	case r.open && r.drop:
		r.drop = false
	case r.open:
		r.words = append(r.words, r.word.String())
		r.literal = append(r.literal, !r.quoted)
	}
	r.word.Reset()
	r.open, r.quoted = false, false
}

// step closes the command.
func (r *reader) step() {
	r.end()
	s := Step{Odd: r.odd}
	i := 0
	for ; i < len(r.words); i++ {
		if _, _, ok := Assignment(r.words[i]); !ok || !r.literal[i] {
			break
		}
		s.Env = append(s.Env, r.words[i])
	}
	s.Words = r.words[i:]
	if len(s.Words) > 0 && slices.Contains(constructs, s.Words[0]) {
		s.Odd = "a condition or loop"
	}
	if len(s.Env)+len(s.Words) > 0 {
		r.steps = append(r.steps, s)
	}
	r.words, r.literal, r.drop = nil, nil, false
}

// next reads one character, quoted part or operator.
func (r *reader) next() {
	switch c := r.rest[0]; c {
	case ' ', '\t', '\r':
		r.end()
		r.rest = r.rest[1:]
	case '\n', ';', '|', '&':
		r.operator(c)
	case '>', '<':
		r.redirect()
	case '(', ')':
		r.step()
		r.odd = "a subshell"
		r.rest = r.rest[1:]
	case '\'':
		text, _, closed := strings.Cut(r.rest[1:], "'")
		r.quoted = r.quoted || !r.open
		r.take(text, min(len(text)+2, len(r.rest)))
		if !closed {
			r.odd = "a quote that is not closed"
		}
	case '"':
		r.double()
	case '\\':
		n := min(2, len(r.rest))
		r.take(r.rest[1:n], n)
	case '$', '`':
		r.expansion()
	case '#':
		if r.open {
			r.take("#", 1)
			return
		}
		_, after, _ := strings.Cut(r.rest, "\n")
		r.rest = strings.TrimSuffix("\n"+after, "\n")
	default:
		r.take(r.rest[:1], 1)
	}
}

// operator is what stands between two commands. "&>" is a redirection.
func (r *reader) operator(c byte) {
	if c == '&' && strings.HasPrefix(r.rest, "&>") {
		r.end()
		r.rest = r.rest[1:]
		return
	}
	r.step()
	r.rest = r.rest[1:]
}

// redirect leaves out a redirection with its file, and the number before it.
func (r *reader) redirect() {
	if r.open && strings.Trim(r.word.String(), "0123456789") == "" {
		r.word.Reset()
		r.open = false
	}
	r.end()
	if strings.HasPrefix(r.rest, "<<") || strings.HasPrefix(r.rest, "<(") || strings.HasPrefix(r.rest, ">(") {
		r.odd = "a here-document or a process substitution"
	}
	r.rest = strings.TrimLeft(r.rest, "<>|&")
	r.drop = true
}

// double reads a part in double quotes.
func (r *reader) double() {
	r.quoted = r.quoted || !r.open
	r.take("", 1)
	for r.rest != "" {
		switch c := r.rest[0]; {
		case c == '"':
			r.take("", 1)
			return
		case c == '$' || c == '`':
			r.expansion()
		case c == '\\' && len(r.rest) > 1 && strings.IndexByte("$`\"\\", r.rest[1]) >= 0:
			r.take(r.rest[1:2], 2)
		default:
			r.take(r.rest[:1], 1)
		}
	}
	r.odd = "a quote that is not closed"
}

// reExpansion is a variable, or a command whose output is meant.
var reExpansion = regexp.MustCompile("^(?:\\$\\{[^}]*\\}|\\$\\((?:[^()]|\\([^()]*\\))*\\)|\\$[A-Za-z_][A-Za-z0-9_]*|\\$[0-9@*#?$!-]|`[^`]*`)")

func (r *reader) expansion() {
	if m := reExpansion.FindString(r.rest); m != "" {
		r.take(Unknown, len(m))
		return
	}
	if r.rest[0] == '$' {
		r.take("$", 1) // a dollar alone is itself
		return
	}
	r.take(Unknown, 1)
	r.odd = "a command's output"
}
