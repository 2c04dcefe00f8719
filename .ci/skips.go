//go:build ignore

// Skips reads the events of go test -json, prints what go test would, and fails
// when a test was skipped that is not expected to be: a green run must not hide
// that half of it did not happen.
//
//	go test -json ./... | go run .ci/skips.go
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// expected are the skips that do no harm, by package and reason. One with a path
// does harm once that is there: make test has set up what the test needs.
var expected = []struct{ pkg, reason, unless string }{
	{`/internal/actiontest$`, `run with make (act|container)`, ""},
	{`/internal/bench$`, `run with (-bench-table|make scaling)`, ""},
	{`/internal/lag/golag$`, `run with -golag`, ""},
	{`/internal/lag/nodelag$`, `this node (has no|does not run TypeScript)`, ""},
	{`/internal/proc$`, `process namespace`, ""},
	{`/internal/workspace$`, `right to mount|needs root|does not mind the owner`, ""},
	{`/cmd/triagebot$`, `root|mount|run make sweep-bench`, ""},
	{`/internal/framework/pytest$`, `has no (uvloop|trio)`, ""},
	{`.`, `python|Python|pytest`, "bin/pyenv/bin/python3"},
	{`.`, `node|Node|vitest|jest|mocha`, "bin/nodeenv/node_modules"},
}

type event struct {
	Action, Package, Test, Output string
}

func main() {
	output := map[string]*strings.Builder{}
	bad := 0
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Println(in.Text()) // the go command's own words
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			if e.Test == "" && !strings.HasPrefix(e.Output, "PASS") {
				fmt.Print(e.Output)
				continue
			}
			if output[key] == nil {
				output[key] = &strings.Builder{}
			}
			output[key].WriteString(e.Output)
		case "fail":
			bad++
			if b := output[key]; b != nil {
				fmt.Print(b)
			}
		case "skip":
			reason := ""
			if b := output[key]; b != nil {
				reason = b.String()
			}
			if e.Test != "" && !harmless(e.Package, reason) {
				bad++
				fmt.Printf("--- unexpected SKIP: %s\n%s", key, reason)
			}
		}
		if e.Action == "pass" || e.Action == "skip" || e.Action == "fail" {
			delete(output, key)
		}
	}
	if err := in.Err(); err != nil || bad > 0 {
		fmt.Println("FAIL:", bad, "failures and unexpected skips", err)
		os.Exit(1)
	}
}

func harmless(pkg, reason string) bool {
	for _, x := range expected {
		if !regexp.MustCompile(x.pkg).MatchString(pkg) || !regexp.MustCompile(x.reason).MatchString(reason) {
			continue
		}
		if x.unless == "" {
			return true
		}
		if _, err := os.Stat(x.unless); err != nil {
			return true
		}
	}
	return false
}
