package gotest

import (
	"bytes"
	"strconv"
	"strings"
)

// frame is one line of a stack, with its place.
type frame struct {
	// fn is the function with its full import path, without its arguments.
	fn   string
	file string
	line int
	// created is set for the "created by" frame at the foot of a stack.
	created bool
}

// parseFrames reads a goroutine's frames, in the form of a panic and of a race
// report, up to the first blank line.
func parseFrames(text []byte) []frame {
	var out []frame
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		trimmed := strings.TrimSpace(string(line))
		if trimmed == "" || strings.HasPrefix(trimmed, "goroutine ") {
			break
		}
		if file, n, ok := parsePlace(trimmed); ok {
			if len(out) > 0 && out[len(out)-1].file == "" {
				out[len(out)-1].file, out[len(out)-1].line = file, n
			}
			continue
		}
		fn, created := strings.CutPrefix(trimmed, "created by ")
		if created {
			fn, _, _ = strings.Cut(fn, " in goroutine ")
		} else if i := strings.LastIndexByte(fn, '('); i > 0 && strings.HasSuffix(fn, ")") {
			fn = fn[:i]
		} else {
			continue
		}
		out = append(out, frame{fn: fn, created: created})
	}
	return out
}

// parsePlace reads "/path/file.go:12 +0x1d".
func parsePlace(s string) (file string, line int, ok bool) {
	s, _, _ = strings.Cut(s, " +0x")
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	if err != nil || !strings.Contains(s[:i], ".") {
		return "", 0, false
	}
	return s[:i], n, true
}

// stdRoots are the first elements of the standard library's import paths.
var stdRoots = map[string]bool{
	"archive": true, "arena": true, "bufio": true, "bytes": true, "cmp": true, "compress": true, "container": true,
	"context": true, "crypto": true, "database": true, "debug": true, "embed": true, "encoding": true, "errors": true,
	"expvar": true, "flag": true, "fmt": true, "go": true, "hash": true, "html": true, "image": true, "index": true,
	"internal": true, "io": true, "iter": true, "log": true, "maps": true, "math": true, "mime": true, "net": true,
	"os": true, "path": true, "plugin": true, "reflect": true, "regexp": true, "runtime": true, "slices": true,
	"sort": true, "strconv": true, "strings": true, "structs": true, "sync": true, "syscall": true, "testing": true,
	"text": true, "time": true, "unicode": true, "unique": true, "unsafe": true, "vendor": true, "weak": true,
}

// packageOf is the import path of a function.
func packageOf(fn string) string {
	slash := strings.LastIndexByte(fn, '/')
	if dot := strings.IndexByte(fn[slash+1:], '.'); dot >= 0 {
		return strings.ReplaceAll(fn[:slash+1+dot], "%2e", ".")
	}
	return ""
}

func isStd(f frame) bool {
	pkg := packageOf(f.fn)
	root, _, _ := strings.Cut(pkg, "/")
	return pkg == "" || stdRoots[root] || pkg == "main" && strings.HasSuffix(f.file, "_testmain.go")
}

// sameModule reports whether two import paths seem to lie in one module: they
// share the elements that name a repository.
func sameModule(a, b string) bool {
	a, b = strings.TrimSuffix(a, "_test"), strings.TrimSuffix(b, "_test")
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 1
	if strings.Contains(as[0], ".") {
		n = 3
	}
	n = min(n, len(as), len(bs))
	for i := range n {
		if as[i] != bs[i] {
			return false
		}
	}
	return true
}

// userFrame is the top frame in the package's own module, else the top frame
// outside the standard library. ok is false when there is none.
func userFrame(frames []frame, pkg string) (f frame, ok bool) {
	for _, f := range frames {
		if !f.created && !isStd(f) && pkg != "" && sameModule(pkg, packageOf(f.fn)) {
			return f, true
		}
	}
	for _, f := range frames {
		if !f.created && !isStd(f) {
			return f, true
		}
	}
	for _, f := range frames {
		if f.created && !isStd(f) {
			return f, true
		}
	}
	return frame{}, false
}

// shortFunc is a function as signatures name it: from the package's name on,
// without closure numbers and type arguments, which change as code is added.
func shortFunc(fn string) string {
	if i := strings.LastIndexByte(fn, '/'); i >= 0 {
		fn = fn[i+1:]
	}
	if i := strings.Index(fn, "[...]"); i >= 0 {
		fn = strings.ReplaceAll(fn, "[...]", "")
	}
	parts := strings.Split(fn, ".")
	for len(parts) > 2 && closurePart(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, ".")
}

func closurePart(s string) bool {
	for _, p := range []string{"func", "gowrap", "deferwrap"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			s = rest
			break
		}
	}
	s, _, _ = strings.Cut(s, "-range")
	if s == "" {
		return false
	}
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// testFunc is the test, fuzz or example function among frames, from the root of
// the stack, and the package it stands in.
func testFunc(frames []frame) (pkg, test string) {
	for i := len(frames) - 1; i >= 0; i-- {
		fn := frames[i].fn
		p := packageOf(fn)
		if p == "" || isStd(frames[i]) {
			continue
		}
		slash := strings.LastIndexByte(fn, '/')
		name := fn[slash+1+strings.IndexByte(fn[slash+1:], '.')+1:]
		name, _, _ = strings.Cut(name, ".")
		if isTestName(name) && name != "TestMain" {
			return strings.TrimSuffix(p, "_test"), name
		}
	}
	return "", ""
}

// isTestName reports whether a name is one that go test runs without -bench.
func isTestName(name string) bool {
	for _, p := range []string{"Test", "Fuzz", "Example"} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest == "" || rest[0] < 'a' || rest[0] > 'z'
		}
	}
	return false
}
