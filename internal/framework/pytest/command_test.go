package pytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCommandKeepsWhatBelongsToEveryRun(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]Adapter{
		"pytest":                               {},
		"pytest -x -q -n 4 tests/unit -k slow": {Chosen: []string{"tests/unit", "-k", "slow"}},
		"pytest -n4 -c conf/pytest.ini --cov=pkg --cov-report xml tests":   {Args: []string{"-c", "conf/pytest.ini"}, Chosen: []string{"tests"}},
		"python -m pytest -p no:cacheprovider --dispatch-lag=0.2":          {Args: []string{"-p", "no:cacheprovider", "--dispatch-lag=0.2"}},
		".venv/bin/python -m pytest --ds settings.test":                    {Python: ".venv/bin/python", Args: []string{"--ds", "settings.test"}},
		".venv/bin/pytest tests":                                           {Python: ".venv/bin/python", Chosen: []string{"tests"}},
		"pytest -mfast --ignore=slow --deselect a.py::x --maxfail 1 -n4":   {Chosen: []string{"-mfast", "--ignore=slow", "--deselect", "a.py::x"}},
		"env DEBUG=1 uv run pytest -W error --junitxml out.xml":            {Env: []string{"DEBUG=1"}, Args: []string{"-W", "error"}},
		"coverage run -m pytest --strict-markers -m fast a.py::test_x[=-]": {Args: []string{"--strict-markers"}, Chosen: []string{"-m", "fast", "a.py::test_x[=-]"}},
	} {
		got, ok := ParseCommand(strings.Fields(command))
		if d := cmp.Diff(want, got); d != "" || !ok {
			t.Errorf("%s: ok %v (-want +got):\n%s", command, ok, d)
		}
	}
	for _, command := range []string{"tox -e py312", "make test", "./pytest-all.sh", ""} {
		if _, ok := ParseCommand(strings.Fields(command)); ok {
			t.Errorf("%q is taken for pytest", command)
		}
	}
}
