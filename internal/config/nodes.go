package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

var errShape = errors.New("another kind of value is wanted")

// scalar is the text of a single value of one of the given types. Anchors,
// aliases and tags are none of them.
func (l *loader) scalar(n ast.Node, types ...ast.NodeType) (string, error) {
	if lit, ok := n.(*ast.LiteralNode); ok && lit.Value != nil && slices.Contains(types, ast.StringType) {
		return strings.TrimRight(lit.Value.Value, "\n"), nil
	}
	if n == nil || !slices.Contains(types, n.Type()) {
		return "", errShape
	}
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value, nil
	}
	return n.GetToken().Value, nil
}

// items are the elements of a list of bounded length.
func (l *loader) items(n ast.Node) ([]ast.Node, error) {
	s, ok := n.(*ast.SequenceNode)
	if !ok || len(s.Values) > maxItems {
		return nil, errShape
	}
	return s.Values, nil
}

// texts are the elements of a list of single values.
func (l *loader) texts(n ast.Node) ([]string, error) {
	items, err := l.items(n)
	if err != nil {
		return nil, err
	}
	out := make([]string, 0, len(items))
	for _, x := range items {
		s, err := l.scalar(x, ast.StringType, ast.IntegerType, ast.FloatType, ast.BoolType)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// listText is a list, or a text with separators, as a flag would have it.
func (l *loader) listText(key string, n ast.Node) (string, error) {
	if s, err := l.scalar(n, ast.StringType, ast.BoolType); err == nil {
		return s, nil
	}
	words, err := l.texts(n)
	for _, w := range words {
		if len(list(w)) != 1 {
			return "", errShape
		}
	}
	return strings.Join(words, ","), err
}

// found names a kind of value for people.
func found(n ast.Node) string {
	if n == nil {
		return "nothing"
	}
	switch n.Type() {
	case ast.NullType:
		return "nothing"
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType:
		return "an anchor or alias, which this file may not have"
	case ast.TagType:
		return "a tag, which this file may not have"
	case ast.SequenceType:
		return "a list"
	case ast.MappingType, ast.MappingValueType, ast.MappingKeyType:
		return "keys and values"
	case ast.StringType, ast.LiteralType:
		return "text"
	case ast.IntegerType, ast.FloatType, ast.InfinityType, ast.NanType:
		return "a number"
	case ast.BoolType:
		return "true or false"
	}
	return "another kind of value"
}

func (l *loader) suites(n ast.Node) error {
	items, err := l.items(n)
	if err != nil {
		return l.errorf(n, "suites: want a list of at most %d suites, found %s", maxItems, found(n))
	}
	for i, item := range items {
		s := Suite{Dir: "."}
		path := fmt.Sprintf("suites[%d]", i)
		err := l.mapping(item, path, suiteKeys, func(k Key, path string, _, value ast.Node) error {
			if err := l.suiteKey(&s, k, value); err != nil {
				var located *Error
				if errors.As(err, &located) {
					return err
				}
				return l.errorf(value, "%s: %v", path, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if s.Name == "" {
			return l.errorf(item, "%s: the key \"name\" is missing", path)
		}
		if slices.ContainsFunc(l.c.Suites, func(o Suite) bool { return o.Name == s.Name }) {
			return l.errorf(item, "%s: there is another suite of the name %q", path, s.Name)
		}
		l.c.Suites = append(l.c.Suites, s)
	}
	return nil
}

func (l *loader) suiteKey(s *Suite, k Key, value ast.Node) (err error) {
	switch k.Name {
	case "command":
		s.Command, err = l.command(value)
		return err
	case "setup":
		s.Setup, err = l.setup(value)
		return err
	case "seams":
		s.Seams, err = l.seams(value)
		return err
	}
	var text string
	if k.Name == "pass-env" {
		text, err = l.listText(k.Name, value)
	} else {
		text, err = l.scalar(value, ast.StringType)
	}
	if err != nil {
		return fmt.Errorf("want %s, found %s", k.Type, found(value))
	}
	switch k.Name {
	case "name":
		s.Name, err = plainName(text)
	case "dir":
		s.Dir, err = directory(text)
	case "framework":
		s.Framework, err = plainName(text)
	case "pass-env":
		s.PassEnv, err = envNames(list(text))
	}
	return err
}

// command is a list of words, or a line that is split into them.
func (l *loader) command(n ast.Node) ([]string, error) {
	if line, err := l.scalar(n, ast.StringType); err == nil {
		words, err := Split(line)
		if err != nil {
			return nil, err
		}
		return argv(words)
	}
	words, err := l.texts(n)
	if err != nil {
		return nil, fmt.Errorf("want a command line or a list of words, found %s", found(n))
	}
	return argv(words)
}

// setup is a list of commands, or one command line.
func (l *loader) setup(n ast.Node) ([][]string, error) {
	if _, err := l.scalar(n, ast.StringType); err == nil {
		one, err := l.command(n)
		return [][]string{one}, err
	}
	items, err := l.items(n)
	if err != nil {
		return nil, fmt.Errorf("want a list of commands, found %s", found(n))
	}
	if words, err := l.texts(n); err == nil && len(words) > 1 && n.(*ast.SequenceNode).IsFlowStyle && allWords(words) {
		return nil, fmt.Errorf("these are %d commands of one word each; one command is [[%s]] or %q",
			len(words), strings.Join(words, ", "), strings.Join(words, " "))
	}
	var out [][]string
	for _, item := range items {
		c, err := l.command(item)
		if err != nil {
			return nil, l.errorf(item, "setup: %v", err)
		}
		out = append(out, c)
	}
	return out, nil
}

// seams are a list of seams, or one.
func (l *loader) seams(n ast.Node) ([]string, error) {
	if one, err := l.scalar(n, ast.StringType); err == nil {
		return []string{one}, seam(one)
	}
	items, err := l.items(n)
	if err != nil || len(items) == 0 {
		return nil, fmt.Errorf("want a list of options and functions, found %s", found(n))
	}
	var out []string
	for _, item := range items {
		text, err := l.scalar(item, ast.StringType)
		if err != nil {
			return nil, l.errorf(item, "seams: want an option or a function, found %s", found(item))
		}
		if err := seam(text); err != nil {
			return nil, l.errorf(item, "seams: %v", err)
		}
		if slices.Contains(out, text) {
			return nil, l.errorf(item, "seams: %s is there twice", quoted(text))
		}
		out = append(out, text)
	}
	return out, nil
}

func allWords(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return len(strings.Fields(w)) != 1 })
}
