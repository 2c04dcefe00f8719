package config

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds on values. The upper ones are far above any sense; they keep a slip of
// the pen from costing a day of machine time.
const (
	minBudget  = time.Second
	maxBudget  = 24 * time.Hour
	minTimeout = 100 * time.Millisecond
	maxTrials  = 10_000
	maxAlpha   = 0.5
	maxWord    = 4096 // bytes of one word of a command, name or path
	maxItems   = 200  // elements of a list
)

// quoted is a bounded, escaped form of a value for an error.
func quoted(s string) string {
	if len(s) > 60 {
		cut := 60
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strconv.QuoteToGraphic(s)
}

func duration(s string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil && isNumber(s):
		return 0, fmt.Errorf("%s has no unit, write %sm or %ss", quoted(s), s, s)
	case err != nil:
		return 0, fmt.Errorf("%s is not a duration such as 10m or 90s", quoted(s))
	case d < least || d > most:
		return 0, fmt.Errorf("%s is not between %s and %s", quoted(s), short(least), short(most))
	}
	return d, nil
}

// short writes a duration without its empty parts.
func short(d time.Duration) string {
	s := d.String()
	if s = strings.TrimSuffix(s, "m0s"); s != d.String() {
		s += "m"
	}
	return strings.Replace(s, "h0m", "h", 1)
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && len(s) < 20
}

func integer(s string, least, most int) (int, error) {
	n, err := strconv.Atoi(s)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is not a whole number", quoted(s))
	case err != nil || n < least || n > most:
		return 0, fmt.Errorf("%s is not between %d and %d", quoted(s), least, most)
	}
	return n, nil
}

func seed(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s is not a whole number from 1", quoted(s))
	}
	return n, nil
}

func fraction(s string, most float64) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number", quoted(s))
	}
	if !(f > 0 && f <= most) { // also not a number
		return 0, fmt.Errorf("%s is not above 0 and at most %v", quoted(s), most)
	}
	return f, nil
}

func oneOf(s string, values ...string) (string, error) {
	if slices.Contains(values, s) {
		return s, nil
	}
	return "", fmt.Errorf("%s is not one of %s", quoted(s), strings.Join(values, ", "))
}

// list splits the text of a flag or variable.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' })
}

var rungName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// lag reads "auto", "off" or names of rungs. Which names there are is known
// where the ladder is built.
func lag(s string) (string, error) {
	names := list(s)
	if len(names) == 0 {
		return "", fmt.Errorf("%s is not auto, off or a list of rungs", quoted(s))
	}
	if len(names) > maxItems {
		return "", fmt.Errorf("%d rungs are more than %d", len(names), maxItems)
	}
	for i, n := range names {
		switch {
		case n == "true" || n == "on":
			return "", fmt.Errorf("%s is not a rung, write auto", quoted(n))
		case n == "false" || n == "none":
			return "", fmt.Errorf("%s is not a rung, write off", quoted(n))
		case !rungName.MatchString(n):
			return "", fmt.Errorf("%s is not the name of a rung", quoted(n))
		case (n == "auto" || n == "off") && len(names) > 1:
			return "", fmt.Errorf("%s stands alone, without rungs beside it", n)
		case slices.Contains(names[:i], n):
			return "", fmt.Errorf("the rung %s is there twice", n)
		}
	}
	return strings.Join(names, ","), nil
}

var (
	envName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)
	forbid   = regexp.MustCompile(`(?i)^(GITHUB|ACTIONS|INPUT|RUNNER|TRIAGEBOT)_`)
	suitable = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
)

// envNames checks names of variables. Those that belong to the runner or to us
// are refused: code under test must never see them.
func envNames(names []string) ([]string, error) {
	if len(names) > maxItems {
		return nil, fmt.Errorf("%d names are more than %d", len(names), maxItems)
	}
	for i, n := range names {
		switch {
		case strings.Contains(n, "="):
			return nil, fmt.Errorf("%s gives a value, but only names are passed", quoted(n))
		case !envName.MatchString(n):
			return nil, fmt.Errorf("%s is not the name of a variable", quoted(n))
		case forbid.MatchString(n):
			return nil, fmt.Errorf("%s is never passed to tests: it belongs to the runner or to triagebot", quoted(n))
		case slices.Contains(names[:i], n):
			return nil, fmt.Errorf("%s is there twice", quoted(n))
		}
	}
	return names, nil
}

func plainName(s string) (string, error) {
	if !suitable.MatchString(s) {
		return "", fmt.Errorf("%s is not a name of letters, digits, dots, dashes and underscores", quoted(s))
	}
	return s, nil
}

// directory checks a path below the root of the repository.
func directory(s string) (string, error) {
	clean := path.Clean(s)
	switch {
	case s == "" || len(s) > maxWord || strings.ContainsAny(s, "\x00\n"):
		return "", fmt.Errorf("%s is not a path", quoted(s))
	case strings.Contains(s, `\`):
		return "", fmt.Errorf("%s has backslashes, write forward slashes", quoted(s))
	case path.IsAbs(s) || len(s) > 1 && s[1] == ':':
		return "", fmt.Errorf("%s is not relative to the root of the repository", quoted(s))
	case clean == ".." || strings.HasPrefix(clean, "../"):
		return "", fmt.Errorf("%s leaves the repository", quoted(s))
	}
	return clean, nil
}

// seamPlace is a function in a module, file or package: "a.b:C.m", "src/a.ts:f".
var seamPlace = regexp.MustCompile(`^[^\s:-][^\s:]*:[\pL_$][\pL\pN_$.]*$`)

// seam checks one declared seam: an option with one dose in it, or a function.
func seam(s string) error {
	doses := strings.Count(s, "{seconds}") + strings.Count(s, "{ms}")
	switch {
	case len(s) > maxWord || strings.ContainsAny(s, "\x00\n"):
		return fmt.Errorf("%s is too long, or has a line end", quoted(s))
	case strings.HasPrefix(s, "-") && doses != 1:
		return fmt.Errorf("the option %s wants {seconds} or {ms} in it once, as in --dispatch-lag={seconds}", quoted(s))
	case strings.HasPrefix(s, "-") && strings.ContainsAny(s, " \t"):
		return fmt.Errorf("the option %s is more than one word: join its value with =", quoted(s))
	case strings.HasPrefix(s, "-"):
		return nil
	case doses > 0:
		return fmt.Errorf("%s has a dose, and so is an option, but does not begin with a dash", quoted(s))
	case !seamPlace.MatchString(s):
		return fmt.Errorf("%s is neither an option such as --dispatch-lag={seconds} nor a function such as package.module:Class.method", quoted(s))
	}
	return nil
}

// argv checks the words of a command.
func argv(words []string) ([]string, error) {
	switch {
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("the command is empty")
	case len(words) > maxItems:
		return nil, fmt.Errorf("%d words are more than %d", len(words), maxItems)
	case strings.HasPrefix(words[0], "-"):
		return nil, fmt.Errorf("%s is an option, not a command", quoted(words[0]))
	}
	for _, w := range words {
		if len(w) > maxWord || strings.Contains(w, "\x00") {
			return nil, fmt.Errorf("the word %s is too long or holds a zero byte", quoted(w))
		}
	}
	return words, nil
}
