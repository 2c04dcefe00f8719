package framework

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework/jstest"
)

// Whichever suites a check has, TAP is read as its writer's.
func TestTAPIsReadAsItsWritersKind(t *testing.T) {
	for file, want := range map[string]string{
		"vitest.tap": "vitest", "vitest-flat.tap": "vitest", "mocha.tap": "mocha", "mocha13.tap": "mocha", "node.tap": "nodetest",
	} {
		f, err := os.Open(filepath.Join("jstest", "testdata", "captured", file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		kind, fs, err := ReadReport(f, Reading{Suites: []Suite{{Name: "j", Framework: "jest", Dir: "."}, {Name: "n", Framework: "nodetest", Dir: "."}, {Name: "v", Framework: "vitest", Dir: "."}}})
		if err != nil || kind != TAP || len(fs) < 3 || fs[0].Target.Framework != want {
			t.Errorf("%s: %v, %v, %+v", file, kind, err, fs)
		}
	}
	const tape = "TAP version 13\n# a test\nnot ok 1 should be equal\n  ---\n    operator: equal\n  ...\n1..1\n"
	if _, fs, err := ReadReport(strings.NewReader(tape), Reading{Suites: []Suite{{Name: "v", Framework: "vitest", Dir: "."}}}); !errors.Is(err, jstest.ErrKind) || len(fs) > 0 {
		t.Errorf("another program's: %+v, %v", fs, err)
	}
}

func TestAFileIsOfTheDeepestSuiteThatItLiesIn(t *testing.T) {
	in := Reading{
		Suites: []Suite{{Name: "vitest", Framework: "vitest", Dir: "."}, {Name: "vitest:packages/web", Framework: "vitest", Dir: "packages/web"}},
		Exists: func(f string) bool { return f == "packages/web/src/a.test.ts" || f == "e2e/b.test.ts" },
	}
	for file, want := range map[string]string{
		"/ci/shop/packages/web/src/a.test.ts": "vitest:packages/web packages/web/src/a.test.ts",
		"/ci/shop/e2e/b.test.ts":              "vitest e2e/b.test.ts",
		"src/a.test.ts":                       "vitest:packages/web packages/web/src/a.test.ts",
	} {
		_, fs, err := ReadReport(strings.NewReader(`{"numTotalTests":1,"testResults":[{"name":"`+file+`","status":"failed","assertionResults":[{"title":"x","status":"failed"}]}]}`), in)
		if err != nil || len(fs) != 1 {
			t.Fatalf("%s: %v %+v", file, err, fs)
		}
		if got := fs[0].Target.Suite + " " + fs[0].Target.Package; got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}
