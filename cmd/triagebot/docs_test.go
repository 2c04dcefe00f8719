package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/triagebot/triagebot/internal/config"
)

// commandLine finds command lines of ours in a page: in a fence, a table or a
// workflow.
var commandLine = regexp.MustCompile("(?m)(?:^|`|run: )\\s*(?:\\$ )?triagebot ([^`#\n]*)")

// prose ends a sentence, which no command line does.
var prose = regexp.MustCompile(`[a-z]\.( |$)`)

// pages are the documents whose commands are tried.
func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(all, "../../README.md", "../../CONTRIBUTING.md")
}

// outside is where one of these characters first stands outside of single quotes,
// else the end.
func outside(line, chars string) int {
	quoted := false
	for i, r := range line {
		switch {
		case r == '\'':
			quoted = !quoted
		case !quoted && strings.ContainsRune(chars, r):
			return i
		}
	}
	return len(line)
}

func TestCommandsInDocumentsAreUnderstood(t *testing.T) {
	tried := 0
	for _, page := range pages(t) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range commandLine.FindAllStringSubmatch(string(b), -1) {
			line := strings.TrimSpace(strings.ReplaceAll(m[1], "…", ""))
			line = line[:outside(line, "|>")]
			if prose.MatchString(line) {
				continue
			}
			tried++
			if err := understood(line); err != nil {
				t.Errorf("%s: triagebot %s: %v", filepath.Base(page), line, err)
			}
		}
	}
	if tried < 8 {
		t.Errorf("only %d command lines were found: the pattern misses them", tried)
	}
}

func TestExamplesOfHelpAreUnderstood(t *testing.T) {
	root := newRoot(streams{in: &bytes.Buffer{}, out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	for _, c := range append(root.Commands(), root) {
		for line := range strings.Lines(c.Example) {
			if err := understood(strings.TrimPrefix(strings.TrimSpace(line), "triagebot ")); err != nil {
				t.Errorf("help of %s: %s: %v", c.Name(), strings.TrimSpace(line), err)
			}
		}
	}
}

// understood parses a command line without running it.
func understood(line string) error {
	words, err := config.Split(line)
	if err != nil {
		return err
	}
	root := newRoot(streams{in: &bytes.Buffer{}, out: &bytes.Buffer{}, err: &bytes.Buffer{}})
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

func TestMakeTargetsInDocumentsExist(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)")
	for _, page := range pages(t) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range target.FindAllStringSubmatch(string(b), -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
				t.Errorf("%s speaks of make %s, which is not there", filepath.Base(page), m[1])
			}
		}
	}
}

func TestLinksInDocumentsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for _, page := range pages(t) {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", filepath.Base(page), m[1], err)
			}
		}
	}
}

func TestConfigurationInTheReadmeIsRead(t *testing.T) {
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
		if !strings.Contains(m[1], "budget:") {
			continue // a workflow
		}
		found++
		if _, err := config.Load(strings.NewReader(m[1]), "README.md"); err != nil {
			t.Error(err)
		}
	}
	if found == 0 {
		t.Error("no configuration was found")
	}
}
