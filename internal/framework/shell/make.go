package shell

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxMakefile bounds what is read of one Makefile, in bytes.
const maxMakefile = 1 << 20

// reMakeVariable is a variable of make itself, which only make knows.
var reMakeVariable = regexp.MustCompile(`\$\([^()]*\)|\$\{[^{}]*\}|\$[@<^?*%+|]`)

// Recipe is what "make" with these words runs for its target, without what the
// target depends on. root may be nil. It is nil where the target is not plainly
// there.
func Recipe(root fs.FS, dir string, words []string) []Step {
	target, moved := "", ""
	var env []string
	for i := 0; i < len(words); i++ {
		name, _, set := Assignment(words[i])
		switch {
		case words[i] == "-C" && i+1 < len(words):
			moved = path.Join(moved, words[i+1])
			i++
		case strings.HasPrefix(words[i], "-"):
		case set && name != "":
			env = append(env, words[i])
		case target == "":
			target = words[i]
		}
	}
	if root == nil || target == "" {
		return nil
	}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		file := path.Join(dir, moved, name)
		info, err := fs.Stat(root, file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxMakefile {
			continue
		}
		text, err := fs.ReadFile(root, file)
		if err != nil {
			return nil
		}
		steps := recipe(string(text), target, env)
		for i := range steps {
			steps[i].Dir = path.Join(moved, steps[i].Dir)
		}
		return steps
	}
	return nil
}

// recipe finds a target's lines. Each is a shell of its own.
func recipe(text, target string, env []string) []Step {
	var out []Step
	in := false
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		body, ofRecipe := strings.CutPrefix(line, "\t")
		if !ofRecipe {
			names, after, ok := strings.Cut(line, ":")
			if strings.TrimSpace(line) != "" {
				in = ok && !strings.HasPrefix(after, "=") && slices.Contains(strings.Fields(names), target)
			}
			continue
		}
		if !in {
			continue
		}
		body = strings.TrimLeft(body, "@-+ ")
		body = strings.ReplaceAll(reMakeVariable.ReplaceAllString(strings.ReplaceAll(body, "$$", "\x01"), "$${X}"), "\x01", "$")
		for _, s := range Parse(body) {
			s.Env = append(slices.Clone(env), s.Env...)
			out = append(out, s)
		}
	}
	return out
}
