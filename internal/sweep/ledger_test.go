package sweep

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func ledger(t testing.TB, text string) Ledger {
	t.Helper()
	l, err := ParseLedger(strings.NewReader(text), LedgerPath)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestALedgerIsReadWithItsComments(t *testing.T) {
	l := ledger(t, "\ufeff# known reds\n\n# flaky since the hub moved\n#  see the log\nexample.com/app/a.TestA\nexample.com/app/a TestB/x y#00\r\n\n# alone\n\nsrc/factory.test.ts > drains # now")
	want := []Entry{
		{"example.com/app/a.TestA", 5, "flaky since the hub moved\nsee the log"},
		{"example.com/app/a TestB/x y#00", 6, ""},
		{"src/factory.test.ts > drains # now", 10, ""},
	}
	if diff := cmp.Diff(want, l.Entries); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsWrongWithALedgerIsToldWithItsLines(t *testing.T) {
	l, err := ParseLedger(strings.NewReader("TestA\nTestA\nTest\x1b[31mB\nTest\u202eC\n"+strings.Repeat("x", maxName+1)+"\nTest\xffD\nTestE\n"), "reds.txt")
	if err == nil || len(l.Entries) != 2 {
		t.Fatalf("%v, %d entries", err, len(l.Entries))
	}
	got := strings.Split(err.Error(), "\n")
	for i, want := range []string{"reds.txt:2: TestA is on line 1 already", "reds.txt:3: ", "reds.txt:4: ", "reds.txt:5: a name of 4097 bytes", "reds.txt:6: the line is not UTF-8"} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("error %d is not %q: %q", i, want, got)
		}
	}
	if _, err := ParseLedger(strings.NewReader(strings.Repeat("#\n", maxLedger)), "reds.txt"); err == nil {
		t.Error("an endless ledger is read")
	}
}

func TestAnEntryNamesATestInTheWaysThatFrameworksWriteIt(t *testing.T) {
	file := triage.Target{Suite: "web", Framework: "vitest", Package: "src/a.test.ts", Test: "factory > drains"}
	py := triage.Target{Suite: "py", Framework: "pytest", Package: "tests/test_a.py", Test: "TestB::test_c[1 # 2]"}
	for name, tc := range map[string]struct {
		target triage.Target
		want   bool
	}{
		"example.com/app/a.TestA":               {goTest("a", "TestA"), true},
		"example.com/app/a TestA":               {goTest("a", "TestA"), true},
		"TestA":                                 {goTest("a", "TestA"), true},
		"TestA/sub":                             {goTest("a", "TestA"), false},
		"example.com/app/b.TestA":               {goTest("a", "TestA"), false},
		"example.com/app/a":                     {goTest("a", ""), true},
		"src/a.test.ts > factory > drains":      {file, true},
		"factory > drains":                      {file, true},
		"drains":                                {file, false},
		"tests/test_a.py::TestB::test_c[1 # 2]": {py, true},
	} {
		if got := (Entry{Name: name}).Is(tc.target); got != tc.want {
			t.Errorf("%q names %s: %v", name, tc.target, got)
		}
	}
	fs := []triage.Failure{{Target: goTest("a", "TestA")}, {Target: goTest("a", "TestB")}}
	OnLedger(ledger(t, "TestB\n"), fs)
	if fs[0].Ledger || !fs[1].Ledger {
		t.Errorf("marked %v and %v", fs[0].Ledger, fs[1].Ledger)
	}
}

