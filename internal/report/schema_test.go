package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/triagebot/triagebot/internal/triage"
)

const schemaFile = "../../docs/report-v1.schema.json"

// TestSchemaIsMadeFromTheVocabulary makes the schema from the types, the rules
// and the comments of package triage, so that none of them can drift.
func TestSchemaIsMadeFromTheVocabulary(t *testing.T) {
	g := schemaMaker{defs: map[string]any{}, docs: typeComments(t)}
	root := g.object(reflect.TypeFor[triage.Report]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "urn:" + strings.ReplaceAll(triage.Schema, "/", ":")
	root["title"] = "The record of a check triaged by triagebot"
	root["$defs"] = g.defs
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	golden(t, schemaFile, b.Bytes())
}

type schemaMaker struct {
	defs map[string]any
	docs map[string]string
}

func (g schemaMaker) object(t reflect.Type) map[string]any {
	props, required := map[string]any{}, []string{}
	for _, f := range fieldsOf(t) {
		p := g.value(f.typ, f.owner+"."+f.name, f.optional)
		if d := g.docs[f.owner+"."+f.goName]; d != "" {
			p["description"] = d
		}
		props[f.name] = p
		if !f.optional {
			required = append(required, f.name)
		}
	}
	o := map[string]any{"type": "object", "additionalProperties": false, "properties": props}
	if d := g.docs[t.Name()]; d != "" {
		o["description"] = d
	}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func (g schemaMaker) value(t reflect.Type, key string, optional bool) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case isText(t):
		return text2020(ruleFor(key, t), optional && t.Kind() == reflect.String)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem(), key, optional)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.value(t.Elem(), key, false), "maxItems": maxList}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.value(t.Elem(), key, false), "maxProperties": maxList}
	case reflect.Struct:
		if g.defs[t.Name()] == nil {
			g.defs[t.Name()] = true // against recursion
			g.defs[t.Name()] = g.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	}
	return number2020(ruleFor(key, t), t.Kind() == reflect.Float64)
}

func text2020(r rule, optional bool) map[string]any {
	if r.enum != nil {
		names := slices.Clone(r.enum)
		if optional { // an empty text counts as left out
			names = append(names, "")
		}
		return map[string]any{"type": "string", "enum": names}
	}
	return map[string]any{"type": "string", "maxLength": r.maxLen}
}

func number2020(r rule, float bool) map[string]any {
	p := map[string]any{"type": "integer"}
	if float {
		p["type"] = "number"
	}
	if r.min > math.MinInt64 {
		p["minimum"] = r.min
	}
	if r.max < math.MaxInt64 {
		p["maximum"] = r.max
	}
	return p
}

// typeComments are the comments of the vocabulary's types and fields.
func typeComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../triage/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("listing the vocabulary: %v", err)
	}
	docs := map[string]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				return true
			}
			for _, s := range d.Specs {
				comment(docs, s.(*ast.TypeSpec), d.Doc)
			}
			return false
		})
	}
	return docs
}

func comment(docs map[string]string, s *ast.TypeSpec, doc *ast.CommentGroup) {
	join := func(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }
	docs[s.Name.Name] = join(doc)
	if st, ok := s.Type.(*ast.StructType); ok {
		for _, f := range st.Fields.List {
			for _, n := range f.Names {
				docs[s.Name.Name+"."+n.Name] = join(f.Doc)
			}
		}
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryFixtureKeepsTheSchema(t *testing.T) {
	s := compiledSchema(t)
	for name, build := range fixtures {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded(t, build())))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSchemaAndDecoderRefuseTheSame spoils every value of a report in turn.
func TestSchemaAndDecoderRefuseTheSame(t *testing.T) {
	s := compiledSchema(t)
	var root any
	if err := json.Unmarshal(encoded(t, small(raceOnBase())), &root); err != nil {
		t.Fatal(err)
	}
	n := 0
	spoil(root, func(what string) {
		data, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		_, ours := Decode(bytes.NewReader(data))
		if theirs := s.Validate(doc); (ours == nil) || (theirs == nil) {
			t.Errorf("%s: decoder says %v, schema says %v", what, ours, theirs)
		}
		n++
	})
	if n < 100 {
		t.Errorf("only %d places were spoilt", n)
	}
}

// small keeps the trials that differ.
func small(r triage.Report) triage.Report {
	var kept []triage.Trial
	for _, t := range r.Trials {
		if t.Purpose == triage.Ladder || t.Seq == r.Verdicts[0].Trial {
			kept = append(kept, t)
		}
	}
	slices.SortFunc(kept, func(a, b triage.Trial) int { return len(b.Decisions) - len(a.Decisions) })
	for i := range kept {
		kept[i].Seq = i + 1
	}
	r.Trials, r.Verdicts[0].Trial = kept, 1
	return r
}

// spoil puts a wrong value into each place of the first two elements of every
// list, calls try, and mends it.
func spoil(v any, try func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			old := v[k]
			v[k] = map[bool]any{true: 1.5, false: "no such"}[isString(old)]
			if _, free := old.(string); !free || k == "class" || k == "side" || k == "scope" || k == "outcome" || k == "schema" {
				try(k)
			} else {
				v[k] = nil
				try(k)
			}
			v[k] = old
			spoil(old, try)
		}
		v["surprise"] = 1
		try("surprise")
		delete(v, "surprise")
	case []any:
		for i := range min(len(v), 1) {
			spoil(v[i], try)
		}
	}
}

func isString(v any) bool { _, ok := v.(string); return ok }

func TestSchemaNamesEveryFieldOnce(t *testing.T) {
	data, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	check := func(typ reflect.Type, props map[string]any) {
		v := reflect.New(typ).Elem()
		filled, err := json.Marshal(fill(v).Interface())
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(filled, &got); err != nil {
			t.Fatal(err)
		}
		if want := sortedKeys(got); !slices.Equal(want, sortedKeys(props)) {
			t.Errorf("%s: schema has %v, encoding/json writes %v", typ.Name(), sortedKeys(props), want)
		}
	}
	check(reflect.TypeFor[triage.Report](), s.Properties)
	for _, typ := range []reflect.Type{reflect.TypeFor[triage.Trial](), reflect.TypeFor[triage.Verdict](), reflect.TypeFor[triage.Plan](),
		reflect.TypeFor[triage.LagPlan](), reflect.TypeFor[triage.Cause](), reflect.TypeFor[triage.Site](), reflect.TypeFor[triage.Tally](),
		reflect.TypeFor[triage.Comparison](), reflect.TypeFor[triage.Failure](), reflect.TypeFor[triage.Arm]()} {
		check(typ, s.Defs[typ.Name()].Properties)
	}
}

// fill gives every field a value that is not left out. It knows nothing of
// fieldsOf, so that the two check each other.
func fill(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(built))
			break
		}
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf("k"), fill(reflect.New(v.Type().Elem()).Elem()))
		v.Set(m)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	default:
		panic(fmt.Sprint("no value for ", v.Kind()))
	}
	return v
}
