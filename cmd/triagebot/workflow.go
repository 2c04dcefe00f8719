package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/triagebot/triagebot/internal/framework/shell"
	"github.com/triagebot/triagebot/internal/triage"
)

// workflow is what a workflow file tells of variables. They are maps, or one
// expression that nobody can read here.
type workflow struct {
	Env  any                    `yaml:"env"`
	Jobs map[string]workflowJob `yaml:"jobs"`
}

type workflowJob struct {
	Env       any `yaml:"env"`
	Container any `yaml:"container"`
	Steps     []struct {
		Env  any            `yaml:"env"`
		Run  any            `yaml:"run"`
		With map[string]any `yaml:"with"`
	} `yaml:"steps"`
}

// variables are those that a job of a workflow and its steps give to commands, with
// the values that stand there, or "" for one that only GitHub knows. Of a job that is
// not there, or runs no command, they are those of all jobs: it triages for another.
func (w workflow) variables(job string) map[string][]string {
	found := map[string][]string{}
	add := func(env any) {
		if m, ok := env.(map[string]any); ok {
			for name, value := range m {
				found[name] = append(found[name], literal(value))
			}
		}
	}
	add(w.Env)
	jobs := []workflowJob{w.Jobs[job]}
	if !jobs[0].runs() {
		jobs = nil
		for _, j := range w.Jobs {
			jobs = append(jobs, j)
		}
	}
	for _, j := range jobs {
		add(j.Env)
		if c, ok := j.Container.(map[string]any); ok {
			add(c["env"])
		}
		for _, step := range j.Steps {
			text := step.Run
			for _, key := range []string{"command", "run", "script"} { // of actions that run one again
				if text == nil {
					text = step.With[key]
				}
			}
			if text == nil {
				continue
			}
			add(step.Env)
			for _, kv := range assigned(fmt.Sprint(text)) {
				name, value, _ := strings.Cut(kv, "=")
				found[name] = append(found[name], literal(value))
			}
		}
	}
	return found
}

// runs tells whether a job runs a command of its own.
func (j workflowJob) runs() bool {
	for _, step := range j.Steps {
		if step.Run != nil {
			return true
		}
	}
	return false
}

// literal is a value as the environment has it, "" for one that only GitHub or a
// shell knows.
func literal(value any) string {
	if value == nil {
		return ""
	}
	text := fmt.Sprint(value)
	if strings.Contains(text, "${{") || strings.ContainsAny(text, "$`"+shell.Unknown) {
		return ""
	}
	return text
}

var (
	reExpression = regexp.MustCompile(`\$\{\{[^}]*\}\}`)
	// reLater is a line for the file of variables that later steps get.
	reLater = regexp.MustCompile(`(?m)(?:^|[\s"'])([A-Za-z_][A-Za-z0-9_]*)(=|<<)[^\n]*GITHUB_ENV`)
	// reHere is a variable of PowerShell.
	reHere = regexp.MustCompile(`(?i)\$env:([A-Za-z_][A-Za-z0-9_]*)\s*=`)
)

// assigned are the words KEY=VALUE that commands begin with, that they export, or that
// they write for later steps.
func assigned(text string) []string {
	text = reExpression.ReplaceAllString(text, "$$EXPRESSION")
	var out []string
	for _, step := range shell.Parse(text) {
		out = append(out, step.Env...)
		if len(step.Words) > 0 && slices.Contains([]string{"env", "cross-env", "cross-env-shell"}, step.Words[0]) {
			more, _ := shell.Assignments(step.Words[1:])
			out = append(out, more...)
		}
	}
	for _, re := range []*regexp.Regexp{reLater, reHere} {
		for _, m := range re.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1]+"=$")
		}
	}
	return out
}

// keptByWorkflow are the variables that the workflow file of this run gives to its
// commands and that are not in an environment with any of the values that stand there.
func (s *session) keptByWorkflow(passed []string) (names []string, file string) {
	file = os.Getenv(workflowVar)
	text := textOf(treeFS(s.ws.Tree(triage.Head).Dir), file)
	var w workflow
	if text == "" || yaml.Unmarshal([]byte(text), &w) != nil {
		return nil, "" // GitHub ran it, but we cannot read it
	}
	for name, values := range w.variables(os.Getenv(jobVar)) {
		had := slices.ContainsFunc(passed, func(kv string) bool {
			have, value, _ := strings.Cut(kv, "=")
			return have == name && (slices.Contains(values, value) || slices.Contains(values, ""))
		})
		if !had {
			names = append(names, name)
		}
	}
	return kept(names, nil), file
}
