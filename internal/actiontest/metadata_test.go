package actiontest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/triagebot/triagebot/internal/config"
)

var update = flag.Bool("update", false, "write the generated parts of action.yml, host/action.yml and docs/inputs.md")

// row is a row of the tables that "triagebot action --print-inputs" prints.
type row struct {
	Name, Default, Flag, Key, Description string
	List, Secret                          bool
	Modes                                 []string
}

type tables struct{ Inputs, Outputs []row }

// metadata is an action.yml.
type metadata struct {
	Name, Description, Author string
	Branding                  struct{ Icon, Color string }
	Inputs, Outputs           map[string]struct {
		Description, Default, Value string
		Required                    bool
	}
	Runs struct {
		Using, Image string
		Steps        []step
	}
}

type step struct {
	ID, Shell, Run, Uses, Name string
	If                         string
	Env, With                  map[string]string
}

// hostOnly are the inputs that only host/action.yml has: where its binary is.
var hostOnly = []row{
	{Name: "binary", Description: "A triagebot binary to run, for runners that reach no release. Its checksum must be known."},
	{Name: "sha256", Description: "SHA-256 of that binary; without it that of the release."},
}

// readTables asks the program for its tables.
func readTables(t *testing.T) tables {
	t.Helper()
	out, err := exec.Command(triagebot(t), "action", "--print-inputs").Output()
	if err != nil {
		t.Fatal(err)
	}
	var tb tables
	if err := json.Unmarshal(out, &tb); err != nil {
		t.Fatal(err)
	}
	return tb
}

func readMetadata(t *testing.T, path string) metadata {
	t.Helper()
	var m metadata
	if err := yaml.UnmarshalWithOptions(readFile(t, path), &m, yaml.Strict()); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return m
}

func TestMetadataAndDocumentsHaveTheProgramsTables(t *testing.T) {
	tb := readTables(t)
	host := append(append([]row{}, tb.Inputs...), hostOnly...)
	for _, f := range []struct{ path, mark, text string }{
		{"action.yml", "# %s generated", inputsYAML(tb.Inputs) + outputsYAML(tb.Outputs, "")},
		{"host/action.yml", "# %s generated", inputsYAML(host) + outputsYAML(tb.Outputs, "run")},
		{"host/action.yml", "        # %s generated env", hostEnv(tb.Inputs)},
		{"docs/inputs.md", "<!-- %s generated inputs -->", inputsMarkdown(host)},
		{"docs/inputs.md", "<!-- %s generated outputs -->", outputsMarkdown(tb.Outputs)},
	} {
		old := string(readFile(t, f.path))
		from, to := fmt.Sprintf(f.mark, "begin")+"\n", fmt.Sprintf(f.mark, "end")+"\n"
		before, rest, ok := strings.Cut(old, from)
		_, after, ok2 := strings.Cut(rest, to)
		if !ok || !ok2 {
			t.Errorf("%s has no lines %q and %q", f.path, from, to)
			continue
		}
		want := before + from + f.text + to + after
		if *update {
			write(t, filepath.Join(root, f.path), want)
			continue
		}
		if diff := cmp.Diff(old, want); diff != "" {
			t.Errorf("%s differs from the program's table; run go test ./internal/actiontest -run Tables -update\n%s", f.path, diff)
		}
	}
}

// The files are read back with a reader of YAML, so that what is generated is
// compared as GitHub understands it and not as it was written.
func TestMetadataReadsBackAsTheTable(t *testing.T) {
	tb := readTables(t)
	for path, rows := range map[string][]row{"action.yml": tb.Inputs, "host/action.yml": append(append([]row{}, tb.Inputs...), hostOnly...)} {
		m := readMetadata(t, path)
		if len(m.Inputs) != len(rows) {
			t.Errorf("%s has %d inputs, the table %d", path, len(m.Inputs), len(rows))
		}
		for _, r := range rows {
			in, ok := m.Inputs[r.Name]
			if !ok || in.Default != r.Default || in.Description != r.Description || in.Required {
				t.Errorf("%s: input %s is %+v (there: %v), want default %q and %q", path, r.Name, in, ok, r.Default, r.Description)
			}
		}
		for _, r := range tb.Outputs {
			if out, ok := m.Outputs[r.Name]; !ok || out.Description != r.Description {
				t.Errorf("%s: output %s is %+v, want %q", path, r.Name, out, r.Description)
			}
		}
		if len(m.Outputs) != len(tb.Outputs) {
			t.Errorf("%s has %d outputs, the table %d", path, len(m.Outputs), len(tb.Outputs))
		}
	}
}