func TestALedgerOnlyShrinks(t *testing.T) {
	base := ledger(t, "TestA\nTestB\nTestGone\n")
	list := func(_ context.Context, names []string) (gone, unclear []string, err error) {
		for _, n := range names {
			if n == "TestGone" {
				gone = append(gone, n)
			}
			if n == "TestOdd" {
				unclear = append(unclear, n)
			}
		}
		return gone, unclear, nil
	}
	for name, tc := range map[string]struct {
		head    string
		want    []string
		unclear []string
	}{
		"the same without the lost one": {"TestA\nTestB\n", nil, nil},
		"shrunk":                        {"# mended\nTestB\n", nil, nil},
		"all mended":                    {"", nil, nil},
		"sorted anew":                   {"TestB\nTestA\n", nil, nil},
		"grown":                         {"TestA\n\nTestNew\nTestB\n", []string{"3 added"}, nil},
		"renamed":                       {"TestA2\nTestB\n", []string{"1 added"}, nil},
		"one that is gone":              {"TestA\nTestGone\n", []string{"2 there is no such test"}, nil},
		"added and not there":           {"TestA\nTestOdd\nTestB\n", []string{"2 added"}, []string{"TestOdd"}},
	} {
		faults, unclear, err := CheckLedger(t.Context(), base, ledger(t, tc.head), list)
		if err != nil {
			t.Fatal(err)
		}
		ok := len(faults) == len(tc.want)
		for i := range min(len(faults), len(tc.want)) {
			ok = ok && strings.HasPrefix(fmt.Sprintf("%d %s", faults[i].Line, faults[i].Text), tc.want[i])
		}
		if !ok || !slices.Equal(unclear, tc.unclear) {
			t.Errorf("%s: %+v, unclear %q, want %q", name, faults, unclear, tc.want)
		}
	}
	broken := func(context.Context, []string) (gone, unclear []string, err error) {
		return nil, nil, errors.New("no go")
	}
	if _, _, err := CheckLedger(t.Context(), base, base, broken); err == nil {
		t.Error("a lister that fails is no error")
	}
}

// onMain is the report of a sweep of main with these runs of one test.
func onMain(target triage.Target, alone, suite, lagged string) triage.Report {
	plan := triage.LagPlan{Version: 1, Name: "doubles", CleanupMS: 1}
	r := triage.Report{Check: triage.Check{Head: triage.Rev{SHA: "m"}, Base: triage.Rev{SHA: "m"}}}
	e := triage.Evidence{Target: target}
	for _, x := range []struct {
		arm   triage.Arm
		marks string
	}{{triage.Arm{}, alone}, {triage.Arm{Scope: triage.InSuite}, suite}, {triage.Arm{Lag: plan.ID()}, lagged}} {
		e.Tallies = append(e.Tallies, triage.Tally{Arm: x.arm, Sequence: x.marks,
			Pass: strings.Count(x.marks, "."), Same: strings.Count(x.marks, "F"), Other: strings.Count(x.marks, "o"), Invalid: strings.Count(x.marks, "-")})
	}
	r.Evidence = []triage.Evidence{e}
	return r
}

func TestOnlyWhatIsProvenSteadyIsProposed(t *testing.T) {
	clean := strings.Repeat(".", 20)
	a := goTest("a", "TestA")
	change := onMain(a, clean, clean, clean)
	change.Check.Head.SHA = "change"
	for name, tc := range map[string]struct {
		reports []triage.Report
		steady  bool
		says    string
	}{
		"clean in all three":             {[]triage.Report{onMain(a, clean, clean, clean)}, true, "alone red 0 of 20 (≤ 14 % at 95 %), in the suite 0 of 20 (≤ 14 % at 95 %), under lag 0 of 20"},
		"in two nights":                  {[]triage.Report{onMain(a, clean[:10], clean[:10], clean[:10]), onMain(a, clean[:10], clean[:10], clean[:10])}, true, "0 of 20"},
		"too few in the suite":           {[]triage.Report{onMain(a, clean, clean[:3], clean)}, false, "3 of 20 runs in the suite"},
		"never under lag":                {[]triage.Report{onMain(a, clean, clean, "")}, false, "0 of 20 runs under lag"},
		"red once under lag":             {[]triage.Report{onMain(a, clean, clean, clean+"F")}, false, "red under lag: 1 of 21"},
		"another failure is a red too":   {[]triage.Report{onMain(a, clean+"o", clean, clean)}, false, "red alone: 1 of 21"},
		"runs that say nothing":          {[]triage.Report{onMain(a, "--------------------", clean, clean)}, false, "0 of 20 runs alone"},
		"another test":                   {[]triage.Report{onMain(goTest("a", "TestB"), clean, clean, clean)}, false, "no report tells of it"},
		"a change is not main":           {[]triage.Report{change}, false, "0 of 20 runs alone"},
		"clean here, red in another one": {[]triage.Report{onMain(a, clean, clean, clean), onMain(a, "F", "", "")}, false, "red alone: 1 of 21"},
		"no reports":                     {nil, false, "no report tells of it"},
	} {
		notes, patch := Prune(ledger(t, "TestA\n"), tc.reports, 20)
		if (patch != "") != tc.steady || len(notes) != 1 || !strings.Contains(notes[0], tc.says) {
			t.Errorf("%s: %q\n%s", name, notes, patch)
		}
	}
}

