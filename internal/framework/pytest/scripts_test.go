package pytest

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/tools/txtar"
)

const scripts = `
-- Makefile --
PY ?= python3
test: install
	@echo testing
	STRICT=1 $(PY) -m pytest -p no:cacheprovider -n auto --strict-markers $(ARGS) tests
cov:
	pytest -c conf/pytest.ini --cov=$(PKG) --rootdir=$(ROOT)
viatox:
	tox -e py311
two:
	pytest -p no:x
	pytest -p no:y
loop:
	make loop
pip:
	A=1
	pip install -U pytest -q
	uv pip install pytest --foo
	@echo pytest --foo
	pytest -p no:x
cd:
	cd lib && pip install x
	cd backend && export A=1 && pytest -c b.ini
apart:
	cd a && pytest
	cd b && pytest
docker:
	docker compose run --rm web pytest -c /app/x.ini
lint:
	ruff check
-- tox.ini --
[tox]
envlist = py311, lint
; tests
[testenv]
passenv = *
setenv =
    STRICT = 1
    DIR={envtmpdir}
    PYTHONPATH = {toxinidir}/src
commands =
    pip list
    pytest -W error --basetemp={envtmpdir} \
        {posargs:tests}
[testenv:lint]
commands = ruff check
[testenv:old]
set_env = OLD=1
commands =
    old: python -m pytest -p no:old {posargs}
-- sub/Makefile --
test:
	pytest --sub
`

func TestResolveReadsMakefilesAndTox(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(scripts)).Files {
		root[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	for command, want := range map[string]string{
		"make test":                  "STRICT=1 | -p no:cacheprovider --strict-markers | Makefile",
		"A=1 make test":              "A=1 STRICT=1 | -p no:cacheprovider --strict-markers | Makefile",
		"make cov":                   "| -c conf/pytest.ini | Makefile | the value of --rootdir is not told there",
		"make two":                   "| -p no:x | Makefile | it runs pytest in more than one way, and the first is taken",
		"make -C sub test":           "| --sub | sub/Makefile in sub",
		"make pip":                   "| -p no:x | Makefile",
		"make cd":                    "A=1 | -c b.ini | Makefile in backend",
		"make apart":                 `no | "make apart" does not show how it runs pytest`,
		"make docker":                `no | "make docker" does not show how it runs pytest`,
		"make viatox":                "STRICT=1 PYTHONPATH=./src | -W error | tox.ini | the value of DIR is not told there",
		"tox":                        "STRICT=1 PYTHONPATH=./src | -W error | tox.ini | the value of DIR is not told there",
		"uvx tox -e old -- -s --x=1": "OLD=1 | -p no:old --x=1 | tox.ini | it stands in a condition on tox's environment",
		"tox -e lint":                `no | "tox -e lint" does not show how it runs pytest`,
		"make lint":                  `no | "make lint" does not show how it runs pytest`,
		"make loop":                  `no | "make loop" does not show how it runs pytest`,
		"make gone":                  `no | "make gone" does not show how it runs pytest`,
		"nox -s tests":               `no | "nox -s tests" does not show how it runs pytest`,
		"./run-tests.sh":             `no | "./run-tests.sh" does not show how it runs pytest`,
	} {
		s, ok := Resolve(root, "", strings.Fields(command))
		got := strings.TrimSpace(strings.Join(s.Adapter.Env, " ")+" | "+strings.Join(s.Adapter.Args, " ")) + " | " + s.From
		if !ok {
			got = "no"
		}
		if len(s.Doubts) > 0 {
			got += " | " + strings.Join(s.Doubts, "; ")
		}
		if s.Dir != "" {
			got += " in " + s.Dir
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", command, got, want)
		}
	}
}

func TestACommandForSeveralFoldersIsReadForEach(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{"Makefile": {Data: []byte("test:\n\tcd a && A=1 pytest\n\tcd b && pytest -p no:x\n\tcd b && pytest -p no:y\none:\n\tpytest a -W error\nsome:\n\tif true; then make test; fi\n")}}
	for command, want := range map[string]map[string]string{
		"make test": {"a": "A=1 | ", "b": " | -p no:x (1)", "": "no", "c": "no"},
		"make one":  {"a": " | -W error", "": " | -W error"}, // the folder is an argument
		"make some": {"a": "A=1 |  (1)", "b": " | -p no:x (2)"},
	} {
		for dir, want := range want {
			s, ok := ResolveIn(root, dir, "", strings.Fields(command))
			got := strings.Join(s.Adapter.Env, " ") + " | " + strings.Join(s.Adapter.Args, " ")
			if len(s.Doubts) > 0 {
				got += fmt.Sprintf(" (%d)", len(s.Doubts))
			}
			if !ok {
				got = "no"
			}
			if got != want {
				t.Errorf("%s in %q: %q, want %q, doubts %q", command, dir, got, want, s.Doubts)
			}
		}
	}
}

func FuzzTox(f *testing.F) {
	f.Add("[testenv]\ncommands =\n a: pytest {posargs:x} \\\n  y\nsetenv = A=1\n", "-e a -- b")
	f.Add("[testenv:x]\ncommands=pytest {[a]b} {", "-ex")
	f.Fuzz(func(t *testing.T, text, words string) {
		root := fstest.MapFS{"tox.ini": {Data: []byte(text)}}
		s, ok := Resolve(root, "", append([]string{"tox"}, strings.Fields(words)...))
		if !ok && len(s.Adapter.Args) > 0 {
			t.Errorf("options of nothing: %+v", s)
		}
		for _, a := range append(s.Adapter.Args, s.Adapter.Env...) {
			if strings.Contains(a, "\x00") && !strings.Contains(words, "\x00") {
				t.Errorf("what is not known is an option: %q", a)
			}
		}
	})
}
