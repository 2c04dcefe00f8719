package zzlag

import (
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"unicode/utf8"
)

// plainly turns what parseJSON returns into what encoding/json returns.
func plainly(v interface{}) interface{} {
	switch y := v.(type) {
	case object:
		m := map[string]interface{}{}
		for k, e := range y {
			m[k] = plainly(e)
		}
		return m
	case []interface{}:
		l := make([]interface{}, len(y))
		for i, e := range y {
			l[i] = plainly(e)
		}
		return l
	case number:
		f, _ := strconv.ParseFloat(string(y), 64)
		return f
	}
	return v
}

func FuzzParseJSON(f *testing.F) {
	for _, s := range []string{
		`{"version":1,"seed":18446744073709551615,"kinds":["double"],"min_ms":0.5}`,
		`{"stretch":{"timeouts":50,"sites":["a/b.go:(*T).f:timeout:1"]},"yield":true,"x":null}`,
		`"a\u00e9\ud83d\ude00\n\"\\"`, `[]`, `{}`, `[1,2,`, `{"a"}`, `-1e3`, `nul`, ` { "a" : [ ] } `,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := parseJSON(s)
		var want interface{}
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			return // it may take more than the standard does, never less
		}
		if !utf8.ValidString(s) || deep(want) > maxDepth-1 {
			return
		}
		if !ok || !reflect.DeepEqual(plainly(got), want) {
			t.Errorf("parsing %q: %#v, want %#v", s, plainly(got), want)
		}
	})
}

func deep(v interface{}) int {
	most := 0
	switch y := v.(type) {
	case map[string]interface{}:
		for _, e := range y {
			most = max(most, 1+deep(e))
		}
	case []interface{}:
		for _, e := range y {
			most = max(most, 1+deep(e))
		}
	}
	return most
}

func FuzzQuote(f *testing.F) {
	f.Add("a/b.go:(*T).f:double:1")
	f.Add("\x00\"\\é\n")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		var got string
		if err := json.Unmarshal([]byte(quote(s)), &got); err != nil || got != s {
			t.Errorf("quoting %q: read back as %q, %v", s, got, err)
		}
	})
}
