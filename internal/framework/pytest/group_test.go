package pytest

import (
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// twoOfATaskGroup is how pytest prints two tasks of a group that failed.
const twoOfATaskGroup = `  + Exception Group Traceback (most recent call last):
  |   File "/work/test_g.py", line 9, in test_g
  |     asyncio.run(both())
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/work/test_g.py", line 3, in a
    |     raise KeyError("tea")
    | KeyError: 'tea'
    | 
    | During handling of the above exception, another exception occurred:
    | 
    | Traceback (most recent call last):
    |   File "/work/test_g.py", line 5, in a
    |     raise NoStock("no stock of tea")
    | shop.NoStock: no stock of tea
    | second line
    +---------------- 2 ----------------
    | Exception Group Traceback (most recent call last):
    |   File "/work/test_g.py", line 7, in b
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | LookupError: no stock of 3 cups
      +------------------------------------
`

func TestAGroupIsToldByWhatIsInIt(t *testing.T) {
	const want = "ExceptionGroup: unhandled errors in a TaskGroup: [LookupError: no stock of N cups; shop.NoStock: no stock of tea]"
	swapped := strings.NewReplacer("LookupError: no stock of 3 cups", "shop.NoStock: no stock of tea",
		"shop.NoStock: no stock of tea", "LookupError: no stock of 5 cups").Replace(twoOfATaskGroup)
	alike := strings.Replace(twoOfATaskGroup, "LookupError: no stock of 3 cups", "shop.NoStock: no stock of tea", 1)
	other := strings.ReplaceAll(twoOfATaskGroup, "no stock of tea", "no address")
	for _, c := range []struct{ name, text, want string }{
		{"a chain, a group in a group", twoOfATaskGroup, want},
		{"the other order", swapped, want},
		{"the same twice", alike, "ExceptionGroup: unhandled errors in a TaskGroup: [shop.NoStock: no stock of tea]"},
		{"another failure", other, strings.Replace(want, "no stock of tea", "no address", 1)},
		{"with what was logged", twoOfATaskGroup + "------ Captured log call ------\n" + strings.ReplaceAll(twoOfATaskGroup, "tea", "salt"), want},
		{"without its beginning", twoOfATaskGroup[strings.Index(twoOfATaskGroup, "+-+"):], ""},
		{"nothing of its members", "", ""},
	} {
		f := Options{}.failure(triage.Target{Test: "test_g"}, crash{
			phase: triage.PhaseTest, message: "ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)", text: c.text,
		})
		if f.Signature.Message != c.want {
			t.Errorf("%s: %q, want %q", c.name, f.Signature.Message, c.want)
		}
		if c.want == "" && !f.Signature.IsZero() {
			t.Errorf("%s: it has the signature %+v, which any group would have", c.name, f.Signature)
		}
	}
}

func TestLongGroupsThatDifferAtTheirEndAreTwo(t *testing.T) {
	long := group{name: "ExceptionGroup: tasks (2 sub-exceptions)", members: []string{strings.Repeat("é", 300), "z1"}}
	a := long.message()
	long.members[1] = "z two"
	if b := long.message(); a == b || len(a) > maxMessage || len(b) > maxMessage {
		t.Errorf("%q and %q", a, b)
	}
}

func TestAFailureLongerThanItsBlockIsCut(t *testing.T) {
	var b block
	b.add([]byte("first"))
	b.add([]byte(strings.Repeat("x", 3*maxText)))
	b.add([]byte("last"))
	if s := string(b.text); len(s) > 2*maxText+8 || !strings.HasSuffix(s, "x\nlast\n") {
		t.Errorf("%d bytes, ending in %q", len(s), s[max(0, len(s)-20):])
	}
}
