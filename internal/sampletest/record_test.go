package sampletest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// recordRed runs head under the delay of the first fact that makes it red and
// returns what go test -json printed.
func (s Sample) recordRed(ctx context.Context, tree, scratch string) (string, error) {
	for _, f := range s.Facts {
		if f.Late == nil || f.On == "base" || strings.HasPrefix(f.Red, "0") {
			continue
		}
		if t, ok := tools[s.Framework]; ok {
			return s.recordBy(ctx, t, f, tree, scratch)
		}
		overlay, err := f.Late.overlay(tree, scratch)
		if err != nil {
			return "", err
		}
		patterns := []string{"./..."}
		if len(s.Suite) > 3 { // go test -json PATTERNS
			patterns = s.Suite[3:]
		}
		args := append([]string{"test", "-json", "-vet=off", "-overlay=" + overlay}, f.Flags...)
		out, code, err := run(ctx, tree, nil, "go", append(args, patterns...)...)
		if err != nil {
			return "", err
		}
		if code == 0 {
			return "", fmt.Errorf("recording sample %q: %w", s.Name, ErrGreen)
		}
		return out, nil
	}
	return "", fmt.Errorf("recording sample %q: no fact makes head red", s.Name)
}

// hostOrTime are the parts of a JUnit report that tell of the machine and the day.
var hostOrTime = regexp.MustCompile(` (hostname|timestamp)="[^"]*"`)

// pytestTemp is the folder below which a run of pytest makes its tmp_path.
var pytestTemp = regexp.MustCompile(`/[\w./-]*/pytest-of-\w+/pytest-\d+/`)

// recordBy is the same for the other frameworks: what their report holds.
func (s Sample) recordBy(ctx context.Context, t tool, f Fact, tree, scratch string) (string, error) {
	late, err := f.Late.copyTree(t, tree, scratch)
	if err != nil {
		return "", err
	}
	report := filepath.Join(scratch, t.report)
	argv := t.all(report)
	out, code, err := runTool(ctx, late, s.env(true, ""), argv)
	if err != nil {
		return "", err
	}
	if code == 0 {
		return "", fmt.Errorf("recording sample %q: %w", s.Name, ErrGreen)
	}
	b, err := os.ReadFile(report)
	if err != nil {
		return "", fmt.Errorf("recording sample %q: %w: %s", s.Name, err, out)
	}
	if t.modules {
		b = bytes.ReplaceAll(b, []byte(late), []byte(ciCheckout))
		b = bytes.ReplaceAll(b, []byte(os.Getenv(nodeModules)), []byte(ciCheckout+"/node_modules"))
	}
	b = pytestTemp.ReplaceAll(b, []byte("/tmp/pytest/"))
	return string(hostOrTime.ReplaceAll(b, nil)), nil
}
