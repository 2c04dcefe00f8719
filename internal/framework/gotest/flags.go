package gotest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNotGoTest is returned for a command that does not run go test.
var ErrNotGoTest = errors.New("not a go test command")

// ParseCommand reads the suite's command: "go test …", "gotestsum … -- …",
// "go tool gotestsum …", each also behind "env K=V" or "K=V". It returns how to
// run one test the same way, and the package patterns as the user gave them.
//
// What would write files into the tree (profiles, traces) and what makes no
// sense for one test (-v, -json, -count, -failfast, -bench, -fuzz) is left out
// and listed in Adapter.Dropped.
func ParseCommand(argv []string) (a Adapter, packages []string, err error) {
	argv = a.parseEnv(argv)
	rest, err := a.parseTool(argv)
	if err != nil {
		return Adapter{}, nil, err
	}
	packages, err = a.parseFlags(rest)
	if err != nil {
		return Adapter{}, nil, err
	}
	return a, packages, nil
}

// parseEnv takes "env", its flags, and KEY=VALUE words from the front.
func (a *Adapter) parseEnv(argv []string) []string {
	if len(argv) > 0 && baseCommand(argv[0]) == "env" {
		argv = argv[1:]
	}
	for len(argv) > 0 {
		key, _, ok := strings.Cut(argv[0], "=")
		if !ok || key == "" || strings.ContainsAny(key, "/-. ") {
			break
		}
		a.Env = append(a.Env, argv[0])
		argv = argv[1:]
	}
	return argv
}

