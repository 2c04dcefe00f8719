package pytest

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestDetectFindsTestsByTheirNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		want  []Found
	}{
		"a test behind its module":        {[]string{"shop_test.py"}, []Found{{"", "shop_test.py"}}},
		"in the folder of the tests":      {[]string{"tests/shop_test.py"}, []Found{{"", "tests/shop_test.py"}}},
		"below a folder":                  {[]string{"api/tests/shop_test.py"}, []Found{{"api", "tests/shop_test.py"}}},
		"three levels down":               {[]string{"services/team/api/pytest.ini"}, []Found{{"services/team/api", "pytest.ini"}}},
		"three levels, beside a package":  {[]string{"services/team/api/pytest.ini", "web/pytest.ini"}, []Found{{"services/team/api", "pytest.ini"}, {"web", "pytest.ini"}}},
		"four levels down":                {[]string{"a/b/c/d/pytest.ini"}, nil},
		"below one that is found already": {[]string{"a/pytest.ini", "a/b/c/pytest.ini"}, []Found{{"a", "pytest.ini"}}},
		"other people's code":             {[]string{"a/node_modules/c/pytest.ini", ".tox/x/y/pytest.ini"}, nil},
	} {
		root := fstest.MapFS{}
		for _, f := range c.files {
			root[f] = &fstest.MapFile{}
		}
		if d := cmp.Diff(c.want, Detect(root)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
