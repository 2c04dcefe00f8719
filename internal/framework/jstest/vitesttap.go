package jstest

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

var (
	reVitestPoint = regexp.MustCompile(`^( *)(not )?ok \d+ - (.*?)( # (?:SKIP|TODO|time=[\d.]+ms))?( \{)?$`)
	reVitestPlan  = regexp.MustCompile(`^1\.\.(\d+)$`)
	reVitestKey   = regexp.MustCompile(`^ *(name|message|at|stack|actual|expected): "(.*)$`)
)

// ReadVitestTAP reads the failures out of what vitest's reporters "tap" (a tree of
// files, describes and tests) and "tap-flat" (one line a test) write. A line break
// in a name is a space there, so such a test is not found again by its name.
//
// The errors are [ErrEmpty], and [ErrTruncated] with the failures that are complete.
func ReadVitestTAP(r io.Reader, d Dialect, o Options) ([]triage.Failure, error) {
	v := vitestTAP{d: d, o: o, planned: -1}
	if err := eachLine(r, d, v.line); err != nil {
		return v.found.list, err
	}
	if v.open != nil || v.cut || len(v.groups) > 0 || v.tops != v.planned {
		return v.found.list, fmt.Errorf("reading %s TAP: %w", d.Name, ErrTruncated)
	}
	return v.found.done(nil)
}

// group is a file or a describe whose tests follow.
type group struct {
	indent int
	name   string
	// red is set when it failed, told when something within it said why.
	red, told bool
}

type vitestTAP struct {
	d      Dialect
	o      Options
	found  collector
	groups []group
	// open is the path of the red point whose details follow, nil for none.
	open []string
	keys map[string]string
	// key is the one whose text goes on over the next lines, empty for none.
	key string
	// planned is how many points there are outside of all groups, tops how many came.
	planned, tops int
	// cut is set by a green point without the remark that each has.
	cut bool
}

func (v *vitestTAP) line(s string) {
	if v.key != "" {
		v.text(s)
		return
	}
	if m := reVitestKey.FindStringSubmatch(s); m != nil && v.open != nil {
		if _, known := v.keys[m[1]]; known {
			m[1] = "other " + m[1] // of a second error
		}
		v.key = m[1]
		v.text(m[2])
		return
	}
	body := strings.TrimLeft(s, " ")
	if m := reVitestPlan.FindStringSubmatch(s); m != nil && v.planned < 0 {
		v.planned, _ = strconv.Atoi(m[1])
	} else if m := reVitestPoint.FindStringSubmatch(s); m != nil {
		v.close()
		v.cut = m[2] == "" && m[4] == ""
		v.point(len(m[1]), m[2] != "", unescaped(m[3]), m[5] != "")
	} else if body == "..." {
		v.close()
	} else if n := len(v.groups); body == "}" && n > 0 && v.groups[n-1].indent == len(s)-1 {
		v.close()
		v.leave()
	}
}

// text adds a line to the key's; a quotation mark ends it.
func (v *vitestTAP) text(s string) {
	line, ends := strings.CutSuffix(s, `"`)
	if ends = ends && !strings.HasSuffix(line, `\`); !ends {
		line = s + "\n"
	}
	if len(v.keys[v.key]) < maxText {
		v.keys[v.key] += strings.ReplaceAll(line, `\"`, `"`)
	}
	if ends {
		v.key = ""
	}
}

func (v *vitestTAP) point(indent int, red bool, name string, opens bool) {
	if len(v.groups) == 0 {
		v.tops++
	}
	switch {
	case opens && len(v.groups) < maxDepth:
		v.groups = append(v.groups, group{indent: indent, name: name, red: red})
	case red:
		for i := range v.groups {
			v.groups[i].told = true
		}
		v.open, v.keys = v.path(name), map[string]string{}
	}
}

// path is the file and the names of a point.
func (v *vitestTAP) path(name string) []string {
	if len(v.groups) == 0 { // a file, or the flat form
		return strings.SplitN(name, v.d.Separator, 2)
	}
	var path []string
	for _, g := range v.groups {
		path = append(path, g.name)
	}
	return append(path, name)
}

func (v *vitestTAP) close() {
	if v.open == nil {
		return
	}
	path, k := v.open, v.keys
	v.open, v.key = nil, ""
	e := thrown{Name: k["name"], Message: k["message"]}
	if k["at"] != "" {
		e.Stack = "\n    at " + k["at"]
	}
	phase := triage.PhaseTest
	if len(path) == 1 {
		phase = triage.PhaseBuild
	}
	v.found.add(v.d.failure(v.o, v.d.target(v.o, v.o.file(path[0]), v.d.ID(path[1:])), phase, e))
}

// leave ends a group. One that is red although nothing in it is had a hook that
// broke, and vitest does not say how.
func (v *vitestTAP) leave() {
	last := v.groups[len(v.groups)-1]
	if last.red && !last.told {
		for i := range v.groups {
			v.groups[i].told = true
		}
		v.found.add(v.d.failure(v.o, v.d.target(v.o, v.o.file(v.groups[0].name), ""), triage.PhaseSetup, thrown{}))
	}
	v.groups = v.groups[:len(v.groups)-1]
}

// unescaped takes back what the protocol needs a backslash for in a name.
func unescaped(name string) string {
	return strings.NewReplacer(`\#`, "#", `\\`, `\`).Replace(name)
}