func baseCommand(s string) string {
	return strings.TrimSuffix(s[strings.LastIndexAny(s, `/\`)+1:], ".exe")
}

// parseTool takes the command's name and returns what is go test's own.
func (a *Adapter) parseTool(argv []string) ([]string, error) {
	if len(argv) == 0 {
		return nil, fmt.Errorf("parsing command: %w: it is empty", ErrNotGoTest)
	}
	switch baseCommand(argv[0]) {
	case "gotestsum":
		return a.parseGotestsum(argv[1:])
	case "go":
		rest := argv[1:]
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-C") {
			if rest[0] == "-C" && len(rest) > 1 {
				a.Dir, rest = rest[1], rest[2:]
			} else {
				a.Dir, rest = strings.TrimPrefix(rest[0], "-C="), rest[1:]
			}
		}
		if len(rest) > 1 && rest[0] == "tool" && strings.HasSuffix(rest[1], "gotestsum") {
			return a.parseGotestsum(rest[2:])
		}
		if len(rest) > 0 && rest[0] == "test" {
			return rest[1:], nil
		}
	}
	return nil, fmt.Errorf("parsing command %q: %w", strings.Join(argv, " "), ErrNotGoTest)
}

// parseGotestsum takes gotestsum's own flags up to "--".
func (a *Adapter) parseGotestsum(argv []string) ([]string, error) {
	var pkgs []string
	for i := 0; i < len(argv); i++ {
		if argv[i] == "--" {
			return append(pkgs, argv[i+1:]...), nil
		}
		name, value, hasValue := splitFlag(argv[i])
		switch name {
		case "":
			return nil, fmt.Errorf("parsing gotestsum command: %w: argument %q before --", ErrNotGoTest, argv[i])
		case "raw-command":
			return nil, fmt.Errorf("parsing gotestsum command: %w: --raw-command", ErrNotGoTest)
		case "no-color", "debug", "watch", "watch-chdir", "rerun-fails-abort-on-data-race", "rerun-fails-run-root-test", "jsonfile-timing-events", "hide-summary-skipped", "version", "help":
			continue
		case "rerun-fails": // its value is optional and always attached
			continue
		}
		if !hasValue && i+1 < len(argv) {
			i++
			value = argv[i]
		}
		switch name {
		case "packages":
			pkgs = append(pkgs, strings.Fields(value)...)
		case "jsonfile", "junitfile":
			if a.Report == "" || name == "jsonfile" {
				a.Report = value
			}
		}
	}
	return pkgs, nil
}

// splitFlag splits "-name=value" or "--name=value"; name is empty for no flag.
func splitFlag(arg string) (name, value string, hasValue bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return "", "", false
	}
	arg = strings.TrimPrefix(arg[1:], "-")
	name, value, hasValue = strings.Cut(arg, "=")
	return name, value, hasValue
}

// use is what becomes of a flag.
type use int

const (
	useBuild use = iota
	useTest
	useOwn  // understood and kept apart
	useDrop // left out
)

// flagUse is one flag of go test.
type flagUse struct {
	use use
	// boolean flags take no word after them.
	boolean bool
}

// goFlags are the flags of go test and go build.
var goFlags = map[string]flagUse{
	"a": {useDrop, true}, "n": {useDrop, true}, "x": {useDrop, true}, "work": {useDrop, true}, "i": {useDrop, true}, "c": {useDrop, true}, "o": {useDrop, false},
	"p": {useBuild, false}, "race": {useBuild, true}, "msan": {useBuild, true}, "asan": {useBuild, true},
	"cover": {useBuild, true}, "covermode": {useBuild, false}, "coverpkg": {useBuild, false}, "coverprofile": {useDrop, false},
	"asmflags": {useBuild, false}, "buildmode": {useBuild, false}, "buildvcs": {useBuild, true}, "compiler": {useBuild, false},
	"gccgoflags": {useBuild, false}, "gcflags": {useBuild, false}, "installsuffix": {useBuild, false}, "ldflags": {useBuild, false},
	"linkshared": {useBuild, true}, "mod": {useBuild, false}, "modcacherw": {useBuild, true}, "modfile": {useBuild, false},
	"overlay": {useBuild, false}, "pgo": {useBuild, false}, "pkgdir": {useBuild, false}, "tags": {useBuild, false},
	"trimpath": {useBuild, true}, "toolexec": {useBuild, false}, "vet": {useBuild, false}, "exec": {useDrop, false},
	"short": {useTest, true}, "cpu": {useTest, false}, "parallel": {useTest, false}, "fullpath": {useTest, true},
	"timeout": {useOwn, false}, "run": {useOwn, false}, "skip": {useOwn, false}, "shuffle": {useOwn, false}, "count": {useOwn, false}, "json": {useOwn, true},
	"v": {useDrop, true}, "failfast": {useDrop, true}, "list": {useDrop, false}, "artifacts": {useDrop, true}, "outputdir": {useDrop, false},
	"bench": {useDrop, false}, "benchtime": {useDrop, false}, "benchmem": {useDrop, true},
	"fuzz": {useDrop, false}, "fuzztime": {useDrop, false}, "fuzzminimizetime": {useDrop, false},
	"blockprofile": {useDrop, false}, "blockprofilerate": {useDrop, false}, "cpuprofile": {useDrop, false}, "memprofile": {useDrop, false},
	"memprofilerate": {useDrop, false}, "mutexprofile": {useDrop, false}, "mutexprofilefraction": {useDrop, false}, "trace": {useDrop, false},
}

// parseFlags sorts go test's arguments.
func (a *Adapter) parseFlags(argv []string) (packages []string, err error) {
	for i := 0; i < len(argv); i++ {
		arg := argv[i]
		name, value, hasValue := splitFlag(arg)
		if name == "args" {
			a.TestArgs = argv[i+1:]
			break
		}
		if name == "" {
			if arg != "--" {
				packages = append(packages, arg)
			}
			continue
		}
		name = strings.TrimPrefix(name, "test.")
		f, known := goFlags[name]
		if !known { // a flag of the test binary itself
			a.TestFlags = append(a.TestFlags, arg)
			if !hasValue && i+1 < len(argv) && argv[i+1] != "" && argv[i+1][0] != '-' && len(packages) > 0 {
				i++
				a.TestFlags = append(a.TestFlags, argv[i])
			}
			continue
		}
		if !f.boolean && !hasValue {
			if i+1 == len(argv) {
				return nil, fmt.Errorf("parsing command: flag -%s needs a value", name)
			}
			i++
			value = argv[i]
		}
		if err := a.take(name, value, f, hasValue || !f.boolean); err != nil {
			return nil, err
		}
	}
	return packages, nil
}

// take puts one flag where it belongs.
func (a *Adapter) take(name, value string, f flagUse, hasValue bool) error {
	whole := "-" + name
	if hasValue {
		whole += "=" + value
	}
	switch f.use {
	case useDrop:
		a.Dropped = append(a.Dropped, whole)
	case useOwn:
		return a.takeOwn(name, value, whole)
	case useTest:
		if name == "cpu" { // the first of a list: one trial is one run
			value, _, _ = strings.Cut(value, ",")
			whole = "-cpu=" + value
		}
		a.TestFlags = append(a.TestFlags, "-test."+whole[1:])
	case useBuild:
		if name == "race" {
			a.Race = value != "false"
		}
		if whole == "-vet=" {
			return errors.New("parsing command: flag -vet needs a value")
		}
		a.Flags = append(slices.DeleteFunc(a.Flags, func(o string) bool { return o == "-"+name || strings.HasPrefix(o, "-"+name+"=") }), whole)
	}
	return nil
}

func (a *Adapter) takeOwn(name, value, whole string) error {
	var err error
	switch name {
	case "run":
		a.Run = value
	case "skip":
		a.Skip = value
	case "shuffle":
		a.Shuffle = value
	case "json":
		a.JSON = value != "false"
	case "count":
		a.Count, err = strconv.Atoi(value)
	case "timeout":
		a.Timeout, err = time.ParseDuration(value)
	}
	if err != nil {
		return fmt.Errorf("parsing flag %s: %w", whole, err)
	}
	return nil
}
