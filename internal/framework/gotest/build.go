package gotest

import (
	"bytes"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

const (
	// maxBuilds bounds the compile blocks kept of one log, maxBuild one of them.
	maxBuilds = 256
	maxBuild  = 16 << 10
	// signatureErrors is how many compile errors make the signature: the later
	// ones tend to follow from them, and the compiler stops at ten.
	signatureErrors = 3
)

// buildLog collects what the compiler said, by the name in its "# " header.
type buildLog struct {
	blocks map[string][]byte
	// order has their names as they came, last is the latest.
	order []string
	last  string
	open  bool
}

// line takes a line that belongs to a compile block; false when it does not.
func (b *buildLog) line(line []byte) bool {
	if name, ok := bytes.CutPrefix(line, []byte("# ")); ok && len(name) > 0 {
		if name[0] == '[' { // go vet's second header
			return b.open
		}
		if bytes.IndexByte(name, '/') < 0 && bytes.IndexByte(name, '.') < 0 && bytes.IndexByte(name, ' ') >= 0 {
			return false
		}
		b.header(string(name))
		return true
	}
	if !b.open {
		return false
	}
	if len(line) == 0 || line[0] != '\t' && !compileError(line) && !bytes.HasPrefix(line, []byte("too many errors")) {
		b.open = false
		return false
	}
	b.add(b.last, line)
	return true
}

func (b *buildLog) header(name string) {
	b.last = name
	b.open = true
	if b.blocks == nil {
		b.blocks = map[string][]byte{}
	}
	if old, ok := b.blocks[name]; ok || len(b.blocks) < maxBuilds {
		if !ok {
			b.order = append(b.order, name)
		}
		b.blocks[name] = old[:0:cap(old)]
	}
}

func (b *buildLog) add(name string, line []byte) {
	if text, ok := b.blocks[name]; ok && len(text)+len(line) < maxBuild {
		b.blocks[name] = append(append(text, line...), '\n')
	}
}

// compileError reports whether a line is "dir/file.go:3:4: text".
func compileError(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("vet: "))
	for _, ext := range [...]string{".go:", ".s:", ".c:", ".h:", ".cc:", ".cpp:"} {
		if i := bytes.Index(line, []byte(ext)); i > 0 {
			rest := line[i+len(ext):]
			return len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9'
		}
	}
	return false
}

// of is the compiler's text for a package: its tests' block, its own block, or
// the first one of a package that is no test's: then a package it imports does
// not compile.
func (b *buildLog) of(pkg string) []byte {
	for _, name := range []string{pkg + " [" + pkg + ".test]", pkg + "_test [" + pkg + ".test]", pkg, pkg + ".test"} {
		if text := b.blocks[name]; len(text) > 0 {
			return text
		}
	}
	for _, name := range b.order {
		if !strings.HasSuffix(name, ".test]") && len(b.blocks[name]) > 0 {
			return b.blocks[name]
		}
	}
	return b.blocks[b.last]
}

// buildFailure describes a package that does not build. text is what the
// compiler said; without any the signature is zero. setup is set when the go
// command could not even load the package.
func buildFailure(t triage.Target, text []byte, setup bool) triage.Failure {
	t.Test = ""
	f := triage.Failure{Target: t, Outcome: triage.Error, Message: "build failed", Excerpt: excerpt(text)}
	var errs, rest []string
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimRight(line, "\r")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "FAIL"):
		case compileError([]byte(line)):
			errs = append(errs, line)
			if f.Location.File == "" {
				f.Location = compilePlace(line)
			}
		case line[0] != '\t':
			rest = append(rest, line)
		}
	}
	if len(errs) == 0 {
		errs = rest
	}
	if len(errs) == 0 {
		return f
	}
	errs = errs[:min(len(errs), signatureErrors)]
	f.Message = bound(strings.Join(errs, "\n"))
	for i, e := range errs {
		errs[i] = Normalise(basename(e))
	}
	f.Signature = triage.Signature{
		Phase:   triage.PhaseBuild,
		Message: truncate(strings.Join(errs, "; "), maxMessage),
	}
	if setup || setupError(f.Message) {
		f.Signature.Phase = triage.PhaseSetup
	}
	return f
}

// setupError reports whether an error is about finding packages, before any
// is compiled.
func setupError(message string) bool {
	for _, s := range []string{"no required module provides package", "cannot find module", "is not in std", "missing go.sum entry", "cannot find package", "import cycle not allowed"} {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}

// basename cuts the directory of the file that an error line begins with.
func basename(line string) string {
	line = strings.TrimPrefix(line, "vet: ")
	file, rest, ok := strings.Cut(line, ":")
	if len(file) == 1 && ok { // a drive letter
		var more string
		more, rest, ok = strings.Cut(rest, ":")
		file += ":" + more
	}
	if !ok {
		return line
	}
	return file[strings.LastIndexAny(file, `/\`)+1:] + ":" + rest
}

func compilePlace(line string) triage.Location {
	line = strings.TrimPrefix(strings.TrimPrefix(line, "vet: "), "./")
	var l triage.Location
	file, rest, _ := strings.Cut(line, ":")
	l.File = strings.ReplaceAll(file, `\`, "/")
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		l.Line = min(l.Line*10+int(c-'0'), 1<<30)
	}
	return l
}
