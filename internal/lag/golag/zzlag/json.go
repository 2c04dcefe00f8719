package zzlag

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The plan is read by hand: package encoding/json would be linked into, and
// initialised in, test binaries that do not have it.

// object is a JSON object; a missing or mistyped key reads as the zero value.
type object map[string]interface{}

// number keeps its digits, for a seed needs all 64 bits.
type number string

func (o object) num(k string) float64 {
	n, _ := o[k].(number)
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return 0
	}
	return f
}

func (o object) seed(k string) uint64 {
	n, _ := o[k].(number)
	u, err := strconv.ParseUint(string(n), 10, 64)
	if err != nil {
		return 0
	}
	return u
}

func (o object) str(k string) string { s, _ := o[k].(string); return s }

func (o object) flag(k string) bool { b, _ := o[k].(bool); return b }

func (o object) obj(k string) object { v, _ := o[k].(object); return v }

func (o object) list(k string) []interface{} { l, _ := o[k].([]interface{}); return l }

func (o object) set(k string) map[string]bool {
	m := map[string]bool{}
	for _, e := range o.list(k) {
		if s, ok := e.(string); ok {
			m[s] = true
		}
	}
	return m
}

// parser reads one JSON text. bad is sticky.
type parser struct {
	s   string
	bad bool
}

const maxDepth = 32

func parseJSON(s string) (interface{}, bool) {
	p := &parser{s: s}
	v := p.value(0)
	p.space()
	return v, !p.bad && p.s == ""
}

func (p *parser) space() { p.s = strings.TrimLeft(p.s, " \t\r\n") }

func (p *parser) fail() interface{} {
	p.bad, p.s = true, ""
	return nil
}

// take consumes the token if it is next.
func (p *parser) take(tok string) bool {
	p.space()
	if !strings.HasPrefix(p.s, tok) {
		return false
	}
	p.s = p.s[len(tok):]
	return true
}

func (p *parser) value(depth int) interface{} {
	p.space()
	switch {
	case depth > maxDepth || p.s == "":
		return p.fail()
	case p.take("{"):
		return p.object(depth)
	case p.take("["):
		return p.array(depth)
	case p.s[0] == '"':
		return p.text()
	case p.take("true"):
		return true
	case p.take("false"):
		return false
	case p.take("null"):
		return nil
	}
	n := 0
	for n < len(p.s) && strings.IndexByte("+-.0123456789eE", p.s[n]) >= 0 {
		n++
	}
	if _, err := strconv.ParseFloat(p.s[:n], 64); err != nil {
		return p.fail()
	}
	v := number(p.s[:n])
	p.s = p.s[n:]
	return v
}

func (p *parser) object(depth int) interface{} {
	o := object{}
	if p.take("}") {
		return o
	}
	for !p.bad {
		p.space()
		k := p.text()
		if !p.take(":") {
			return p.fail()
		}
		o[k] = p.value(depth + 1)
		if p.take("}") {
			return o
		}
		if !p.take(",") {
			return p.fail()
		}
	}
	return nil
}

func (p *parser) array(depth int) interface{} {
	a := []interface{}{}
	if p.take("]") {
		return a
	}
	for !p.bad {
		a = append(a, p.value(depth+1))
		if p.take("]") {
			return a
		}
		if !p.take(",") {
			return p.fail()
		}
	}
	return nil
}

func (p *parser) text() string {
	if !strings.HasPrefix(p.s, `"`) {
		p.fail()
		return ""
	}
	var b strings.Builder
	for i := 1; i < len(p.s); {
		switch c := p.s[i]; {
		case c == '"':
			p.s = p.s[i+1:]
			return b.String()
		case c == '\\':
			r, n := unescape(p.s[i:])
			if n == 0 {
				p.fail()
				return ""
			}
			b.WriteRune(r)
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	p.fail()
	return ""
}

// unescape reads one escape sequence; a length of 0 is an error.
func unescape(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		low, ok := hex4(s[6:])
		if full := utf16.DecodeRune(r, low); ok && full != utf8.RuneError {
			return full, 12
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	u, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(u), err == nil
}

// quote writes a JSON string.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			b.WriteString(`\u00`)
			b.WriteByte("0123456789abcdef"[r>>4])
			b.WriteByte("0123456789abcdef"[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
