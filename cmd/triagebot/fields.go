package main

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
	"github.com/triagebot/triagebot/internal/framework/pytest"
)

// maxSettings bounds the files that are read for settings.
const maxSettings = 100

// settingsMark is in a file whose code reads the environment by the names of fields
// or keys (pydantic, dynaconf, environ-config, typed-settings; envconfig, env, viper;
// whatever is handed the whole of process.env), as an extended regular expression.
func settingsMark(framework string) string {
	switch framework {
	case gotest.Name:
		return `envconfig\.(Must)?Process|AutomaticEnv\(|env\.(Parse|ParseAs|Must)`
	case pytest.Name:
		return `BaseSettings|Dynaconf\(|environ\.config|typed_settings`
	}
	return `(process|import\.meta)\.env *($|[]),;}|&]|[?][?])`
}

// inSettings are those of the names that a file with settings has as a field: no
// text of the variable's own name need be there.
func (s *session) inSettings(ctx context.Context, su *suite, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found := map[string]bool{}
	for _, tree := range s.trees() {
		var list strings.Builder
		if _, err := s.grep(ctx, su, tree, []string{"-l", "-z", "-e", settingsMark(su.Framework)}, sources(su.Framework), &list); err != nil {
			return nil, err
		}
		files, paths := treeFS(tree), strings.FieldsFunc(list.String(), func(r rune) bool { return r == 0 })
		for _, p := range paths[:min(len(paths), maxSettings)] {
			for _, name := range asFields(textOf(files, path.Clean(p)), names, foldOf(su.Framework)) {
				found[name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !found[name] }), nil
}

var (
	reField  = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
	rePrefix = regexp.MustCompile("[\"'`]([A-Za-z][A-Za-z0-9_]*)[\"'`]")
)

// asFields are those of the names that a text has as a word, or that are one of its
// words behind a prefix which it has in quotes ("APP_", "app"). Words are compared as
// fold makes them.
func asFields(text string, names []string, fold func(string) string) []string {
	fields, prefixes := map[string]bool{}, map[string]bool{}
	for _, word := range reField.FindAllString(text, -1) {
		fields[fold(word)] = true
	}
	for _, m := range rePrefix.FindAllStringSubmatch(text, -1) {
		prefixes[folded(m[1])] = true
	}
	has := func(name string) bool {
		outer, _, _ := strings.Cut(name, "__") // of nested settings, the outer field
		return fields[fold(name)] || fields[fold(outer)]
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if has(name) {
			return false
		}
		for i, c := range name {
			if c == '_' && prefixes[folded(name[:i])] && has(strings.TrimLeft(name[i:], "_")) {
				return false
			}
		}
		return true
	})
}

// foldOf is how the names of fields and variables are compared: JavaScript's keys are
// the variables' own names.
func foldOf(framework string) func(string) string {
	if framework == gotest.Name || framework == pytest.Name {
		return folded
	}
	return strings.Clone
}

// folded is a name without what the ways of writing it differ in: DATABASE_URL,
// database_url, DatabaseURL.
func folded(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}
