package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/proc"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// A value that is shorter is no secret worth the name, and would be found in
// every second word.
const leastSecret = 8

// secrets are the values of our own environment that are named like secrets, each
// line of them, the longest first. The runner hides them in the log; in a comment
// and in an artifact nobody does.
func (a *actionRun) secrets() []string {
	var found []string
	add := func(value string) {
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if len(line) >= leastSecret && line[0] != '/' && !strings.HasPrefix(line, "-----") {
				quoted := strconv.Quote(line) // as %q and repr print it
				found = append(found, line, quoted[1:len(quoted)-1])
			}
		}
	}
	for _, kv := range a.environ {
		name, value, _ := strings.Cut(kv, "=")
		if proc.Secret(name) {
			add(value)
		}
		for _, m := range urlPassword.FindAllStringSubmatch(value, -1) {
			add(m[1])
		}
	}
	for _, row := range inputTable() {
		if row.Secret {
			add(a.in[row.Name])
		}
	}
	slices.SortFunc(found, func(x, y string) int { return cmp.Or(len(y)-len(x), cmp.Compare(x, y)) })
	return slices.Compact(found)
}

// urlPassword is what an address logs in with, as that of a proxy or an index.
var urlPassword = regexp.MustCompile(`://[^/@\s]*?:([^/@\s]+)@`)

// hidden stands for a secret, as in the runner's log.
const hidden = "***"

// withoutSecrets is a report in which no text holds a secret: a test that was
// given one with pass-env, or that ran in the job before, may print it.
func withoutSecrets(r triage.Report, secrets []string) (triage.Report, error) {
	var b bytes.Buffer
	if err := report.Encode(&b, r); err != nil {
		return r, err
	}
	text := b.String()
	for _, s := range secrets {
		var quoted strings.Builder
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			return r, fmt.Errorf("hiding secrets: %w", err)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(quoted.String()), `"`), `"`)
		text = strings.ReplaceAll(text, inner, hidden)
	}
	if text == b.String() {
		return r, nil
	}
	out, err := report.Decode(strings.NewReader(text))
	if err != nil {
		return r, fmt.Errorf("hiding secrets in the report: a variable named like a secret has a value that is a word of the report: %w", err)
	}
	return out, nil
}
