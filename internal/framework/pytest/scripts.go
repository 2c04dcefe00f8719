package pytest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/shell"
)

// Script is how a command that is not pytest's own runs it.
type Script struct {
	// Adapter has what the command gives every run.
	Adapter Adapter
	// Line is pytest's own command, From the file that has it.
	Line, From string
	// Dir is the directory that it is run in, below the root; "" for the root.
	Dir string
	// Doubts say what of it trials cannot repeat.
	Doubts []string
}

// Same tells that two scripts give trials the same command.
func (s Script) Same(o Script) bool {
	return s.alike(o) && slices.Equal(s.Adapter.Chosen, o.Adapter.Chosen)
}

// alike tells that two scripts give the trials of one test the same command.
func (s Script) alike(o Script) bool {
	return s.Adapter.Python == o.Adapter.Python && slices.Equal(s.Adapter.Env, o.Adapter.Env) && slices.Equal(s.Adapter.Args, o.Adapter.Args)
}

// Resolve reads a command that runs pytest through a Makefile or a tox.ini of the
// tree, where its line stands plainly there, in one directory. ok is false for any
// other command, nox and scripts among them; Doubts then say so.
func Resolve(root fs.FS, from string, argv []string) (s Script, ok bool) {
	all := resolve(root, path.Clean("./"+from), argv, maxNested)
	if len(all) != 1 {
		return unread(argv), false
	}
	return all[0], true
}

// ResolveIn is Resolve for the suite of a directory: of a command that runs pytest in
// several, it is what runs there.
func ResolveIn(root fs.FS, dir, from string, argv []string) (s Script, ok bool) {
	all := resolve(root, path.Clean("./"+from), argv, maxNested)
	if len(all) > 1 {
		all = slices.DeleteFunc(all, func(s Script) bool { return path.Clean("./"+s.Dir) != path.Clean("./"+dir) })
	}
	if len(all) == 0 {
		return unread(argv), false
	}
	return all[0], true
}

// unread is a command that is not understood.
func unread(argv []string) Script {
	line := strings.Join(argv, " ")
	return Script{Line: line, Doubts: []string{fmt.Sprintf("%q does not show how it runs pytest", line)}}
}

// maxNested bounds files that run each other.
const maxNested = 4

// resolve reads how a command runs pytest, once for each directory.
func resolve(root fs.FS, dir string, argv []string, nested int) []Script {
	env, argv := shell.Assignments(argv)
	if len(argv) > 0 && argv[0] == "env" {
		more, rest := shell.Assignments(argv[1:])
		env, argv = slices.Concat(env, more), rest
	}
	at := slices.IndexFunc(argv, func(w string) bool { return slices.Contains([]string{"make", "gmake", "tox"}, path.Base(w)) })
	if at < 0 || nested == 0 || !runs(argv[:at]) {
		return nil
	}
	var steps []shell.Step
	file, in, from := "Makefile", dir, dir
	if path.Base(argv[at]) == "tox" {
		file = "tox.ini"
		steps, from = toxSteps(root, dir, argv[at+1:])
	} else {
		for i, w := range argv {
			if w == "-C" && i+1 < len(argv) {
				in = path.Join(dir, argv[i+1])
			}
		}
		steps = shell.Recipe(root, dir, argv[at+1:])
	}
	all := pick(root, from, steps, nested)
	for i := range all {
		if !fs.ValidPath(path.Join(".", all[i].Dir)) {
			return nil
		}
		if all[i].From == "" {
			all[i].From = path.Join(in, file)
		}
		all[i].Adapter.Env = slices.Concat(env, all[i].Adapter.Env)
	}
	return all
}

// quiet are words of commands that install packages or run other languages' tests,
// beside the programs that run nothing here.
var quiet = []string{"install", "add", "go"}