// An input reaches a container action by the runner, but a composite action only
// by its own env: one that is forgotten there is silently ignored.
func TestHostActionHandsOnEveryInput(t *testing.T) {
	m := readMetadata(t, "host/action.yml")
	text := string(readFile(t, "host/action.yml"))
	for name := range m.Inputs {
		if !strings.Contains(text, "${{ inputs."+name+" }}") {
			t.Errorf("host/action.yml does not hand on the input %s", name)
		}
	}
	for _, s := range m.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %s puts an expression into a shell: %s", s.ID, s.Run)
		}
	}
}

func TestInputsAreFlagsAndKeys(t *testing.T) {
	help, err := exec.Command(triagebot(t), "measure", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, k := range config.Keys() {
		keys[k.Name] = k.Env != ""
	}
	seen := map[string]bool{}
	for _, r := range readTables(t).Inputs {
		if r.Flag != "" && !bytes.Contains(help, []byte("--"+r.Flag+" ")) {
			t.Errorf("input %s: measure has no flag --%s", r.Name, r.Flag)
		}
		if r.Key != "" && !keys[r.Key] {
			t.Errorf("input %s: the configuration has no key %s with a flag", r.Name, r.Key)
		}
		if r.Key != "" && r.Default != "" {
			t.Errorf("input %s has the default %q: an input that is not given must not overrule the file", r.Name, r.Default)
		}
		if r.Secret && r.Flag != "" {
			t.Errorf("input %s is a secret and would stand in a command line", r.Name)
		}
		seen[r.Key] = true
	}
	for name, settable := range keys {
		if settable && !seen[name] {
			t.Errorf("the key %s is no input", name)
		}
	}
}

func TestMarketplaceHasWhatItAsksFor(t *testing.T) {
	m := readMetadata(t, "action.yml")
	if m.Name == "" || m.Author == "" || m.Branding.Icon == "" || m.Branding.Color == "" {
		t.Errorf("name, author and branding are needed: %+v", m)
	}
	if n := len(m.Description); n == 0 || n > 160 {
		t.Errorf("the description has %d characters, 1 to 160 are shown", n)
	}
	if m.Runs.Using != "docker" || m.Runs.Image != "Dockerfile" {
		t.Errorf("the action at the root runs %+v, want the container", m.Runs)
	}
}

// quoted is a YAML scalar on one line; JSON's strings are YAML's.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSpace(b.String())
}

func inputsYAML(rows []row) string {
	var b strings.Builder
	b.WriteString("inputs:\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", r.Name, quoted(r.Description))
		if r.Default != "" {
			fmt.Fprintf(&b, "    default: %s\n", quoted(r.Default))
		}
	}
	return b.String()
}

func outputsYAML(rows []row, from string) string {
	var b strings.Builder
	b.WriteString("outputs:\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n", r.Name, quoted(r.Description))
		if from != "" {
			fmt.Fprintf(&b, "    value: ${{ steps.%s.outputs.%s }}\n", from, r.Name)
		}
	}
	return b.String()
}

// hostEnv writes underscores: some shells drop variables with hyphens.
func hostEnv(rows []row) string {
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "        INPUT_%s: ${{ inputs.%s }}\n", strings.ToUpper(strings.ReplaceAll(r.Name, "-", "_")), r.Name)
	}
	return b.String()
}

func inputsMarkdown(rows []row) string {
	var b strings.Builder
	b.WriteString("| input | default | modes | flag of `measure` | configuration | what |\n|---|---|---|---|---|---|\n")
	for _, r := range rows {
		modes, what := strings.Join(r.Modes, ", "), r.Description
		if modes == "" {
			modes = "all"
		}
		for _, h := range hostOnly {
			if h.Name == r.Name {
				modes = "all, in `host` only"
			}
		}
		if r.List {
			modes += "; one a line"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.Name, code(r.Default), modes, code(dashes(r.Flag)), code(r.Key), what)
	}
	return b.String()
}

func outputsMarkdown(rows []row) string {
	var b strings.Builder
	b.WriteString("| output | what |\n|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Name, r.Description)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func dashes(flag string) string {
	if flag == "" {
		return ""
	}
	return "--" + flag
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
