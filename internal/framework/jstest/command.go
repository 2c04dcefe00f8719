package jstest

import (
	"path"
	"slices"
	"strings"
)

// Takes says what of the next words is an option's.
type Takes int

const (
	// Flag is an option without a value.
	Flag Takes = iota
	// Value is an option whose value may be the next word.
	Value
	// List is an option whose values are all next words up to an option.
	List
)

// Kept are the options of a framework's command line that belong to every run. A
// name that ends in "*" stands for all that begin so.
type Kept map[string]Takes

// Runner is how a framework is called on a command line.
type Runner struct {
	// Binary is the name of its program; "node" for Node's own tests.
	Binary string
	// Keep are the options that belong to every run, Leave those that choose tests,
	// print or write otherwise, or stop early: a trial chooses and tells by itself.
	// What is in neither is kept too, where it does not take the next word.
	Keep  Kept
	Leave []string
	// Chosen are the words of a command line, behind the program, that choose the
	// files of a run; nil where the framework finds them all by itself.
	Chosen func(words []string) []string
}

// node tells that the tests are Node's own.
func (r Runner) node() bool { return r.Binary == "node" }

// Parse reads a command that names the framework: "vitest run …", "npx jest …",
// "pnpm exec mocha …", "node_modules/.bin/…", also behind KEY=VALUE words. It
// returns the options that belong to every run, and the environment. ok is false
// for any other command (npm test, a script): [Runner.Resolve] reads those.
func (r Runner) Parse(argv []string) (p Project, ok bool) {
	run, ok := (&walker{r: r}).command(argv, place{})
	return run.Project(""), ok
}

// names tells that a word is the framework's program: its name, or its script in
// node_modules.
func (r Runner) names(word string) bool {
	word = strings.ReplaceAll(word, `\`, "/")
	name := strings.TrimPrefix(strings.TrimSuffix(path.Base(word), ".cmd"), "_")
	if name == r.Binary {
		return true
	}
	ext := path.Ext(name)
	return slices.Contains([]string{".js", ".mjs", ".cjs"}, ext) && strings.TrimSuffix(name, ext) == r.Binary && strings.Contains("/"+word, "/node_modules/"+r.Binary+"/")
}

// args are the options of a command line that belong to every run. unsure are
// those of which it is not known where they end.
func (r Runner) args(words []string) (args, unsure []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w == "--" || !strings.HasPrefix(w, "-") || w == "-" {
			continue
		}
		name, _, attached := strings.Cut(w, "=")
		takes, known := r.Keep.of(name)
		values := 0
		for i+1+values < len(words) && !strings.HasPrefix(words[i+1+values], "-") && !attached {
			values++
		}
		switch {
		case isGroup(w) && !known && r.leavesAll(w):
			continue
		case isGroup(w) && !known && r.leavesSome(w):
			unsure = append(unsure, w)
			continue
		case known && takes == Value:
			values = min(values, 1)
		case known && takes == List:
		case known, attached && !r.leaves(name):
			values = 0
		case r.leaves(name):
			continue
		case values > 0 && isLiteral(words[i+1]):
			values = 1
		case values > 0 && !strings.HasPrefix(canonical(name), "--no"):
			unsure = append(unsure, w)
			continue
		default:
			values = 0
		}
		args = append(args, words[i:i+1+values]...)
		i += values
	}
	return args, unsure
}

// isGroup is a word of several short options, as "-ub" is.
func isGroup(w string) bool { return len(w) > 2 && w[1] != '-' && isLetters(w[1:]) }

func isLetters(w string) bool {
	return strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz") == ""
}

func (r Runner) leavesAll(group string) bool {
	return !strings.ContainsFunc(group[1:], func(o rune) bool { return !r.leaves("-" + string(o)) })
}

func (r Runner) leavesSome(group string) bool {
	return strings.ContainsFunc(group[1:], func(o rune) bool { return r.leaves("-" + string(o)) })
}

// isLiteral is a word that can only be a value.
func isLiteral(w string) bool {
	return w == "true" || w == "false" || w != "" && strings.Trim(w, "0123456789") == ""
}

// canonical is a long option in one spelling: runners take camel case and dashes
// alike, and Node takes underscores.
func canonical(name string) string {
	long, ok := strings.CutPrefix(name, "--")
	if !ok {
		return name
	}
	return "--" + strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(long))
}

func (k Kept) of(name string) (Takes, bool) {
	if takes, ok := k[name]; ok {
		return takes, true
	}
	name = canonical(name)
	for key, takes := range k {
		if start, wide := strings.CutSuffix(canonical(key), "*"); start == name || wide && strings.HasPrefix(name, start) {
			return takes, true
		}
	}
	return Flag, false
}

// leaves tells that an option is left out; "--no-x" and "--x.y" are as "--x".
func (r Runner) leaves(name string) bool {
	name, _, _ = strings.Cut(canonical(name), ".")
	bare := name
	if rest, ok := strings.CutPrefix(name, "--no"); ok {
		bare = "--" + rest
	}
	for _, l := range r.Leave {
		start, wide := strings.CutSuffix(canonical(l), "*")
		if start == name || start == bare || wide && (strings.HasPrefix(name, start) || strings.HasPrefix(bare, start)) {
			return true
		}
	}
	return false
}
