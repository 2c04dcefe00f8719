package main

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"github.com/triagebot/triagebot/internal/framework/gotest"
)

func (g *goLanguage) diagnose(d *diagnosis, su *suite) []finding {
	version := d.goVersion()
	if version.bad {
		return []finding{version}
	}
	limits := ""
	if runtime.GOOS != "linux" {
		limits = "this engine is measured on Linux only"
	}
	return []finding{version, d.modules(), d.cgo(), d.race(), lagFinding(su, "Go", goCapabilities(), limits)}
}

func (d *diagnosis) goVersion() finding {
	v, err := d.run("go", "env", "GOVERSION")
	if err != nil {
		return finding{"Go", err.Error(), "install Go, or put it on the PATH", true}
	}
	if _, err := d.run("go", "list", "-m"); err != nil && strings.Contains(err.Error(), "requires go >=") {
		return finding{"Go", v + ": " + err.Error(), "install that version, or allow it with GOTOOLCHAIN=auto", true}
	}
	return finding{what: "Go", found: v}
}

func (d *diagnosis) modules() finding {
	mods, err := gotest.Modules(d.top)
	if err != nil {
		return finding{"modules", err.Error(), "", true}
	}
	if len(mods) == 0 {
		return finding{what: "modules", found: "no go.mod: only the suite's own command can be triaged, without lag"}
	}
	var names []string
	for _, m := range mods {
		names = append(names, m.Path)
	}
	return finding{what: "modules", found: strings.Join(names, ", ")}
}

// cgo counts the packages whose files lag cannot be put into.
func (d *diagnosis) cgo() finding {
	out, err := d.run("go", "list", "-e", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", "./...")
	if err != nil {
		return finding{what: "cgo", found: "not known: " + err.Error()}
	}
	if pkgs := strings.Fields(out); len(pkgs) > 0 {
		return finding{what: "cgo", found: fmt.Sprintf("%d packages have files that lag is not put into: %s", len(pkgs), strings.Join(pkgs, ", "))}
	}
	return finding{what: "cgo", found: "no files that lag would have to leave out"}
}

func (d *diagnosis) race() finding {
	if cgo, err := d.run("go", "env", "CGO_ENABLED"); err != nil || cgo != "1" {
		return finding{what: "-race", found: "not here: cgo is off", fix: "needed only for suites that run with -race"}
	}
	cc, err := d.run("go", "env", "CC")
	if err == nil {
		_, err = exec.LookPath(strings.Fields(cc + " ")[0])
	}
	if err != nil {
		return finding{what: "-race", found: "not here: no C compiler", fix: "needed only for suites that run with -race"}
	}
	return finding{what: "-race", found: "works with " + cc}
}
