package pytest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/triagebot/triagebot/internal/triage"
)

// orders runs two files of twelve tests each by a seed.
type orders struct {
	dir string
	a   Adapter
	p   triage.Prepared
	t   *testing.T
}

func newOrders(t *testing.T, ini string) orders {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "def test_%02d(): pass\n", i)
	}
	o := orders{t: t, dir: tree(t, map[string]string{"pytest.ini": ini, "test_m.py": b.String(), "test_n.py": b.String()})}
	o.p = prepare(t, o.a, o.dir, "test_n.py")
	return o
}

// of is the order of test_n.py's tests in a run.
func (o orders) of(scope triage.Scope, seed int64) string {
	return o.run(triage.RunSpec{Scope: scope, Seed: seed, Target: triage.Target{Package: "test_n.py"}})
}

func (o orders) run(spec triage.RunSpec) string {
	spec.Prepared, spec.Tree = o.p, o.dir
	rs, _ := trial(o.t, o.a, spec)
	var names []string
	for _, r := range rs {
		if r.Target.Package == "test_n.py" && r.Target.Test != "" {
			names = append(names, r.Target.Test)
		}
	}
	return strings.Join(names, " ")
}

// ci is the order that the plugin itself makes, without triagebot.
func (o orders) ci(args ...string) string {
	cmd := exec.Command(python(o.t), append([]string{"-m", "pytest", "-p", "no:cacheprovider", "-v", "--color=no"}, args...)...)
	cmd.Dir, cmd.Env = o.dir, append(os.Environ(), "PYTEST_ADDOPTS=", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		o.t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "test_n.py::"); ok {
			names = append(names, strings.Fields(rest)[0])
		}
	}
	return strings.Join(names, " ")
}

func TestOrderSeedsOfRandomly(t *testing.T) {
	has(t, "pytest_randomly")
	o := newOrders(t, "[pytest]\n")
	plain, one, two := o.of(triage.InPackage, 0), o.of(triage.InPackage, 1), o.of(triage.InPackage, 2)
	if !strings.HasPrefix(plain, "test_00 test_01 test_02") {
		t.Errorf("without a seed the order is %s", plain)
	}
	if one == plain || one == two {
		t.Errorf("seed 1: %s\nseed 2: %s", one, two)
	}
	if want := o.ci("-p", "randomly", "--randomly-seed=1"); one != want || o.of(triage.InSuite, 1) != want {
		t.Errorf("seed 1: %s\n   CI: %s", one, want)
	}
}

func TestOrderSeedsOfRandomOrder(t *testing.T) {
	has(t, "random_order")
	for name, c := range map[string]struct {
		ini string
		ci  []string
	}{
		"of its options beside randomly": {"[pytest]\naddopts = --random-order\n", []string{"-p", "no:randomly", "--random-order-seed=1"}},
		"without randomly":               {"[pytest]\naddopts = -p no:randomly\n", []string{"--random-order-seed=1"}},
		"over the whole suite":           {"[pytest]\naddopts = -p no:randomly --random-order-bucket=global\n", []string{"--random-order-seed=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOrders(t, c.ini)
			if plain := o.of(triage.InPackage, 0); !strings.HasPrefix(plain, "test_00 test_01 test_02") {
				t.Errorf("without a seed the order is %s", plain)
			}
			if got, want := o.of(triage.InSuite, 1), o.ci(c.ci...); got != want {
				t.Errorf("suite: %s\n   CI: %s", got, want)
			}
			if got, want := o.of(triage.InPackage, 1), o.ci(append(c.ci, "test_n.py")...); got != want {
				t.Errorf("file: %s\n  CI: %s", got, want)
			}
		})
	}
}

// The tests before a target run in the order in which they are named, with each
// plugin that would shuffle them, and with the numbers of its seed.
func TestNamedTestsKeepTheirOrder(t *testing.T) {
	for module, ini := range map[string]string{"pytest_randomly": "[pytest]\n", "random_order": "[pytest]\naddopts = --random-order\n"} {
		t.Run(module, func(t *testing.T) {
			has(t, module)
			o := newOrders(t, ini)
			names := []string{"test_07", "test_02", "test_11", "test_01", "test_09", "test_00"}
			for _, seed := range []int64{0, 1} {
				got := o.run(triage.RunSpec{Scope: triage.InPackage, Seed: seed, With: names, Target: triage.Target{Suite: "pytest", Framework: Name, Package: "test_n.py", Test: "test_05"}})
				if want := strings.Join(append(names, "test_05"), " "); got != want {
					t.Errorf("seed %d: %s, want %s", seed, got, want)
				}
			}
		})
	}
}

// pytest-randomly also seeds the generators before each test, and goes on to.
func TestNamedTestsHaveTheNumbersOfTheSeed(t *testing.T) {
	has(t, "pytest_randomly")
	dir := tree(t, map[string]string{"test_n.py": "import random\ndef test_a(): pass\ndef test_b(): assert random.random() == 0, random.random()\n"})
	a := Adapter{}
	p := prepare(t, a, dir, "test_n.py")
	target := triage.Target{Suite: "pytest", Framework: Name, Package: "test_n.py", Test: "test_b"}
	message := func(seed int64, with []string) string {
		rs, out := trial(t, a, triage.RunSpec{Prepared: p, Tree: dir, Scope: triage.InPackage, Target: target, Seed: seed, With: with})
		r := own(t, rs, target)
		if r.Failure == nil {
			t.Fatalf("%+v\n%s", r, out)
		}
		first, _, _ := strings.Cut(r.Failure.Message, "\n")
		return first
	}
	if whole, named := message(3, nil), message(3, []string{"test_a"}); whole != named {
		t.Errorf("the whole file: %s\nnamed:          %s", whole, named)
	}
}
