package framework_test

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/framework"
)

func TestALogOfManyPackagesIsReadAsOneOfEach(t *testing.T) {
	t.Parallel()
	const log = `
 FAIL  test/total.test.js > adds
AssertionError: expected 4 to be 3
 ❯ test/total.test.js:5:3

 Test Files  1 failed (1)
`
	for name, c := range map[string]struct{ web, api string }{
		"turbo":        {"@acme/web:test: ", "@acme/api:test: "},
		"turbo's task": {"@acme/web:test:unit: ", "@acme/api:test:unit: "},
		"pnpm":         {"pkg/web test: ", "pkg/api test: "},
		"lerna":        {"@acme/web: ", "@acme/api: "},
		"yarn":         {"[@acme/web]: ", "[@acme/api]: "},
		"on GitHub":    {"2026-11-30T10:00:00.1234567Z \x1b[35m@acme/web:test: \x1b[0m", "2026-11-30T10:00:00.1234567Z @acme/api:test: "},
	} {
		var text strings.Builder
		for line := range strings.Lines(log) {
			text.WriteString(c.web + line)
			text.WriteString(c.api + strings.NewReplacer(" FAIL ", " ✓ ", "1 failed", "1 passed").Replace(line))
		}
		in := framework.Reading{
			Exists: func(file string) bool {
				return file == "pkg/web/test/total.test.js" || file == "pkg/api/test/total.test.js"
			},
			Suites: []framework.Suite{{Name: "api", Framework: "vitest", Dir: "pkg/api"}, {Name: "web", Framework: "vitest", Dir: "pkg/web"}},
		}
		fs, err := framework.ReadPrefixed(strings.NewReader(text.String()), in, func(name string) string {
			return map[string]string{"@acme/web": "pkg/web", "@acme/api": "pkg/api"}[name]
		})
		if err != nil || len(fs) != 1 || fs[0].Target.Suite != "web" || fs[0].Target.Package != "pkg/web/test/total.test.js" || fs[0].Target.Test != "adds" {
			t.Errorf("%s: %+v, %v", name, fs, err)
		}
	}
	if fs, err := framework.ReadPrefixed(strings.NewReader("note: nothing\n"+strings.Repeat("x", 1<<20)), framework.Reading{}, func(string) string { return "" }); len(fs) > 0 || err != nil {
		t.Errorf("%+v, %v", fs, err)
	}
}