// runs tells that a command may be one that runs pytest: none of its words up to
// pytest's is such a program.
func runs(words []string) bool {
	if at := slices.IndexFunc(words, isPytest); at >= 0 {
		words = words[:at]
	}
	return !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(quiet, w) || shell.Passive(w) })
}

// pick are the steps that run pytest, the first in each directory.
func pick(root fs.FS, dir string, steps []shell.Step, nested int) []Script {
	var found []Script
	for _, step := range steps {
		if !runs(step.Words) {
			continue
		}
		in := path.Join(dir, step.Dir)
		words, doubts := known(slices.Concat(step.Env, step.Words))
		if step.Odd != "" {
			doubts = append(doubts, "it stands in "+step.Odd)
		}
		var here []Script
		if a, own := ParseCommand(words); own {
			s := Script{Adapter: a, Line: strings.Join(words, " "), Doubts: doubts}
			if in != "." {
				s.Dir = in
			}
			here = []Script{s}
		} else {
			here = resolve(root, in, words, nested-1)
			for i := range here {
				if step.Odd != "" {
					here[i].Doubts = append(here[i].Doubts, "it stands in "+step.Odd)
				}
			}
		}
		for _, s := range here {
			i := slices.IndexFunc(found, func(o Script) bool { return o.Dir == s.Dir })
			switch more := "it runs pytest in more than one way, and the first is taken"; {
			case i < 0:
				found = append(found, s)
			case !s.alike(found[i]) && !slices.Contains(found[i].Doubts, more):
				found[i].Doubts = append(found[i].Doubts, more)
			}
		}
	}
	return found
}

// known leaves out the words of which a part is known to a shell, to make or to
// tox only, with the options that they are values of. doubts name those that
// belong to every run.
func known(words []string) (out, doubts []string) {
	for i, w := range words {
		if !strings.Contains(w, shell.Unknown) {
			out = append(out, w)
			continue
		}
		name, _, _ := strings.Cut(w, "=")
		if !strings.HasPrefix(w, "-") && i > 0 && slices.Contains(valued, words[i-1]) && len(out) > 0 {
			name, out = words[i-1], out[:len(out)-1]
		}
		_, _, variable := shell.Assignment(w)
		_, drop := left[name]
		if variable || strings.HasPrefix(name, "-") && !drop && !strings.Contains(name, shell.Unknown) {
			doubts = append(doubts, fmt.Sprintf("the value of %s is not told there", name))
		}
	}
	return out, doubts
}

// section is one of a tox.ini: its keys with their lines.
type section map[string][]string

var (
	reToxSection = regexp.MustCompile(`^\[([^\]]+)\]\s*$`)
	reKey        = regexp.MustCompile(`^([A-Za-z_][\w-]*)\s*=\s*(.*)$`)
	// reFactor is a condition on the environment's name before a line.
	reFactor = regexp.MustCompile(`^[\w.,!{}-]+:\s+`)
	rePosed  = regexp.MustCompile(`\{posargs(?::([^{}]*))?\}`)
	reBraces = regexp.MustCompile(`\{[^{}]*\}`)
	reLegacy = regexp.MustCompile(`(?s)legacy_tox_ini\s*=\s*(?:"""|''')(.*?)(?:"""|''')`)
)

// sections reads an INI file, in order.
func sections(text string) (names []string, all map[string]section) {
	all = map[string]section{}
	var in section
	key := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimSpace(line)
		switch m := reToxSection.FindStringSubmatch(line); {
		case bare == "", bare[0] == '#', bare[0] == ';':
		case m != nil:
			in, key = section{}, ""
			names, all[m[1]] = append(names, m[1]), in
		case in == nil:
		case line[0] == ' ' || line[0] == '\t':
			if key != "" {
				in[key] = append(in[key], bare)
			}
		default:
			if k := reKey.FindStringSubmatch(line); k != nil {
				key = strings.ReplaceAll(k[1], "_", "")
				in[key] = nil
				if k[2] != "" {
					in[key] = []string{k[2]}
				}
			}
		}
	}
	return names, all
}

