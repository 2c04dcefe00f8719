package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/config"
)

// inputRow is one row of the table of what action.yml takes. A test holds
// action.yml, the flags and the documents against it.
type inputRow struct {
	// Name is the input's name in a workflow.
	Name string `json:"name"`
	// Default is what action.yml has. It is empty for keys of the configuration:
	// an input that is not given must not overrule the file.
	Default string `json:"default"`
	// Flag is the flag of "triagebot measure" that the input becomes, without
	// dashes; empty for one that only the action reads.
	Flag string `json:"flag,omitempty"`
	// Key is the key of the configuration that it gives, empty for none.
	Key string `json:"key,omitempty"`
	// List is set when every line of the value becomes one flag.
	List bool `json:"list,omitempty"`
	// Modes are the modes that read it, empty for all.
	Modes []string `json:"modes,omitempty"`
	// Secret is set when the value must never be printed or passed on.
	Secret bool `json:"secret,omitempty"`
	// Doc is its description.
	Doc string `json:"description"`
}

// outputRow is one row of the table of what the action gives to later steps.
type outputRow struct {
	Name string `json:"name"`
	Doc  string `json:"description"`
}

// The modes of the action.
const (
	modeAuto    = "auto"
	modeMeasure = "measure"
	modePublish = "publish"
	modeCommand = "command"
	modeSweep   = "sweep"
	modePlan    = "plan"
	modeMerge   = "merge"
)

var (
	measuring = []string{modeMeasure, modeSweep}
	planning  = append(slices.Clone(measuring), modePlan)
	saving    = append(slices.Clone(measuring), modeMerge)
)

// inputTable is the one list of inputs: first those of the action itself, then
// one for each key of the configuration that can be given as a flag.
func inputTable() []inputRow {
	table := slices.Concat(generalInputs, measureInputs, publishInputs, commandInputs)
	for _, k := range config.Keys() {
		if k.Env == "" {
			continue
		}
		doc := k.Doc
		if k.Default != "" {
			doc = strings.TrimSuffix(doc, ".") + " (" + k.Default + " when neither this nor the configuration file has it)."
		}
		modes := measuring
		if k.Name == "fail-on" {
			modes = saving
		}
		table = append(table, inputRow{Name: k.Name, Flag: k.Name, Key: k.Name, Modes: modes, Doc: doc})
	}
	return table
}

var generalInputs = []inputRow{
	{Name: "mode", Default: modeAuto, Doc: "What to do: auto (by the event), measure, publish, command, sweep, plan or merge."},
	{Name: "token", Default: "${{ github.token }}", Secret: true, Doc: "Token for the API. Tests never see it. docs/permissions.md says what each mode needs."},
	{Name: "app-id", Doc: "Id of a GitHub App to speak as, instead of the token."},
	{Name: "app-key", Secret: true, Doc: "Private key of that App, in PEM."},
	{Name: "app-installation", Doc: "Installation of that App."},
	{Name: "login", Doc: "Account whose comments are the action's own; only needed where an App answers /triage and the workflow's own token measures."},
	{Name: "check-name", Doc: "Name of this check in the comment; give one to each leg of a matrix, or to each of several checks of one pull request."},
	{Name: "artifact-name", Default: "triagebot-report", Doc: "What the names of the artifacts with reports begin with."},
	{Name: "dry-run", Default: "false", Doc: "Say what would be written to GitHub, and write nothing."},
}

var measureInputs = []inputRow{
	{Name: "command", Modes: measuring, Doc: "Command that runs the tests, without a shell; when it is red its reds are triaged at once."},
	{Name: "reports", Flag: "report", List: true, Modes: []string{modeMeasure, modePlan, modeMerge}, Doc: "Test reports of the red run, one glob a line: go test -json or JUnit XML. For merge, the report.json of each shard."},
	{Name: "logs", Flag: "log", List: true, Modes: []string{modeMeasure, modePlan}, Doc: "Raw logs of the red run, one file a line."},
	{Name: "tests", Flag: "test", List: true, Modes: []string{modeMeasure}, Doc: "Failing tests by name, one a line."},
	{Name: "log-jobs", Default: "", Modes: []string{modeMeasure}, Doc: "Jobs of this run whose logs are read when no report, log, test or command is given, one name a line; a name ends in * for all that begin so. Without it all failed jobs."},
	{Name: "head", Flag: "head", Modes: measuring, Doc: "The red revision; without it what is checked out."},
	{Name: "base", Flag: "base", Modes: measuring, Doc: "The revision without the change; without it the first parent of a merge, or the merge base. For a sweep the revision since which what changed is looked at first."},
	{Name: "suite", Flag: "suite", Modes: measuring, Doc: "The suite of the configuration to triage."},
	{Name: "shard", Flag: "shard", Modes: measuring, Doc: "Measure one part of the failing tests only, INDEX/SHARDS, for the legs of a matrix."},
	{Name: "shards", Modes: []string{modePlan}, Doc: "How many machines share the check; the output matrix has one entry for each."},
	{Name: "history", Flag: "history", Modes: planning, Doc: "Folder in the workspace with earlier reports: a prior that is printed, and the durations that a plan goes by. Every leg of a matrix needs the same."},
	{Name: "setup", Flag: "setup", List: true, Modes: measuring, Doc: "Commands that make a fresh tree ready, one a line, run on both sides without a shell."},
	{Name: "out", Default: defaultOut, Modes: saving, Doc: "Folder in the workspace for report.json and its pages; upload it as an artifact."},
	{Name: "working-directory", Default: ".", Modes: append(slices.Clone(planning), modeMerge), Doc: "The git repository, or a folder of it, in the workspace."},
	{Name: "test-user", Default: "auto", Modes: measuring, Doc: "User that tests run as when the action runs as root, a name or UID:GID; auto takes triage or, without such a user, 65534; none stays root."},
	{Name: "comment", Default: "auto", Modes: []string{modeMeasure, modePublish, modeSweep, modeMerge}, Doc: "auto: comment on the pull request, or keep the tracking issue of sweeps, when the token may, else only the job summary; always: that it may not is an error; off: never."},
}

