package framework

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// anyDir stands for the directory of a report's relative paths while it is read,
// where they can be those of several suites. It is deep, for a path may lead up.
const (
	anyPart  = "\x00/"
	anyDepth = 6
)

var anyDir = strings.Repeat(anyPart, anyDepth)

// fromAny is a path as it was before it was put into anyDir; ok is false for one that
// was not.
func fromAny(file string) (rel string, ok bool) {
	up := anyDepth
	for strings.HasPrefix(file, anyPart) {
		file, up, ok = file[len(anyPart):], up-1, true
	}
	return strings.Repeat("../", up) + file, ok
}

// of are the suites of a framework.
func (in Reading) of(framework string) []Suite {
	return slices.DeleteFunc(slices.Clone(in.Suites), func(s Suite) bool { return s.Framework != framework })
}

// readSeveral reads a report that may be of any of several suites of one framework,
// which differ by their directories. A file that stands below more than one of them
// by the same name is that of the suite that the report lies in, else that whose
// file has the test's name. Where that is not one, the failure is each of theirs:
// the wrong one does not fail, and the right one must not be lost.
func (in Reading) readSeveral(r io.Reader, k Kind, s Suite, of []Suite) ([]triage.Failure, error) {
	open := in
	open.Exists = func(file string) bool {
		rest, relative := fromAny(file)
		if !relative {
			return in.Exists(file)
		}
		return slices.ContainsFunc(of, func(s Suite) bool { return in.Exists(path.Join(s.Dir, rest)) })
	}
	fs, err := open.readOne(r, k, Suite{Name: s.Name, Framework: s.Framework, Dir: anyDir})
	var out []triage.Failure
	for _, f := range fs {
		file, relative := fromAny(f.Target.Package)
		where := []Suite{s}
		switch {
		case relative:
			where = in.candidates(file, f.Target.Test, s, of)
		case f.Target.Package == "":
			if at, ok := in.lies(of); ok {
				f.Target.Suite = at.Name
			}
		}
		for _, suite := range where {
			g := f
			if relative {
				g.Target.Package = path.Join(suite.Dir, file)
			}
			in.place(&g, suite)
			if at, ok := fromAny(f.Location.File); ok {
				g.Location.File = path.Join(suite.Dir, at)
			}
			out = append(out, g)
		}
	}
	return out, err
}

// candidates are the suites whose directory a relative path of a report may be
// meant from.
func (in Reading) candidates(file, test string, first Suite, of []Suite) []Suite {
	there := slices.DeleteFunc(slices.Clone(of), func(s Suite) bool { return !in.Exists(path.Join(s.Dir, file)) })
	switch len(there) {
	case 0:
		return []Suite{first}
	case 1:
		return there
	}
	if at, ok := in.lies(there); ok {
		return []Suite{at}
	}
	many := len(there)
	holds := slices.DeleteFunc(slices.Clone(there), func(s Suite) bool { return in.Holds == nil || !in.Holds(path.Join(s.Dir, file), leaf(test)) })
	doubt := "all are run"
	if len(holds) == 1 {
		doubt = fmt.Sprintf("%s is taken, which has its name", path.Join(holds[0].Dir, file))
	}
	if len(holds) > 0 {
		there = holds
	}
	if in.Doubt != nil {
		in.Doubt(fmt.Sprintf("a report names %s without its folder, and it may be that of any of %d suites: %s; write each report into the folder of its suite", file, many, doubt))
	}
	return there
}

// lies is the deepest of the suites that the report lies in, unless that is the root.
func (in Reading) lies(of []Suite) (at Suite, ok bool) {
	for _, s := range of {
		if s.Dir != "." && strings.Contains("/"+in.At+"/", "/"+s.Dir+"/") && len(s.Dir) > len(at.Dir) {
			at, ok = s, true
		}
	}
	return at, ok
}

// leaf is a test's own name, as its file has it.
func leaf(test string) string {
	for _, sep := range []string{" > ", "::"} {
		if i := strings.LastIndex(test, sep); i >= 0 {
			test = test[i+len(sep):]
		}
	}
	name, _, _ := strings.Cut(test, "[")
	return name
}