func TestThePatchTakesTheCommentAlong(t *testing.T) {
	text := "# Known reds.\n\n# hub\nTestA\nTestB\n\n# pool\nTestC\n\n# both\nTestD\nTestE\n"
	for drop, want := range map[string]string{
		"TestC":             "# Known reds.\n\n# hub\nTestA\nTestB\n\n\n# both\nTestD\nTestE\n",
		"TestA":             "# Known reds.\n\n# hub\nTestB\n\n# pool\nTestC\n\n# both\nTestD\nTestE\n",
		"TestA TestB":       "# Known reds.\n\n\n# pool\nTestC\n\n# both\nTestD\nTestE\n",
		"TestE":             "# Known reds.\n\n# hub\nTestA\nTestB\n\n# pool\nTestC\n\n# both\nTestD\n",
		"TestD TestE TestA": "# Known reds.\n\n# hub\nTestB\n\n# pool\nTestC\n\n",
	} {
		l := ledger(t, text)
		var gone []Entry
		for _, e := range l.Entries {
			if slices.Contains(strings.Fields(drop), e.Name) {
				gone = append(gone, e)
			}
		}
		if got := applied(t, text, l.Without(gone)); got != want {
			t.Errorf("without %s:\n%s", drop, cmp.Diff(want, got))
		}
	}
	if got := ledger(t, text).Without(nil); got != "" {
		t.Errorf("a patch of nothing: %q", got)
	}
}

// applied is what git makes of a ledger and a patch.
func applied(t *testing.T, text, patch string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(LedgerPath))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644),
		os.WriteFile(filepath.Join(dir, "p"), []byte(patch), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"init", "-q"}, {"apply", "p"}} {
		c := exec.Command("git", argv...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s%s", argv[0], err, out, patch)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// TestGitAppliesEveryPatch takes random lines from random ledgers.
func TestGitAppliesEveryPatch(t *testing.T) {
	if testing.Short() {
		t.Skip("starts git many times")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for round := range 25 {
		var lines []string
		for i := range 1 + r.IntN(30) {
			end := "\n"
			if round%3 == 1 {
				end = "\r\n"
			}
			lines = append(lines, []string{fmt.Sprintf("Test%d", i), fmt.Sprintf("Test%d", i), "# why", ""}[r.IntN(4)]+end)
		}
		text := strings.Join(lines, "")
		if round%2 == 1 {
			text = strings.TrimRight(text, "\r\n")
		}
		l := ledger(t, text)
		var gone []Entry
		for _, e := range l.Entries {
			if r.IntN(2) == 0 {
				gone = append(gone, e)
			}
		}
		patch := l.Without(gone)
		if patch == "" {
			continue
		}
		left := ledger(t, applied(t, text, patch))
		var want []string
		for _, e := range l.Entries {
			if !slices.Contains(gone, e) {
				want = append(want, e.Name)
			}
		}
		if diff := cmp.Diff(want, left.names()); diff != "" {
			t.Fatalf("round %d:\n%s\n%s", round, diff, patch)
		}
	}
}

func FuzzLedger(f *testing.F) {
	f.Add("# a\nTestA\n\nTestB", uint16(1))
	f.Add("TestA\r\nTestA\n", uint16(3))
	f.Fuzz(func(t *testing.T, text string, which uint16) {
		l, err := ParseLedger(strings.NewReader(text), "l")
		seen := map[string]bool{}
		for _, e := range l.Entries {
			if seen[e.Name] || e.Name == "" || strings.HasPrefix(e.Name, "#") || e.Line < 1 {
				t.Fatalf("entry %+v", e)
			}
			seen[e.Name] = true
		}
		if err != nil {
			return
		}
		var gone []Entry
		for i, e := range l.Entries {
			if which>>(i%16)&1 == 1 {
				gone = append(gone, e)
			}
		}
		patch := l.Without(gone)
		removed := 0
		for line := range strings.Lines(patch) {
			if strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---") {
				removed++
			}
		}
		if removed < len(gone) {
			t.Fatalf("%d of %d entries are taken out by\n%s", removed, len(gone), patch)
		}
	})
}
