package pytest

import "testing"

func TestRefusalSaysWhyPytestDidNotStart(t *testing.T) {
	for name, tc := range map[string]struct{ out, want string }{
		"an unknown option": {
			"ERROR: usage: python -m pytest [options] [file_or_dir] [...]\npython -m pytest: error: unrecognized arguments: --nosuch\n  inifile: /t/pytest.ini\n  rootdir: /t\n\n",
			"unrecognized arguments: --nosuch (pytest.ini)",
		},
		"a file that cannot be parsed": {"ERROR: /t/pytest.ini:1: unexpected value continuation\n\n", "pytest.ini:1: unexpected value continuation"},
		"a newer pytest wanted":        {"ERROR: /t/pytest.ini: 'minversion' requires pytest-99, actual pytest-9.2.0'\n", "pytest.ini: 'minversion' requires pytest-99, actual pytest-9.2.0'"},
		"a conftest": {
			"ImportError while loading conftest '/t/conftest.py'.\nconftest.py:1: in <module>\n    import nosuch\nE   ModuleNotFoundError: No module named 'nosuch'\n",
			"ImportError while loading conftest 'conftest.py': ModuleNotFoundError: No module named 'nosuch'",
		},
		"anything else": {"one\nSegmentation fault\n\n", "Segmentation fault"},
		"nothing":       {"", "it printed nothing"},
	} {
		if got := refusal([]byte(tc.out), "/t"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
