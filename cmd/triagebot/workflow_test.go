package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestVariablesOfAWorkflowAreThoseOfItsCommands(t *testing.T) {
	t.Parallel()
	const text = `
env: {ALL: 1}
jobs:
  test:
    env:
      JOB: ${{ matrix.x }}
    container: {image: x, env: {BOX: 1}}
    steps:
      - uses: actions/checkout@v5
        env: {OF_AN_ACTION: 1}
      - uses: again/retry@v1
        with: {command: AGAIN=1 make test}
        env: {OF_AGAIN: 1}
      - run: pip install django==5.0 && title=5
      - run: |
          IN_LINE=1 make test --with=X
          export EXPORTED="a b"
          env BEHIND_ENV=1 npx cross-env CROSS=${{ matrix.x }} mocha
          echo "LATER=1" >>"$GITHUB_ENV"
          echo "TEXT<<EOF" >> $GITHUB_ENV
          echo "version=1.2" >> $GITHUB_OUTPUT
        env: {STEP: "1", ALL: 2}
  windows:
    env: ${{ fromJSON(x) }}
    steps: [{run: "$env:SHELL_OF_WINDOWS = 1", shell: pwsh}]
  called:
    uses: ./.github/workflows/other.yml
`
	for _, c := range []struct{ text, job, want string }{
		{text, "test", "AGAIN ALL BEHIND_ENV BOX EXPORTED IN_LINE JOB LATER OF_AGAIN STEP TEXT title"},
		{text, "windows", "ALL SHELL_OF_WINDOWS"},
		{text, "called", "AGAIN ALL BEHIND_ENV BOX EXPORTED IN_LINE JOB LATER OF_AGAIN SHELL_OF_WINDOWS STEP TEXT title"},
		{"", "test", ""},
		{"env: ${{ fromJSON(x) }}\njobs: {test: {steps: [{run: x, env: {A: 1}}]}}", "test", "A"},
	} {
		var w workflow
		if err := yaml.Unmarshal([]byte(c.text), &w); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(slices.Sorted(maps.Keys(w.variables(c.job))), " ")
		if got != c.want {
			t.Errorf("%s of %q:\n got %s\nwant %s", c.job, c.text, got, c.want)
		}
	}
}

func TestValuesThatOnlyGitHubKnowsAreNone(t *testing.T) {
	t.Parallel()
	for value, want := range map[any]string{"test": "test", 1: "1", true: "true", "${{ matrix.x }}": "", "$HOME/x": ""} {
		if got := literal(value); got != want {
			t.Errorf("%v: %q, want %q", value, got, want)
		}
	}
}
