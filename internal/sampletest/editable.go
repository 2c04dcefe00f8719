package sampletest

import (
	"context"
	"fmt"
	"path/filepath"
)

// editable makes a virtual environment at the first argument. It has what the
// interpreter itself has, and the folder of the second argument as an editable
// install leaves it: by its path. With "insists" it puts itself before every other
// place that modules are looked for in, as some set-ups by hand do. With "copied"
// it has a copy of that folder, as pip leaves it when it installs the directory of
// the fourth argument.
const editable = `import json, pathlib, shutil, sys, sysconfig, venv
env, source, how, project = sys.argv[1:5]
venv.create(env, symlinks=True)
(packages,) = pathlib.Path(env).glob("lib/python*/site-packages")
line = {"insists": f"import sys; sys.path.insert(0, {source!r})", "copied": ""}.get(how, source)
(packages / "editable.pth").write_text(line + "\n" + sysconfig.get_path("purelib") + "\n")
if how == "copied":
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(source, packages, dirs_exist_ok=True, ignore=skip)
    files = [p.relative_to(source).as_posix() for p in pathlib.Path(source).rglob("*.py")]
    info = packages / "project-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: project\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in files))
    (info / "direct_url.json").write_text(json.dumps({"dir_info": {}, "url": pathlib.Path(project).as_uri()}))
`

// install puts the checkout's folder Editable into an environment in dir, and
// returns where the commands of that are.
func (s Sample) install(ctx context.Context, checkout, dir string) (string, error) {
	env := filepath.Join(dir, "env")
	how := "editable"
	switch {
	case s.Insists:
		how = "insists"
	case s.Copied:
		how = "copied"
	}
	out, code, err := run(ctx, dir, s.env(true, ""), "python3", "-c", editable, env, filepath.Join(checkout, filepath.FromSlash(s.Editable)), how, checkout)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit %d: %s", code, out)
	}
	if err != nil {
		return "", fmt.Errorf("installing %q: %w", s.Editable, err)
	}
	return filepath.Join(env, "bin"), nil
}
