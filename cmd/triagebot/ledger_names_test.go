package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCollectedTestsAreReadFromPytest(t *testing.T) {
	for name, tc := range map[string]struct {
		out  string
		want []string
	}{
		"tests":          {"tests/test_a.py::TestHub::test_b\ntests/test_a.py::test_c[x::y]\r\n\n2 tests collected in 0.01s\n", []string{"TestHub::test_b", "test_c[x::y]"}},
		"an empty file":  {"\nno tests collected in 0.00s\n", []string{}},
		"counts only":    {"tests/test_a.py: 2\n\n2 tests collected in 0.01s\n", nil},
		"it broke":       {"ERROR: usage\n", nil},
		"a warning, too": {"warnings.py:3: a::b is old\ntest_a.py::test_a\n", []string{"test_a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, collectedTests([]byte(tc.out))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
