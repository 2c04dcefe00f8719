// The tests of this folder hold the shape of the project. They parse the files,
// so that the test cache cannot hide a violation.
package triagebot_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/triagebot/triagebot/"

// imports is the whole list of arrows: what a package may import of ours, and
// whether it may import from outside the standard library at all.
var imports = map[string]struct {
	ours    []string
	outside []string
	why     string
}{
	"internal/triage":                   {nil, nil, "the vocabulary imports the standard library only"},
	"internal/stats":                    {nil, []string{"gonum.org/v1/gonum"}, "pure statistics"},
	"internal/classify":                 {[]string{"internal/triage", "internal/stats"}, nil, "judging is pure"},
	"internal/report":                   {[]string{"internal/triage"}, nil, "rendering reads the record only"},
	"internal/config":                   {[]string{"internal/triage"}, []string{"github.com/goccy/go-yaml"}, ""},
	"internal/proc":                     {nil, []string{"golang.org/x/sys"}, "processes know nothing of tests"},
	"internal/beside":                   {nil, []string{"golang.org/x/sys"}, "it knows the machine only"},
	"internal/workspace":                {[]string{"internal/triage", "internal/proc"}, []string{"golang.org/x/sys", "github.com/BurntSushi/toml"}, ""},
	"internal/framework":                {[]string{"internal/triage", "internal/framework/gotest", "internal/framework/pytest", "internal/framework/jstest", "internal/framework/vitest", "internal/framework/jest", "internal/framework/mocha", "internal/framework/nodetest"}, nil, "the table has one row a framework"},
	"internal/framework/gotest":         {[]string{"internal/triage"}, nil, "an adapter starts no process of its own"},
	"internal/lag":                      {[]string{"internal/triage"}, nil, "the search knows no engine"},
	"internal/lag/golag":                {[]string{"internal/triage", "internal/lag"}, []string{"golang.org/x/tools", "golang.org/x/mod"}, ""},
	"internal/lag/golag/zzlag":          {nil, nil, "it is compiled into the user's tests: the standard library only"},
	"internal/rerun":                    {[]string{"internal/triage", "internal/proc", "internal/lag"}, nil, "measures, does not judge"},
	"internal/pipeline":                 {[]string{"internal/triage", "internal/classify", "internal/report"}, nil, "ports of its own for the rest"},
	"internal/framework/shell":          {nil, []string{"mvdan.cc/sh/v3"}, "it reads lines, and knows no framework"},
	"internal/framework/pytest":         {[]string{"internal/triage", "internal/framework/shell"}, nil, "an adapter starts no process of its own"},
	"internal/framework/jstest":         {[]string{"internal/triage", "internal/framework/shell"}, []string{"github.com/goccy/go-yaml"}, "what the JavaScript runners have in common"},
	"internal/framework/vitest":         {[]string{"internal/triage", "internal/framework/jstest"}, nil, ""},
	"internal/framework/jest":           {[]string{"internal/triage", "internal/framework/jstest"}, nil, ""},
	"internal/framework/mocha":          {[]string{"internal/triage", "internal/framework/jstest"}, nil, ""},
	"internal/framework/nodetest":       {[]string{"internal/triage", "internal/framework/jstest"}, nil, ""},
	"internal/lag/pylag":                {[]string{"internal/triage", "internal/lag"}, nil, ""},
	"internal/lag/nodelag":              {[]string{"internal/triage", "internal/lag"}, nil, ""},
	"internal/lag/lagtest":              {[]string{"internal/triage", "internal/lag", "internal/proc", "internal/rerun"}, nil, "for tests of the engines only"},
	"internal/publish":                  {[]string{"internal/triage", "internal/report", "internal/gh"}, nil, "from untrusted bytes to a comment; runs nothing"},
	"internal/slash":                    {[]string{"internal/gh"}, nil, "the grammar of /triage; ports of its own for the rest"},
	"internal/gh":                       {nil, []string{"github.com/google/go-github/v62", "github.com/bradleyfalzon/ghinstallation/v2", "github.com/golang-jwt/jwt/v4", "github.com/sethvargo/go-githubactions"}, "the only package that knows GitHub; its types stop here"},
	"internal/gh/ghtest":                {nil, []string{"github.com/getkin/kin-openapi"}, "the fake must not share a reading of GitHub with the client"},
	"internal/gh/ghtest/cmd/fakegithub": {[]string{"internal/gh/ghtest"}, nil, "the fake as a process, for workflows that run for real"},
	"internal/history":                  {[]string{"internal/triage", "internal/stats", "internal/classify"}, nil, "it knows no GitHub: a source is handed over"},
	"internal/sweep":                    {[]string{"internal/triage", "internal/classify", "internal/pipeline", "internal/stats"}, nil, "a report is decoded by whoever hands it over"},
	"internal/demo":                     {[]string{"internal/sample"}, []string{"golang.org/x/tools/txtar"}, ""},
}

