package sampletest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/sample"
)

// factTimeout is the -test.timeout of one process of a fact: the shortest in
// which a correct test surely ends on a loaded machine.
const factTimeout = "5s"

func (f Fact) check() error {
	if _, err := f.sides(); err != nil {
		return err
	}
	if _, _, _, err := f.counts(); err != nil {
		return err
	}
	if _, err := regexp.Compile(f.Says); err != nil {
		return fmt.Errorf("reading fact: %w", err)
	}
	if l := f.Late; l != nil && (l.File == "" || (l.After == "") == (l.Before == "") || l.MS <= 0) {
		return fmt.Errorf("reading fact: late needs file, after or before, and ms")
	}
	return nil
}

func (f Fact) sides() ([]string, error) {
	switch f.On {
	case "both":
		return []string{"base", "head"}, nil
	case "base", "head":
		return []string{f.On}, nil
	}
	return nil, fmt.Errorf("reading fact: on is %q, want head, base or both", f.On)
}

var counts = regexp.MustCompile(`^(\d+)(?:-(\d+))?/(\d+)$`)

// counts is the least and largest number of reds in a number of runs; no runs for "build".
func (f Fact) counts() (low, high, runs int, err error) {
	if f.Red == "build" {
		return 0, 0, 0, nil
	}
	m := counts.FindStringSubmatch(f.Red)
	if m == nil {
		return 0, 0, 0, fmt.Errorf("reading fact: red is %q, want 3/3, 8-34/60 or build", f.Red)
	}
	low, _ = strconv.Atoi(m[1])
	high, runs = low, 0
	if m[2] != "" {
		high, _ = strconv.Atoi(m[2])
	}
	runs, _ = strconv.Atoi(m[3])
	if low > high || high > runs || runs == 0 {
		return 0, 0, 0, fmt.Errorf("reading fact: red is %q, which no count can be", f.Red)
	}
	return low, high, runs, nil
}

// String is the fact as a person would say it.
func (f Fact) String() string {
	what := strings.Join(slices.Concat(f.Env, f.Flags, []string{f.Package, f.Test}), " ")
	if f.Late != nil {
		what += fmt.Sprintf(", %d ms late at %q", f.Late.MS, f.Late.After+f.Late.Before)
	}
	return fmt.Sprintf("%s red %s: %s", f.On, f.Red, what)
}

// Prove checks a fact on the repository and returns what contradicts it. Its
// scratch files go below dir, which may be shared by the facts of one sample.
func (s Sample) Prove(ctx context.Context, r sample.Repo, f Fact, dir string) ([]string, error) {
	sides, err := f.sides()
	if err != nil {
		return nil, err
	}
	var wrong []string
	for _, side := range sides {
		tree := r.Dir // head is checked out there, uncommitted changes included
		if side == "base" {
			if tree, err = s.baseTree(dir); err != nil {
				return nil, err
			}
		}
		w, err := s.proveOn(ctx, f, tree, dir)
		if err != nil {
			return nil, fmt.Errorf("proving %q on %s: %w", f, side, err)
		}
		for _, m := range w {
			wrong = append(wrong, side+": "+m)
		}
	}
	return wrong, nil
}

func (s Sample) proveOn(ctx context.Context, f Fact, tree, dir string) ([]string, error) {
	if t, ok := tools[s.Framework]; ok {
		return f.proveBy(ctx, t, s.env(true, ""), tree, dir)
	}
	return f.prove(ctx, tree, dir)
}

// baseTree writes base's files below dir, once.
func (s Sample) baseTree(dir string) (string, error) {
	tree := filepath.Join(dir, "base-tree")
	if _, err := os.Stat(tree); err == nil {
		return tree, nil
	}
	return tree, errors.Join(sample.Write(tree, s.Layout.Base), sample.Write(tree, s.Layout.Main), tools[s.Framework].linkModules(tree))
}