var publishInputs = []inputRow{
	{Name: "run-id", Modes: []string{modePublish}, Doc: "The run whose reports are published; without it that of the workflow_run event."},
}

var commandInputs = []inputRow{
	{Name: "workflow", Modes: []string{modeCommand, modePublish}, Doc: "File name of the workflow that measures, for example ci.yml: /triage runs it again, and publish takes reports from no other."},
	{Name: "job", Modes: []string{modeCommand}, Doc: "Name of the job in that workflow that measures: /triage runs only this one again; without it the whole run."},
	{Name: "permission", Default: "write", Modes: []string{modeCommand}, Doc: "Least role that /triage is taken from: triage, write, maintain or admin."},
	{Name: "cooldown", Default: "2m", Modes: []string{modeCommand}, Doc: "Time between two accepted /triage on one pull request."},
}

// outputTable is the one list of outputs.
var outputTable = []outputRow{
	{"verdict", "yours, not-yours, mixed, inconclusive, green, or none when there is no report."},
	{"regressions", "Number of likely regressions."},
	{"introduced-flakes", "Number of tests that this pull request made flaky."},
	{"new-races", "Number of lag-revealed races that this pull request brought."},
	{"old-races", "Number of lag-revealed races that were there before."},
	{"pre-existing-flakes", "Number of flakes that were there before."},
	{"broken-on-base", "Number of tests that are broken without the pull request too."},
	{"inconclusive", "Number of tests of which nothing could be told."},
	{"report-path", "Path of report.json from the workspace; its folder is what to upload."},
	{"artifact-path", "Folder of report-path."},
	{"comment-url", "Address of the comment, empty when there is none."},
	{"should-fail", "true when a verdict hits fail-on."},
	{outputMatrix, "The matrix of the machines that share a check, as JSON for fromJSON; of the mode plan only."},
}

// inputEnv are the variables that hold an input: the runner keeps hyphens, which
// some shells do not hand on, so that a composite action writes underscores.
func inputEnv(name string) [2]string {
	upper := "INPUT_" + strings.ToUpper(name)
	return [2]string{upper, strings.ReplaceAll(upper, "-", "_")}
}

// inputs are the values of one run.
type inputs map[string]string

// readInputs takes the values of the table from the environment. One that is
// empty counts as not given. An unknown INPUT_* is a slip in a workflow; the
// runner has warned of it already.
func readInputs(lookup func(string) (string, bool)) inputs {
	in := inputs{}
	for _, row := range inputTable() {
		in[row.Name] = row.value(lookup)
	}
	return in
}

// value is what the environment has, else the default; the default of a secret
// is an expression of the runner's.
func (row inputRow) value(lookup func(string) (string, bool)) string {
	for _, name := range inputEnv(row.Name) {
		if v, ok := lookup(name); ok && strings.TrimSpace(v) != "" {
			return strings.TrimSpace(v)
		}
	}
	if row.Secret {
		return ""
	}
	return row.Default
}

// with is a copy with another value; without, one with some that are empty.
func (in inputs) with(name, value string) inputs {
	out := maps.Clone(in)
	out[name] = value
	return out
}

func (in inputs) without(names ...string) inputs {
	out := maps.Clone(in)
	for _, name := range names {
		out[name] = ""
	}
	return out
}

// sources counts the inputs that say where the red tests are.
func (in inputs) sources() int {
	n := 0
	for _, name := range []string{"reports", "logs", "tests", "command"} {
		if in[name] != "" {
			n++
		}
	}
	return n
}

// checkSettings reads the keys of the configuration as the flags would, so that a
// slip is told before anything is done.
func (in inputs) checkSettings() error {
	var cfg config.Config
	for _, row := range inputTable() {
		if row.Key == "" || in[row.Name] == "" {
			continue
		}
		if err := cfg.Set(row.Key, in[row.Name]); err != nil {
			return fmt.Errorf("reading input %s: %w", row.Name, err)
		}
	}
	return nil
}

// lines are the values of a list input.
func lines(value string) []string {
	var out []string
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// measureArgs are the flags of measure that the inputs become.
func (in inputs) measureArgs() []string {
	var args []string
	for _, row := range inputTable() {
		switch v := in[row.Name]; {
		case row.Flag == "" || v == "":
		case row.List:
			for _, line := range lines(v) {
				args = append(args, "--"+row.Flag+"="+line)
			}
		default:
			args = append(args, "--"+row.Flag+"="+v)
		}
	}
	return args
}

// printInputs writes both tables as JSON.
func printInputs(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	err := e.Encode(struct {
		Inputs  []inputRow  `json:"inputs"`
		Outputs []outputRow `json:"outputs"`
	}{inputTable(), outputTable})
	if err != nil {
		return fmt.Errorf("printing the inputs: %w", err)
	}
	return nil
}
