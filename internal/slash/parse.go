package slash

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Name begins a comment that is a command.
const Name = "/triage"

// Limits of a command. A person types a line; whoever sends more is not one.
const (
	maxLine  = 2000 // bytes of the first line
	maxTests = 20
	maxTest  = 512 // bytes of one test's name
	maxRuns  = 100
	minLag   = time.Millisecond
	maxLag   = 2 * time.Second
)

// ErrNone: the comment is not a command.
var ErrNone = errors.New("the comment is not a command")

// Action is what a command asks for.
type Action string

// The actions.
const (
	// Measure has the measuring run done again.
	Measure Action = "measure"
	// Rerun has the failed jobs run again as they are.
	Rerun Action = "rerun"
	// Help asks for the grammar.
	Help Action = "help"
)

// Command is a comment as it was understood. Its strings are data of a stranger.
type Command struct {
	Action Action
	// Tests are the names of tests, empty for those that failed.
	Tests []string
	// Runs bounds the runs per test, 0 when it was not given.
	Runs int
	// Lag is "auto", "off", or a duration as Go writes it; empty when it was not given.
	Lag string
}

// Parse reads the first line of a comment. A comment that does not begin with
// /triage is [ErrNone]; any other error is a sentence for its author, which
// quotes nothing of the comment that is not escaped.
func Parse(body string) (Command, error) {
	line, _, _ := strings.Cut(body, "\n")
	line = strings.TrimSuffix(line, "\r")
	rest, ok := strings.CutPrefix(line, Name)
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return Command{}, ErrNone
	}
	if len(line) > maxLine {
		return Command{}, fmt.Errorf("the line has %d bytes, more than %d", len(line), maxLine)
	}
	if err := checkText(rest); err != nil {
		return Command{}, err
	}
	words, err := split(rest)
	if err != nil {
		return Command{}, err
	}
	return command(words)
}

// checkText refuses characters that nobody types, and that make a line look like another.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("the line is not UTF-8")
	}
	for _, r := range s {
		if r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Errorf("the line holds the invisible character %U", r)
		}
	}
	return nil
}

// A word remembers whether it was quoted: then it is a test, whatever it looks like.
type word struct {
	text   string
	quoted bool
}

// split breaks a line at blanks. Single and double quotes hold a word together
// and mean nothing else, and so does a backslash.
func split(s string) ([]word, error) {
	var words []word
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return words, nil
		}
		if q := s[0]; q == '"' || q == '\'' {
			end := strings.IndexByte(s[1:], q)
			if end < 0 {
				return nil, fmt.Errorf("the quote %c is not closed", q)
			}
			text, rest := s[1:1+end], s[2+end:]
			if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				return nil, fmt.Errorf("a blank is missing behind the quote %c", q)
			}
			words, s = append(words, word{text, true}), rest
			continue
		}
		end := strings.IndexAny(s, " \t")
		if end < 0 {
			end = len(s)
		}
		words, s = append(words, word{s[:end], false}), s[end:]
	}
}

func command(words []word) (Command, error) {
	c := Command{Action: Measure}
	if len(words) > 0 && !words[0].quoted && slices.Contains([]string{string(Rerun), string(Help)}, words[0].text) {
		c.Action = Action(words[0].text)
		if len(words) > 1 {
			return Command{}, fmt.Errorf("%s takes nothing behind it", c.Action)
		}
		return c, nil
	}
	for _, w := range words {
		if err := c.add(w); err != nil {
			return Command{}, err
		}
	}
	if len(c.Tests) > maxTests {
		return Command{}, fmt.Errorf("%d tests are more than %d", len(c.Tests), maxTests)
	}
	return c, nil
}

func (c *Command) add(w word) error {
	key, value, isOption := strings.Cut(w.text, "=")
	if w.quoted || !isOption || strings.ContainsFunc(key, func(r rune) bool { return r < 'a' || r > 'z' }) || key == "" {
		return c.addTest(w.text)
	}
	switch key {
	case "runs":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > maxRuns || strconv.Itoa(n) != value {
			return fmt.Errorf("runs is a number from 1 to %d", maxRuns)
		}
		if c.Runs != 0 {
			return errors.New("runs is there twice")
		}
		c.Runs = n
		return nil
	case "lag":
		if c.Lag != "" {
			return errors.New("lag is there twice")
		}
		return c.setLag(value)
	}
	return fmt.Errorf("there is no option %s; if it is a test, put it in quotes", strconv.QuoteToASCII(key))
}

func (c *Command) setLag(value string) error {
	if value == "auto" || value == "off" {
		c.Lag = value
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < minLag || d > maxLag || d%time.Millisecond != 0 {
		return fmt.Errorf("lag is auto, off, or whole milliseconds from %v to %v, as in lag=500ms", minLag, maxLag)
	}
	c.Lag = d.String()
	return nil
}

func (c *Command) addTest(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("a test has an empty name")
	case len(name) > maxTest:
		return fmt.Errorf("the name of a test has %d bytes, more than %d", len(name), maxTest)
	}
	if !slices.Contains(c.Tests, name) {
		c.Tests = append(c.Tests, name)
	}
	return nil
}

// Flags are the flags of "triagebot measure" that the command asks for, each
// one argument: a name cannot become an option of its own.
func (c Command) Flags() []string {
	var out []string
	for _, t := range c.Tests {
		out = append(out, "--test="+t)
	}
	if c.Runs > 0 {
		out = append(out, "--max-trials="+strconv.Itoa(c.Runs))
	}
	switch d, err := time.ParseDuration(c.Lag); {
	case c.Lag == "":
	case err == nil:
		out = append(out, fmt.Sprintf("--lag=worker-%d", d.Milliseconds()))
	default:
		out = append(out, "--lag="+c.Lag)
	}
	return out
}

// Usage is the grammar, as Markdown for a reply.
const Usage = "| comment | does |\n|---|---|\n" +
	"| `/triage` | triages the failing tests of this commit again |\n" +
	"| `/triage TestName 'TestOther/with blanks'` | triages these tests |\n" +
	"| `/triage runs=20 lag=500ms` | runs each test at most 20 times, and delays by 500 ms (`lag=off` for none) |\n" +
	"| `/triage rerun` | runs the failed jobs again as they are |\n" +
	"| `/triage help` | this table |\n"