// toxFile is the text of a directory's tox configuration of the INI form.
func toxFile(root fs.FS, dir string) string {
	for _, name := range []string{"tox.ini", "setup.cfg", "pyproject.toml"} {
		file := path.Join(dir, name)
		if !holds(root, file, "testenv") {
			continue
		}
		b, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		if name != "pyproject.toml" {
			return string(b)
		}
		if m := reLegacy.FindStringSubmatch(string(b)); m != nil {
			return m[1]
		}
	}
	return ""
}

// toxSteps are what tox runs with these words, each with the environment's
// variables, and the directory that it runs them in.
func toxSteps(root fs.FS, dir string, words []string) ([]shell.Step, string) {
	var envs, posed []string
	for i := 0; i < len(words); i++ {
		switch o, value, attached := strings.Cut(words[i], "="); {
		case words[i] == "--":
			posed, i = words[i+1:], len(words)
		case (o == "-e" || o == "--env") && attached:
			envs = append(envs, strings.Split(value, ",")...)
		case (o == "-e" || o == "--env") && i+1 < len(words):
			i++
			envs = append(envs, strings.Split(words[i], ",")...)
		case strings.HasPrefix(o, "-e") && len(o) > 2 && o[1] != '-':
			envs = append(envs, strings.Split(o[2:], ",")...)
		}
	}
	if root == nil {
		return nil, dir
	}
	names, all := sections(toxFile(root, dir))
	order := append([]string{"testenv"}, names...)
	if len(envs) > 0 {
		order = nil
	}
	for _, e := range envs {
		if _, own := all["testenv:"+e]; own {
			order = append(order, "testenv:"+e)
		} else {
			order = append(order, "testenv")
		}
	}
	for _, name := range order {
		s, ok := all[name]
		if !ok || !strings.HasPrefix(name, "testenv") {
			continue
		}
		for key, lines := range all["testenv"] {
			if _, own := s[key]; !own {
				s[key] = lines
			}
		}
		if steps := s.steps(posed); slices.ContainsFunc(steps, func(st shell.Step) bool { return slices.ContainsFunc(st.Words, isPytest) }) {
			if cd := s["changedir"]; len(cd) == 1 {
				dir = path.Join(dir, told(cd[0], shell.Unknown))
			}
			return steps, dir
		}
	}
	return nil, dir
}

// told is a text of tox with a mark for what only tox knows.
func told(text, mark string) string {
	text = strings.NewReplacer("{toxinidir}", ".", "{tox_root}", ".", "{/}", "/").Replace(text)
	return reBraces.ReplaceAllLiteralString(text, mark)
}

// steps are the commands of an environment. A line that only holds for some names
// of it is read too, and told as odd.
func (s section) steps(posed []string) []shell.Step {
	var env []string
	for _, line := range s["setenv"] {
		name, value, ok := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); ok && !strings.ContainsAny(name, ":{ ") {
			env = append(env, name+"="+told(strings.TrimSpace(value), shell.Unknown))
		}
	}
	var out []shell.Step
	var text string
	for _, line := range s["commands"] {
		if more, ok := strings.CutSuffix(line, `\`); ok {
			text += more + " "
			continue
		}
		line, text = text+line, ""
		odd := ""
		if m := reFactor.FindString(line); m != "" {
			line, odd = line[len(m):], "a condition on tox's environment"
		}
		line = rePosed.ReplaceAllStringFunc(strings.TrimLeft(line, "-! "), func(p string) string {
			if len(posed) > 0 {
				return strings.Join(posed, " ")
			}
			return rePosed.FindStringSubmatch(p)[1]
		})
		// What tox knows is a variable to the reader of lines.
		for _, step := range shell.Parse(told(line, "${X}")) {
			step.Env = append(slices.Clone(env), step.Env...)
			if odd != "" {
				step.Odd = odd
			}
			out = append(out, step)
		}
	}
	return out
}