func (f Fact) prove(ctx context.Context, tree, dir string) ([]string, error) {
	low, high, runs, err := f.counts()
	if err != nil {
		return nil, err
	}
	says := regexp.MustCompile(f.Says)
	bin, pkgDir, out, err := f.build(ctx, tree, dir)
	switch {
	case err != nil:
		return nil, err
	case bin == "" && runs == 0 && says.MatchString(out):
		return nil, nil
	case bin == "":
		return []string{"does not compile: " + out}, nil
	case runs == 0:
		return []string{"compiles"}, nil
	}
	red := 0
	for range runs {
		out, code, err := run(ctx, pkgDir, append([]string{"GORACE=atexit_sleep_ms=0"}, f.Env...), bin, f.args()...)
		if err != nil {
			return nil, err
		}
		if strings.Contains(out, "no tests to run") {
			return []string{"selects no test"}, nil
		}
		if code == 0 {
			continue
		}
		red++
		if !says.MatchString(out) {
			return []string{fmt.Sprintf("a red does not say %q: %s", f.Says, out)}, nil
		}
	}
	if red < low || red > high {
		return []string{fmt.Sprintf("red %d/%d, want %s", red, runs, f.Red)}, nil
	}
	return nil, nil
}

// args selects exactly one test, or the whole package.
func (f Fact) args() []string {
	args := []string{"-test.timeout=" + factTimeout, "-test.v"}
	if f.Test == "" {
		return args
	}
	parts := strings.Split(f.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return append(args, "-test.run="+strings.Join(parts, "/"))
}

// build compiles the fact's package; bin is empty when it does not compile.
func (f Fact) build(ctx context.Context, tree, dir string) (bin, pkgDir, out string, err error) {
	work, err := os.MkdirTemp(dir, "fact")
	if err != nil {
		return "", "", "", fmt.Errorf("building: %w", err)
	}
	bin = filepath.Join(work, "t.test")
	args := append([]string{"test", "-c", "-vet=off", "-o", bin}, f.Flags...)
	if f.Late != nil {
		overlay, err := f.Late.overlay(tree, work)
		if err != nil {
			return "", "", "", err
		}
		args = append(args, "-overlay="+overlay)
	}
	out, code, err := run(ctx, tree, nil, "go", append(args, "./"+f.Package)...)
	if err != nil {
		return "", "", "", err
	}
	if code != 0 {
		return "", "", out, nil
	}
	if _, err := os.Stat(bin); err != nil {
		return "", "", "", fmt.Errorf("building %s: there is no test in it", f.Package)
	}
	return bin, filepath.Join(tree, filepath.FromSlash(f.Package)), out, nil
}

// find splits a source and finds the one line that the delay belongs to.
func (l *Late) find(src string) (lines []string, hit int, err error) {
	anchor := l.After + l.Before
	lines, hit = strings.Split(src, "\n"), -1
	for i, line := range lines {
		if !strings.Contains(line, anchor) {
			continue
		}
		if hit >= 0 {
			return nil, 0, fmt.Errorf("delaying: %q stands on two lines of %s", anchor, l.File)
		}
		hit = i
	}
	if hit < 0 {
		return nil, 0, fmt.Errorf("delaying: %q is not in %s", anchor, l.File)
	}
	return lines, hit, nil
}

// overlay writes a copy of the late file whose one matching line calls a
// function that sleeps, that function, and the overlay that go build reads.
func (l *Late) overlay(tree, work string) (string, error) {
	src, err := os.ReadFile(filepath.Join(tree, filepath.FromSlash(l.File)))
	if err != nil {
		return "", fmt.Errorf("delaying: %w", err)
	}
	lines, hit, err := l.find(string(src))
	if err != nil {
		return "", err
	}
	pkg := ""
	for _, line := range lines {
		if p, ok := strings.CutPrefix(line, "package "); ok {
			pkg = p
			break
		}
	}
	if l.Before != "" {
		lines[hit] = "lateHere(); " + lines[hit]
	} else {
		lines[hit] += strings.TrimSuffix("; lateHere(); "+l.Insert, "; ")
	}
	helper := "zz_late.go"
	if strings.HasSuffix(l.File, "_test.go") {
		helper = "zz_late_test.go"
	}
	files := map[string][]byte{
		"late.go":   []byte(strings.Join(lines, "\n")),
		"helper.go": fmt.Appendf(nil, "package %s\n\nimport \"time\"\n\nfunc lateHere() { time.Sleep(%d * time.Millisecond) }\n", pkg, l.MS),
	}
	replace := map[string]string{
		filepath.Join(tree, filepath.FromSlash(l.File)):                              filepath.Join(work, "late.go"),
		filepath.Join(tree, filepath.FromSlash(path.Join(path.Dir(l.File), helper))): filepath.Join(work, "helper.go"),
	}
	files["overlay.json"], err = json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("delaying: %w", err)
	}
	return filepath.Join(work, "overlay.json"), sample.Write(work, files)
}
