package sampletest

import (
	"context"
	"fmt"
	"path/filepath"
)

// editable makes a virtual environment at the first argument. It has what the
// interpreter itself has, and the folder of the second argument as an editable
// install leaves it: by its path. With a third one it insists: it puts itself before
// every other place that modules are looked for in, as some set-ups by hand do.
const editable = `import pathlib, sys, sysconfig, venv
env, source = sys.argv[1:3]
venv.create(env, symlinks=True)
(packages,) = pathlib.Path(env).glob("lib/python*/site-packages")
line = f"import sys; sys.path.insert(0, {source!r})" if sys.argv[3:] else source
(packages / "editable.pth").write_text(line + "\n" + sysconfig.get_path("purelib") + "\n")
`

// install puts the checkout's folder Editable into an environment in dir, and
// returns where the commands of that are.
func (s Sample) install(ctx context.Context, checkout, dir string) (string, error) {
	env := filepath.Join(dir, "env")
	args := []string{"-c", editable, env, filepath.Join(checkout, filepath.FromSlash(s.Editable))}
	if s.Insists {
		args = append(args, "insists")
	}
	out, code, err := run(ctx, dir, s.env(true, ""), "python3", args...)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit %d: %s", code, out)
	}
	if err != nil {
		return "", fmt.Errorf("installing %q: %w", s.Editable, err)
	}
	return filepath.Join(env, "bin"), nil
}
