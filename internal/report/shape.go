package report

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/triagebot/triagebot/internal/triage"
)

// A field is one key of an object of the record.
type field struct {
	name     string
	owner    string // the Go type that declares it
	goName   string
	typ      reflect.Type
	index    []int
	optional bool
}

// known has the keys of every struct of the vocabulary, which are few.
var known sync.Map // reflect.Type -> []field

// fieldsOf lists the keys of a struct of the vocabulary in their order.
// Embedded structs are part of the object.
func fieldsOf(t reflect.Type) []field {
	if f, ok := known.Load(t); ok {
		return f.([]field)
	}
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" || !f.IsExported() || tag == "-" {
			continue
		}
		owner := t.Name()
		if len(f.Index) > 1 {
			owner = t.Field(f.Index[0]).Type.Name()
		}
		out = append(out, field{tag, owner, f.Name, f.Type, f.Index, strings.Contains(opts, "omit")})
	}
	known.Store(t, out)
	return out
}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

// isText reports whether values of a type are written as a JSON string.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || reflect.PointerTo(t).Implements(textType)
}

// checkShape compares a JSON text with the vocabulary, key by key. The decoder
// of the standard library alone would take unknown case, missing and repeated
// keys. The vocabulary is not recursive, so it also bounds the depth.
func checkShape(data []byte) error {
	s := shape{json.NewDecoder(bytes.NewReader(data))}
	s.dec.UseNumber()
	if err := s.value(reflect.TypeFor[triage.Report](), ""); err != nil {
		return err
	}
	if s.dec.More() {
		return errors.New("there is more after the report")
	}
	return nil
}

type shape struct{ dec *json.Decoder }

func (s shape) value(t reflect.Type, path string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tok, err := s.dec.Token()
	if err != nil {
		return fmt.Errorf("%s: %w", where(path), err)
	}
	switch {
	case isText(t):
		if _, ok := tok.(string); ok {
			return nil
		}
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		if tok == json.Delim('{') {
			return s.object(t, path)
		}
	case t.Kind() == reflect.Slice:
		if tok == json.Delim('[') {
			return s.list(t, path)
		}
	case t.Kind() == reflect.Bool:
		if _, ok := tok.(bool); ok {
			return nil
		}
	default:
		if n, ok := tok.(json.Number); ok {
			return number(t, n, path)
		}
	}
	return fmt.Errorf("%s: want %s, found %s", where(path), wanted(t), found(tok))
}

func (s shape) list(t reflect.Type, path string) error {
	for i := 0; s.dec.More(); i++ {
		if err := s.value(t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return err
}

func (s shape) object(t reflect.Type, path string) error {
	var fields []field
	if t.Kind() == reflect.Struct {
		fields = fieldsOf(t)
	}
	seen := map[string]bool{}
	for s.dec.More() {
		tok, err := s.dec.Token()
		if err != nil {
			return fmt.Errorf("%s: %w", where(path), err)
		}
		key := tok.(string) // the syntax is valid: a key is a string
		if seen[key] {
			return fmt.Errorf("%s: key %s is there twice", where(path), quoted(key))
		}
		seen[key] = true
		elem, at := t, ""
		if t.Kind() == reflect.Map {
			elem, at = t.Elem(), path+"["+quoted(key)+"]"
		} else if i := slices.IndexFunc(fields, func(f field) bool { return f.name == key }); i >= 0 {
			elem, at = fields[i].typ, join(path, key)
		} else {
			return fmt.Errorf("%s: unknown key %s", where(path), quoted(key))
		}
		if err := s.value(elem, at); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if !f.optional && !seen[f.name] {
			return fmt.Errorf("%s: key %q is missing", where(path), f.name)
		}
	}
	_, err := s.dec.Token()
	return err
}

func number(t reflect.Type, n json.Number, path string) error {
	var err error
	switch t.Kind() {
	case reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(n.String(), 64)
		if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
			err = strconv.ErrRange
		}
	case reflect.Uint64:
		_, err = strconv.ParseUint(n.String(), 10, 64)
	default:
		_, err = strconv.ParseInt(n.String(), 10, 64)
	}
	if err != nil {
		return fmt.Errorf("%s: %s is not %s", where(path), quoted(n.String()), wanted(t))
	}
	return nil
}

func wanted(t reflect.Type) string {
	switch {
	case isText(t):
		return "a string"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		return "an object"
	}
	return "a whole number"
}

func found(tok json.Token) string {
	switch v := tok.(type) {
	case nil:
		return "null"
	case string:
		return "the string " + quoted(v)
	case json.Delim:
		return "an object or list"
	}
	return fmt.Sprint(tok)
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func where(path string) string {
	if path == "" {
		return "report"
	}
	return path
}
