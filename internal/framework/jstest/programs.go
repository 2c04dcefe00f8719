package jstest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/shell"
)

// quiet are programs of JavaScript projects that name others and do not run them.
var quiet = []string{"eslint", "rimraf", "prettier", "wait-on", "xo", "standard"}

// command follows one command to the framework's own.
func (w *walker) command(words []string, at place) (Run, bool) {
	for {
		if w.visits++; w.visits > maxVisits {
			return Run{}, false
		}
		var env []string
		env, words = shell.Assignments(words)
		at.env = slices.Concat(at.env, env)
		if len(words) == 0 {
			return Run{}, false
		}
		program := strings.TrimSuffix(path.Base(strings.ReplaceAll(words[0], `\`, "/")), ".cmd")
		if !w.r.node() && w.r.names(words[0]) {
			return w.hit(words, words[1:], at), true
		}
		if slices.Contains(spreaders, program) {
			w.many = append(w.many, many{words[1:], at, false, program == "nx"})
			return Run{}, false
		}
		switch program {
		case "cross-env", "cross-env-shell", "env", "time", "exec", "command", "nohup", "npx", "bunx", "pnpx":
			if i := slices.Index(words, "-c"); i >= 0 && i+1 < len(words) && program == "npx" {
				return w.line(words[i+1], nil, at)
			}
			if len(words) == 2 && strings.Contains(words[1], " ") { // cross-env-shell "A=1 mocha"
				return w.line(words[1], nil, at)
			}
			words = behindOptions(words[1:], "-p", "--package", "-u")
		case "dotenv", "env-cmd":
			words = w.variables(words[1:], &at)
		case "npm", "pnpm", "yarn", "bun", "npm.cmd":
			return w.manager(program, words[1:], at)
		case "node", "tsx":
			return w.interpreter(program, words, at)
		default:
			return w.other(program, words, at)
		}
	}
}

// other are programs that run others by name, and those that nothing is known of:
// the framework behind them, as in "c8 --all mocha", is theirs to run.
func (w *walker) other(program string, words []string, at place) (Run, bool) {
	switch program {
	case "sh", "bash":
		if i := slices.IndexFunc(words, func(o string) bool { return strings.HasPrefix(o, "-") && strings.HasSuffix(o, "c") }); i > 0 && i+1 < len(words) {
			return w.line(words[i+1], nil, at)
		}
		return Run{}, false
	case "make":
		return w.steps(shell.Recipe(w.root, at.dir, words[1:]), at)
	case "run-s", "run-p", "npm-run-all":
		var found Run
		ok := false
		for _, name := range words[1:] {
			run, hit := w.matching(name, at)
			found, ok = w.also(found, ok, run, hit)
		}
		return found, ok
	case "concurrently":
		var found Run
		ok := false
		for _, line := range words[1:] {
			follow := w.line
			if name, script := strings.CutPrefix(line, "npm:"); script {
				follow, line = w.named, name
			}
			run, hit := follow(line, nil, at)
			found, ok = w.also(found, ok, run, hit)
		}
		return found, ok
	}
	if slices.Contains(quiet, program) || shell.Passive(program) {
		return Run{}, false
	}
	for i := 1; i < len(words); i++ {
		if base := path.Base(words[i]); w.r.names(words[i]) || slices.Contains([]string{"npx", "npm", "pnpm", "yarn", "node", "tsx", "cross-env"}, base) {
			return w.command(words[i:], at)
		}
	}
	return Run{}, false
}

// behindOptions leaves out the options at the beginning; valued take a word.
func behindOptions(words []string, valued ...string) []string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		if words[0] == "--" {
			return words[1:]
		}
		n := 1
		if slices.Contains(valued, words[0]) {
			n = min(2, len(words))
		}
		words = words[n:]
	}
	return words
}

// matching reads the scripts that a pattern such as "test:*" names.
func (w *walker) matching(pattern string, at place) (found Run, ok bool) {
	if w.root == nil || strings.HasPrefix(pattern, "-") {
		return Run{}, false
	}
	m := w.manifest(at.dir)
	for _, name := range candidates(m.Scripts) {
		if match, _ := path.Match(strings.ReplaceAll(pattern, "**", "*"), name); match || name == pattern {
			run, hit := w.named(name, nil, at)
			found, ok = w.also(found, ok, run, hit)
		}
	}
	return found, ok
}

// call is what the words behind a package manager's name say.
type call struct {
	// words are its own, without options, up to the script's.
	words []string
	// extra are handed on.
	extra []string
	// here is false when it runs in packages that are not told here.
	here bool
}

// subcommands are those whose next word is a name.
var subcommands = []string{"run", "run-script", "exec", "x", "dlx", "workspace"}

// split takes a package manager's words apart, and goes where its options say. npm
// takes options up to "--"; the others hand on all that follows the name.
func (w *walker) split(manager string, words []string, at *place) call {
	c := call{here: true}
	chosen := ""
	for i := 0; i < len(words); i++ {
		o, value, attached := strings.Cut(words[i], "=")
		next := func() string {
			if !attached && i+1 < len(words) {
				i++
				value = words[i]
			}
			return value
		}
		switch {
		case words[i] == "--":
			c.extra = append(c.extra, words[i+1:]...)
			return c
		case o == "-C" || o == "--prefix" || o == "--dir" || o == "--cwd":
			at.dir = path.Join(at.dir, next())
		case o == "-w" || o == "--workspace" || o == "--filter" || o == "-F":
			if o == "-w" && manager == "pnpm" { // the root of the workspace
				at.dir = "."
				continue
			}
			dir, ok := w.member(next())
			c.here = c.here && ok && (chosen == "" || dir == chosen)
			at.dir, chosen = dir, dir
		case o == "-r" || o == "--recursive" || o == "-ws" || o == "--workspaces":
			c.here = false
		case strings.HasPrefix(words[i], "-"):
		default:
			c.words = append(c.words, words[i])
			want := 1
			if slices.Contains(subcommands, c.words[0]) {
				want = 2
			}
			if len(c.words) == want && (manager != "npm" || c.words[0] == "exec" || c.words[0] == "x") {
				rest := words[i+1:]
				if len(rest) > 0 && rest[0] == "--" {
					rest = rest[1:]
				}
				c.extra = rest
				return c
			}
			if len(c.words) > want {
				c.words, c.extra = c.words[:want], append(c.extra, words[i])
			}
		}
	}
	return c
}

// manager follows npm, pnpm, yarn or bun.
func (w *walker) manager(manager string, words []string, at place) (Run, bool) {
	manager = strings.TrimSuffix(manager, ".cmd")
	if i := slices.Index(words, "--"); manager == "npm" && i > 0 && (words[0] == "exec" || words[0] == "x") {
		return w.command(words[i+1:], at)
	}
	from := at
	c := w.split(manager, words, &at)
	if !c.here || len(c.words) > 0 && c.words[0] == "workspaces" {
		w.many = append(w.many, many{words, from, manager != "npm", false})
		return Run{}, false
	}
	if len(c.words) == 0 {
		return Run{}, false
	}
	first := c.words[0]
	switch {
	case first == "test" && manager != "bun", first == "t", first == "tst":
		return w.named("test", c.extra, at)
	case len(c.words) == 2 && first == "workspace":
		dir, ok := w.member(c.words[1])
		if !ok {
			return Run{}, false
		}
		at.dir = dir
		return w.manager(manager, c.extra, at)
	case len(c.words) == 2 && (first == "exec" || first == "x" || first == "dlx"):
		return w.command(append([]string{c.words[1]}, c.extra...), at)
	case len(c.words) == 2 && (first == "run" || first == "run-script"):
		if run, ok := w.named(c.words[1], c.extra, at); ok || manager == "npm" || w.has(c.words[1], at) {
			return run, ok
		}
		return w.program(c.words[1], c.extra, at)
	case len(c.words) == 1 && manager != "npm" && first != "test" && first != "install" && first != "add":
		if w.has(first, at) {
			return w.named(first, c.extra, at)
		}
		return w.program(first, c.extra, at)
	}
	return Run{}, false
}

// program is what yarn and the like run by its name where no script has it. Without
// the scripts at hand "yarn run jest" may be one.
func (w *walker) program(name string, extra []string, at place) (Run, bool) {
	if w.root == nil && !w.r.names(name) || w.nested >= maxNested {
		return Run{}, false
	}
	w.nested++
	defer func() { w.nested-- }()
	return w.command(append([]string{name}, extra...), at)
}

func (w *walker) has(script string, at place) bool {
	if w.root == nil {
		return false
	}
	m := w.manifest(at.dir)
	_, ok := m.Scripts[script]
	return ok
}

// member is a package of the workspace by its directory or its name.
func (w *walker) member(name string) (dir string, ok bool) {
	if w.root == nil {
		return "", false
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	for _, dir := range w.members() {
		m := w.manifest(dir)
		if dir == name || m.Name == name {
			return dir, true
		}
	}
	return "", false
}

// valuedOfNode are the options of Node whose value may be the next word.
var valuedOfNode = []string{
	"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file", "--env-file-if-exists", "--tsconfig",
	"--test-reporter", "--test-reporter-destination", "--test-name-pattern", "--test-skip-pattern", "--test-concurrency", "--test-timeout", "--test-shard",
}

// inherited are beginnings of the options of Node that NODE_OPTIONS may have: with
// one that it may not, as --trace-gc and --no-opt of V8, no process would start.
var inherited = []string{
	"-r", "--require", "--import", "--loader", "-C", "--conditions",
	"--experimental-", "--no-experimental-", "--no-warnings", "--no-deprecation", "--no-addons", "--no-node-snapshot", "--no-network-family-autoselection",
	"--no-global-search-paths", "--no-extra-info-on-fatal-exception", "--no-preserve-symlinks", "--preserve-symlinks", "--enable-source-maps",
	"--max-old-space-size", "--max-semi-space-size", "--max-http", "--unhandled-rejections", "--openssl-", "--stack-trace-limit",
	"--dns-result-order", "--icu-data-dir", "--tls-", "--trace-warnings", "--trace-deprecation", "--trace-uncaught", "--trace-exit", "--trace-sigint",
	"--trace-sync-io", "--trace-tls", "--trace-event",
}

// inherits tells that an option may stand in NODE_OPTIONS. Those of Node's own tests may not.
func inherits(option string) bool {
	return !strings.HasPrefix(option, "--experimental-test-") &&
		slices.ContainsFunc(inherited, func(b string) bool { return strings.HasPrefix(option, b) })
}

// interpreter follows Node, or tsx, which is Node with a loader.
func (w *walker) interpreter(program string, words []string, at place) (Run, bool) {
	var loader []string
	if program == "tsx" {
		loader = []string{"--import", "tsx"}
	}
	if w.r.node() {
		if !slices.Contains(words, "--test") {
			return Run{}, false
		}
		if i := slices.Index(words, "--tsconfig"); program == "tsx" && i > 0 && i+1 < len(words) {
			at.env = slices.Concat(at.env, []string{"TSX_TSCONFIG_PATH=" + words[i+1]})
			words = slices.Delete(slices.Clone(words), i, i+2)
		}
		run := w.hit(words, words[1:], at)
		run.Args = append(loader, run.Args...)
		return run, true
	}
	i := 1
	at.node, at.doubts = slices.Concat(at.node, loader), slices.Clone(at.doubts)
	for ; i < len(words) && strings.HasPrefix(words[i], "-"); i++ {
		o := words[i : i+1]
		if slices.Contains(valuedOfNode, words[i]) && i+1 < len(words) {
			o = words[i : i+2]
			i++
		}
		switch name := strings.ReplaceAll(o[0], "_", "-"); {
		case inherits(name):
			at.node = append(at.node, o...)
		case strings.HasPrefix(name, "--inspect"):
		default:
			at.doubts = append(at.doubts, fmt.Sprintf("Node has the option %s, which trials leave out", o[0]))
		}
	}
	if i < len(words) && w.r.names(words[i]) {
		return w.hit(words[i:], words[i+1:], at), true
	}
	return Run{}, false
}

// variables reads the options of dotenv and env-cmd: the files and values that
// the command behind them gets.
func (w *walker) variables(words []string, at *place) []string {
	var files, env []string
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		o, value, attached := strings.Cut(words[0], "=")
		words = words[1:]
		if o == "--" {
			break
		}
		takes := o == "-e" || o == "-f" || o == "--file" || o == "-v"
		if takes && !attached && len(words) > 0 {
			value, words = words[0], words[1:]
		}
		switch {
		case o == "-v":
			env = append(env, value)
		case takes:
			files = append(files, value)
		}
	}
	if len(files) == 0 {
		files = []string{".env"}
	}
	at.doubts = slices.Clone(at.doubts)
	for _, file := range files {
		read, err := w.envFile(path.Join(at.dir, file))
		if err != nil {
			at.doubts = append(at.doubts, "the variables of "+path.Join(at.dir, file)+" cannot be read")
		}
		env = append(read, env...)
		at.files = slices.Concat(at.files, read)
	}
	at.env = append(env, at.env...)
	return words
}

// envFile reads the lines KEY=VALUE of a file.
func (w *walker) envFile(file string) ([]string, error) {
	if w.root == nil {
		return nil, fs.ErrNotExist
	}
	b, err := readSmall(w.root, file)
	if err != nil {
		return nil, err
	}
	var env []string
	for line := range strings.Lines(string(b)) {
		for _, s := range shell.Parse(strings.TrimPrefix(strings.TrimSpace(line), "export ")) {
			env = append(env, s.Env...)
		}
	}
	return env, nil
}
