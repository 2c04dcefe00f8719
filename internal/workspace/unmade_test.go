package workspace

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnmadeIsWhatTheHeadTreeLacks(t *testing.T) {
	for name, c := range map[string]struct {
		trackedOnly bool
		want        []string
	}{
		"of the working tree": {false, []string{"dist/", "mixed/made.txt", "x.log"}},
		"in CI":               {true, []string{"dist/", "mixed/made.txt", "unknown/", "x.log"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := linear(t, 1)
			r.write(".gitignore", "*.log\ndist\nmade.txt\nnode_modules\n.venv\nout\n")
			r.write("mixed/kept", "k")
			r.write("web/package.json", "{}")
			r.git("add", "--all")
			r.git("commit", "-q", "-m", "files")
			for _, path := range []string{
				"x.log", "dist/a/b.js", "mixed/made.txt", "unknown/y", "web/node_modules/left/index.js", ".venv/pyvenv.cfg", "out/report.json",
			} {
				r.write(path, "x")
			}
			opt := r.options()
			opt.Base, opt.TrackedOnly, opt.Ignore = "HEAD~1", c.trackedOnly, []string{r.dir + "/out"}
			r.unchanged(func() {
				w := r.open(opt)
				got, err := w.Unmade(t.Context())
				if err := errors.Join(err, w.Close()); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("unmade (-want +got):\n%s", diff)
				}
			})
		})
	}
}
