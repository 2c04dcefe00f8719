package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/triage"
)

// The action tells its measuring half, whose environment is clean, the names of the
// variables that it has itself, with spaces between them, and the workflow file and
// the job that it runs in.
const (
	keptVar     = "TRIAGEBOT_KEPT"
	workflowVar = "TRIAGEBOT_WORKFLOW"
	jobVar      = "TRIAGEBOT_JOB"
)

// notOfCI are names that every shell or container has, and no workflow sets.
var notOfCI = []string{"_", "PWD", "OLDPWD", "SHLVL", "HOSTNAME"}

// ofTheMachine are names that a runner's image, a service manager or a desk sets for
// all that runs there, or beginnings of them, which end in "_": no switch of the tests.
// One that a workflow sets counts all the same.
var ofTheMachine = strings.Fields(`
	XDG_ DBUS_ SYSTEMD_ INVOCATION_ID JOURNAL_STREAM MEMORY_PRESSURE_ DEBIAN_FRONTEND LS_COLORS COLORTERM DISPLAY WAYLAND_DISPLAY EDITOR VISUAL PAGER MAIL
	SSH_AUTH_SOCK SSH_AGENT_PID SSH_CONNECTION SSH_CLIENT SSH_TTY GPG_TTY GPG_AGENT_INFO
	ImageOS ImageVersion ACCEPT_EULA AGENT_TOOLSDIRECTORY DEPLOYMENT_BASEPATH POWERSHELL_DISTRIBUTION_CHANNEL PSModulePath AZURE_EXTENSION_DIR
	JAVA_HOME JAVA_HOME_ ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK ANDROID_NDK_HOME ANDROID_NDK_ROOT ANDROID_NDK_LATEST_HOME CHROME_BIN CHROMEWEBDRIVER
	EDGEWEBDRIVER GECKOWEBDRIVER SELENIUM_JAR_PATH PIPX_ GOROOT_ HOMEBREW_ VCPKG_INSTALLATION_ROOT SWIFT_PATH DOTNET_NOLOGO DOTNET_MULTILEVEL_LOOKUP
	DOTNET_SKIP_FIRST_TIME_EXPERIENCE GRADLE_HOME ANT_HOME LEIN_ GHCUP_ CONDA NVM_ BOOTSTRAP_HASKELL_NONINTERACTIVE`)

// byTheMachine tells whether a variable is one of those.
func byTheMachine(name string) bool {
	return slices.ContainsFunc(ofTheMachine, func(of string) bool {
		return name == of || strings.HasSuffix(of, "_") && strings.HasPrefix(name, of)
	})
}

// reName is a variable whose name can be looked for as it is.
var reName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keptHere are the names of the variables that are set in an environment, or that
// the action says are set in its own, and that were kept from the tests.
func keptHere(environ, passed []string) []string {
	var names []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		names = append(names, name)
		if name == keptVar {
			names = append(names, strings.Fields(value)...)
		}
	}
	return kept(names, passed)
}

// kept are the names that are not in an environment, sorted.
func kept(names, passed []string) []string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !reName.MatchString(name) || strings.HasPrefix(name, "TRIAGEBOT_") || strings.HasPrefix(name, "INPUT_") || slices.Contains(notOfCI, name) ||
			slices.ContainsFunc(passed, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// noteKept finds variables that CI's run of the tests may have had and trials have
// not, and that the project's code reads: for want of one, both sides can fail in
// the way of a regression. What CI's own programs have, and secrets, count only
// where the failing test's own file reads them: much code names them and is no test.
func (s *session) noteKept(ctx context.Context, failures []triage.Failure) error {
	for _, su := range s.suites {
		own := ownFiles(su, failures)
		if len(own) == 0 {
			continue
		}
		passed := slices.Concat(su.env, su.lang.sets())
		here := slices.DeleteFunc(keptHere(os.Environ(), passed), byTheMachine)
		workflow, file := s.keptByWorkflow(passed)
		read, err := s.reads(ctx, su, slices.Concat(here, workflow), own)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			su.unlike = true
			s.warnings = append(s.warnings, fmt.Sprintf("suite %s: nobody knows whether the code reads variables that tests here do not get (%v)", su.Name, err))
		}
		for _, name := range read {
			su.unlike = true
			where, give := "is set here and kept from tests", "give it to them with --pass-env "+name
			if !slices.Contains(here, name) {
				where, give = "a step of "+file+" sets and tests here do not get", "set it for triagebot's step too, and give it to tests with pass-env: "+name
			}
			s.warnings = append(s.warnings, fmt.Sprintf("suite %s: the code reads %s, which %s: %s", su.Name, name, where, give))
		}
	}
	return nil
}

// ownFiles are the files, or folders, of a suite's failing tests, as git takes them.
func ownFiles(su *suite, failures []triage.Failure) []string {
	var files []string
	for _, f := range failures {
		switch {
		case f.Target.Suite != su.Name:
		case su.Framework == gotest.Name && f.Location.File != "":
			files = append(files, ":(literal)"+path.Dir(f.Location.File))
		case su.Framework == gotest.Name || f.Target.Package == "":
			files = append(files, ".")
		default:
			files = append(files, ":(literal)"+f.Target.Package)
		}
	}
	return files
}

// reads are those of the names that the code of either side reads as a variable: behind
// "env.", or in quotes, or taken out of process.env, or as a field of settings.
func (s *session) reads(ctx context.Context, su *suite, names, own []string) ([]string, error) {
	public := slices.DeleteFunc(slices.Clone(names), proc.Denied)
	private := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !proc.Denied(name) })
	found := wordSet{seen: map[string]bool{}}
	for _, look := range []struct{ names, files []string }{{public, sources(su.Framework)}, {private, own}} {
		if len(look.names) == 0 {
			continue
		}
		name := "(" + strings.Join(look.names, "|") + ")"
		args := []string{
			"-o", "-h", "-e", "(env\\.|[\"'`])" + name + "([^A-Za-z0-9_]|$)",
			"-e", "\\{[^{}]{0,200}[^A-Za-z0-9_{}]" + name + "[^A-Za-z0-9_{}][^{}]{0,200}\\} *= *(process|import\\.meta)\\.env",
		}
		for _, tree := range s.trees() {
			if _, err := s.grep(ctx, su, tree, args, look.files, &found); err != nil {
				return nil, err
			}
		}
	}
	settings, err := s.inSettings(ctx, su, names)
	return slices.DeleteFunc(kept(names, nil), func(name string) bool { return !found.seen[name] && !slices.Contains(settings, name) }), err
}

// wordSet remembers the words of what is written, each line of which ends in one
// write or the next.
type wordSet struct {
	seen map[string]bool
	rest []byte
}

// Write adds the words of whole lines.
func (w *wordSet) Write(b []byte) (int, error) {
	text := append(w.rest, b...)
	end := bytes.LastIndexByte(text, '\n') + 1
	for word := range bytes.FieldsFuncSeq(text[:end], notOfName) {
		w.seen[string(word)] = true
	}
	w.rest = slices.Clone(text[end:])
	return len(b), nil
}

// notOfName tells that a letter is none of a variable's name.
func notOfName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