// sourceFiles walks the Go files of the product: no tests, no testdata.
func sourceFiles(t *testing.T, visit func(path string)) {
	t.Helper()
	for _, root := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				visit(filepath.ToSlash(path))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestImportsFollowTheArrows(t *testing.T) {
	seen := map[string]bool{}
	sourceFiles(t, func(path string) {
		dir := filepath.ToSlash(filepath.Dir(path))
		if strings.HasPrefix(dir, "cmd/") || dir == "internal/sampletest" || dir == "internal/sample" {
			return // the wiring, and test support, may import all
		}
		rule, ok := imports[dir]
		if !ok {
			t.Errorf("%s: package %s has no row in the list of arrows", path, dir)
			return
		}
		seen[dir] = true
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			checkImport(t, path, dir, rule.ours, rule.outside, rule.why, spec)
		}
	})
	for dir := range imports {
		if !seen[dir] {
			t.Errorf("the list of arrows has a row for %s, which has no files", dir)
		}
	}
}

func checkImport(t *testing.T, path, dir string, ours, outside []string, why string, spec *ast.ImportSpec) {
	t.Helper()
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		t.Fatal(err)
	}
	if own, isOurs := strings.CutPrefix(name, module); isOurs {
		if !slices.Contains(ours, own) {
			t.Errorf("%s imports %s: %s may import %v; %s", path, own, dir, ours, why)
		}
		return
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return // the standard library
	}
	if !slices.ContainsFunc(outside, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") }) {
		t.Errorf("%s imports %s: %s may import %v from outside; %s", path, name, dir, outside, why)
	}
}

func TestPackagesHaveOneDocAndNoVagueName(t *testing.T) {
	docs := map[string]int{}
	sourceFiles(t, func(path string) {
		dir := filepath.ToSlash(filepath.Dir(path))
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			docs[dir]++
		} else if docs[dir] == 0 {
			docs[dir] = 0
		}
	})
	for dir, n := range docs {
		if n != 1 {
			t.Errorf("package %s has %d package comments, want 1", dir, n)
		}
		if base := filepath.Base(dir); slices.Contains([]string{"util", "utils", "common", "types", "helpers", "misc"}, base) {
			t.Errorf("package %s: the name says nothing of what is in it", dir)
		}
	}
}

// Limits of STYLE: nobody reads a longer function or file in one go.
const (
	maxFunctionLines = 100
	maxFileLines     = 500
)

func TestFunctionsAndFilesStayReadable(t *testing.T) {
	sourceFiles(t, func(path string) {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if n := fset.Position(f.FileEnd).Line; n > maxFileLines {
			t.Errorf("%s has %d lines, at most %d are wanted", path, n, maxFileLines)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, at most %d are wanted", path, fn.Name.Name, n, maxFunctionLines)
			}
		}
	})
}

func TestExportedNamesAreDocumented(t *testing.T) {
	var all, bare int
	sourceFiles(t, func(path string) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			all++
			if fn.Doc == nil {
				bare++
				t.Logf("%s: %s is not documented", path, fn.Name.Name)
			}
		}
	})
	if bare*20 > all {
		t.Errorf("%d of %d exported functions have no comment, at most 5 %% may", bare, all)
	}
}
