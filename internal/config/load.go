package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

const (
	// maxFile caps the file. A real one has a few hundred bytes.
	maxFile = 64 << 10
	// maxNesting caps the brackets and the indents before the parser sees them;
	// the format needs five levels.
	maxNesting = 20
)

// Error is a fault in the file, and where it is.
type Error struct {
	File      string
	Line, Col int // from 1
	Msg       string
}

// Error is "file:line:col: message".
func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// Load reads a file called name, for errors. An empty file is an empty Config.
// Every fault of the text is an [*Error]; only the first is told.
func Load(r io.Reader, name string) (Config, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return Config{}, fmt.Errorf("reading %s: %w", name, err)
	}
	l := loader{file: name, c: Config{at: places{}}}
	if err := l.checkText(data); err != nil {
		return Config{}, err
	}
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Config{}, l.syntax(err)
	}
	if err := l.documents(f); err != nil {
		return Config{}, err
	}
	return l.c, nil
}

type loader struct {
	file string
	c    Config
}

func (l *loader) errorf(n ast.Node, format string, args ...any) error {
	e := &Error{File: l.file, Line: 1, Col: 1, Msg: fmt.Sprintf(format, args...)}
	if line, col := position(n); line > 0 {
		e.Line, e.Col = line, col
	}
	return e
}

// position is where a node begins. The token of a mapping is its first colon,
// so its first key is taken instead.
func position(n ast.Node) (line, col int) {
	switch v := n.(type) {
	case nil:
		return 0, 0
	case *ast.MappingNode:
		if len(v.Values) > 0 && !v.IsFlowStyle {
			return position(v.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(v.Key)
	case *ast.LiteralNode:
		return v.Start.Position.Line, v.Start.Position.Column
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, max(t.Position.Column, 1)
}

// checkText refuses what would cost the parser too much, or what it would mend
// in silence.
func (l *loader) checkText(data []byte) error {
	at := func(offset int, format string, args ...any) error {
		before := data[:offset]
		return &Error{l.file, 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
	}
	if len(data) > maxFile {
		return at(maxFile, "the file is larger than %d bytes", maxFile)
	}
	depth := 0
	for i, w := 0, 0; i < len(data); i += w {
		var r rune
		r, w = utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			return at(i, "the file is not UTF-8")
		case r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f:
			return at(i, "the control character %U", r)
		case r == '[' || r == '{':
			if depth++; depth > maxNesting {
				return at(i, "nested deeper than %d", maxNesting)
			}
		case r == ']' || r == '}':
			depth = max(0, depth-1)
		}
	}
	return l.checkIndent(data, at)
}

// checkIndent bounds the nesting of blocks by the widest indent, and the list
// marks on one line.
func (l *loader) checkIndent(data []byte, at func(int, string, ...any) error) error {
	offset := 0
	for line := range bytes.Lines(data) {
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		if indent > 8*maxNesting {
			return at(offset+indent, "indented by more than %d", 8*maxNesting)
		}
		if marks := len(line) - len(bytes.TrimLeft(line, "-?: \t")); marks > 8*maxNesting {
			return at(offset, "nested deeper than %d", maxNesting)
		}
		offset += len(line)
	}
	return nil
}

// syntax gives the parser's errors our form.
func (l *loader) syntax(err error) error {
	e := &Error{File: l.file, Line: 1, Col: 1}
	var y yaml.Error
	if errors.As(err, &y) {
		e.Msg = y.GetMessage()
		if t := y.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Col = max(t.Position.Line, 1), max(t.Position.Column, 1)
		}
	} else {
		e.Msg = err.Error()
	}
	e.Msg, _, _ = strings.Cut(e.Msg, "\n")
	if len(e.Msg) > 200 {
		e.Msg = quoted(e.Msg)
	}
	return e
}

func (l *loader) documents(f *ast.File) error {
	var body ast.Node
	for _, d := range f.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.CommentType || d.Body.Type() == ast.CommentGroupType:
		case body != nil:
			return l.errorf(d.Body, "a second document: write one")
		default:
			body = d.Body
		}
	}
	if body == nil || body.Type() == ast.NullType {
		return nil
	}
	return l.mapping(body, "", keys, func(k Key, path string, key, value ast.Node) error {
		switch {
		case k.Name == "version":
			if s, err := l.scalar(value, ast.IntegerType); err != nil || s != "1" {
				return l.errorf(value, "version: this triagebot reads version 1 of the file")
			}
			return nil
		case k.Name == "suites":
			return l.suites(value)
		}
		return l.top(k, value)
	})
}

// mapping calls each with every key of an object. Unknown keys, keys that are
// there twice and everything clever are errors.
func (l *loader) mapping(n ast.Node, path string, known []Key, each func(k Key, path string, key, value ast.Node) error) error {
	var values []*ast.MappingValueNode
	switch v := n.(type) {
	case *ast.MappingNode:
		values = v.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{v}
	default:
		return l.errorf(n, "%swant keys and values, found %s", label(path), found(n))
	}
	seen := map[string]bool{}
	for _, v := range values {
		name, err := l.scalar(v.Key, ast.StringType)
		if err != nil {
			return l.errorf(v.Key, "a key must be plain text, without anchors, tags or merges")
		}
		i := indexKey(known, name)
		switch {
		case i < 0:
			return l.errorf(v.Key, "%s%s", label(path), unknownKey(name, known))
		case seen[name]:
			return l.errorf(v.Key, "%sthe key %q is there twice", label(path), name)
		}
		seen[name] = true
		at := name
		if path != "" {
			at = path + "." + name
		}
		line, col := position(v.Value)
		l.c.at[at] = fmt.Sprintf("%s:%d:%d", l.file, line, col)
		if err := each(known[i], at, v.Key, v.Value); err != nil {
			return err
		}
	}
	return nil
}

func label(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

func indexKey(keys []Key, name string) int {
	for i, k := range keys {
		if k.Name == name {
			return i
		}
	}
	return -1
}

// top reads a key that flags and variables have too: its text goes the same way.
func (l *loader) top(k Key, value ast.Node) error {
	var text string
	var err error
	if k.Name == "lag" || k.Name == "pass-env" {
		text, err = l.listText(k.Name, value)
	} else {
		text, err = l.scalar(value, ast.StringType, ast.IntegerType, ast.FloatType)
	}
	if err != nil {
		return l.errorf(value, "%s: want %s, found %s", k.Name, k.Type, found(value))
	}
	if err := k.set(&l.c, text); err != nil {
		return l.errorf(value, "%s: %v", k.Name, err)
	}
	return nil
}
