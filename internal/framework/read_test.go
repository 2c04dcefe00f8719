package framework

import (
	"strings"
	"testing"
)

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
