package config

import (
	"errors"
	"fmt"
	"strings"
)

// Split splits a command line into words as a POSIX shell does: at blanks, with
// single quotes, double quotes and backslashes. Nothing is expanded. Where a
// shell would have expanded, combined or redirected, Split is an error that
// says how to write it, so that nobody relies on a shell that is not there.
func Split(line string) ([]string, error) {
	s := splitter{rest: line}
	for s.rest != "" {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.end()
	if len(s.words) == 0 {
		return nil, errors.New("the command is empty")
	}
	if name, _, ok := strings.Cut(s.words[0], "="); ok && envName.MatchString(name) && strings.HasPrefix(line, s.words[0][:len(name)]) {
		return nil, fmt.Errorf("%s sets a variable, which only a shell does: use a script, or env %s", quoted(s.words[0]), quoted(s.words[0]))
	}
	return s.words, nil
}

var errLineEnd = errors.New("a backslash ends the line: write the command on one line, or as a list")

type splitter struct {
	words []string
	word  strings.Builder
	open  bool // within a word, which may be empty
	rest  string
}

func (s *splitter) end() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) add(text string, used int) {
	s.word.WriteString(text)
	s.open = true
	s.rest = s.rest[used:]
}

// next reads one blank, one quoted part or one byte.
func (s *splitter) next() error {
	switch c := s.rest[0]; {
	case c == ' ' || c == '\t':
		s.end()
		s.rest = s.rest[1:]
	case c == '\'':
		end := strings.IndexByte(s.rest[1:], '\'')
		if end < 0 {
			return errors.New("a single quote is not closed")
		}
		s.add(s.rest[1:1+end], end+2)
	case c == '"':
		return s.double()
	case c == '\\':
		if len(s.rest) == 1 || s.rest[1] == '\n' {
			return errLineEnd
		}
		s.add(s.rest[1:2], 2)
	case strings.IndexByte("$`|&;<>(){}*?[\n\r", c) >= 0 || (c == '~' || c == '#') && !s.open:
		return shellOnly(c)
	default:
		s.add(s.rest[:1], 1)
	}
	return nil
}

// double reads a part in double quotes, where a backslash counts only before
// one of four characters.
func (s *splitter) double() error {
	s.add("", 1)
	for s.rest != "" {
		switch c := s.rest[0]; {
		case c == '"':
			s.add("", 1)
			return nil
		case c == '$' || c == '`':
			return shellOnly(c)
		case c == '\\' && len(s.rest) > 1 && strings.IndexByte("$`\"\\", s.rest[1]) >= 0:
			s.add(s.rest[1:2], 2)
		case c == '\\' && len(s.rest) > 1 && s.rest[1] == '\n':
			return errLineEnd
		default:
			s.add(s.rest[:1], 1)
		}
	}
	return errors.New("a double quote is not closed")
}

func shellOnly(c byte) error {
	what := map[byte]string{'$': "a variable", '`': "a command's output", '|': "a pipe", '&': "a second command", ';': "a second command",
		'<': "a redirection", '>': "a redirection", '(': "a subshell", ')': "a subshell", '{': "braces", '}': "braces",
		'*': "a pattern", '?': "a pattern", '[': "a pattern", '~': "a home directory", '#': "a comment", '\n': "a second line", '\r': "a second line"}
	return fmt.Errorf("%q is %s only to a shell, and there is none: put it in single quotes, or write the command as a list or a script", c, what[c])
}
