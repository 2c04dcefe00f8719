package lag

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestPlanIsReadBackAsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plan.json")
	plan := triage.LagPlan{
		Version: 1, Name: "explain", Hits: 3, BudgetMS: 20_000,
		Decisions: []triage.Decision{{Site: "d.go:f:call:1", Kind: triage.KindCall, Role: triage.RoleWorker, MS: 2.5}},
		Stretch:   triage.Stretch{Timeouts: 50, CapMS: 1500},
	}
	if err := WritePlan(path, plan); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got triage.LagPlan
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan, got); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if got.ID() != plan.ID() {
		t.Errorf("id %s after the file, %s before", got.ID(), plan.ID())
	}
}

func TestPlanThatNoEngineCouldCarryOutIsRefused(t *testing.T) {
	for name, p := range map[string]triage.LagPlan{
		"version of another time":  {Version: 2},
		"negative delay":           {MinMS: -1},
		"delay that is no number":  {MinMS: math.NaN(), MaxMS: 1},
		"delay above a minute":     {MaxMS: 60_001},
		"least above most":         {MinMS: 2, MaxMS: 1},
		"probability above one":    {Probability: 1.5},
		"infinite stretch":         {Stretch: triage.Stretch{Timeouts: math.Inf(1)}},
		"decision without a site":  {Decisions: []triage.Decision{{MS: 1}}},
		"decision before time":     {Decisions: []triage.Decision{{Site: "s", MS: -1}}},
		"decision at negative hit": {Decisions: []triage.Decision{{Site: "s", Hit: -1}}},
		"negative budget":          {BudgetMS: -1},
	} {
		path := filepath.Join(t.TempDir(), "plan.json")
		if err := WritePlan(path, p); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a file was left", name)
		}
	}
	if err := WritePlan(filepath.Join(t.TempDir(), "no", "plan.json"), triage.LagPlan{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("folder that is not there: %v", err)
	}
}

func TestLogIsRead(t *testing.T) {
	const in = `{"site":"a","kind":"return","role":"worker","hit":1,"ms":10}
{"site":"b","kind":"call","role":"test","hit":1,"ms":0,"yield":true}

{"stretched":"t"}
{"stretched":"t"}
{"seen":"c"}
{"site":"a","kind":"return","role":"worker","hit":2,"ms":0.5}
{"site":"a","kind":"ret`
	got, err := ReadLog(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	want := Log{
		Decisions: []triage.Decision{
			{Site: "a", Kind: triage.KindReturn, Role: triage.RoleWorker, Hit: 1, MS: 10},
			{Site: "b", Kind: triage.KindCall, Role: triage.RoleTest, Hit: 1, Yield: true},
			{Site: "a", Kind: triage.KindReturn, Role: triage.RoleWorker, Hit: 2, MS: 0.5},
		},
		Count: 3, Stretched: []string{"t"}, Sites: []string{"a", "b", "t", "c"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestLinesThatAreNoRecordAreCountedAndLeftOut(t *testing.T) {
	good := `{"site":"a","hit":1,"ms":1}` + "\n"
	for name, line := range map[string]string{
		"no JSON":            "FAIL: TestX",
		"another JSON value": "[1,2]",
		"null":               "null",
		"nothing known":      `{"other":"x"}`,
		"empty site":         `{"site":"","hit":1,"ms":1}`,
		"no hit":             `{"site":"a","ms":1}`,
		"negative delay":     `{"site":"a","hit":1,"ms":-1}`,
		"delay of a day":     `{"site":"a","hit":1,"ms":86400000}`,
		"huge exponent":      `{"site":"a","hit":1,"ms":1e999}`,
		"fractional hit":     `{"site":"a","hit":1.5,"ms":1}`,
		"site of 2 kB":       `{"site":"` + strings.Repeat("x", 2048) + `","hit":1,"ms":1}`,
		"line of 100 kB":     `{"site":"` + strings.Repeat("x", 100_000) + `","hit":1,"ms":1}`,
	} {
		got, err := ReadLog(strings.NewReader(good + line + "\n" + good))
		if err != nil || got.Bad != 1 || got.Count != 2 {
			t.Errorf("%s: %d records, %d bad lines, error %v; want 2, 1, none", name, got.Count, got.Bad, err)
		}
	}
}

func TestFloodedLogIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range MaxDecisions + 500 {
		fmt.Fprintf(&b, `{"site":"s%d","hit":1,"ms":1}`+"\n", i)
	}
	got, err := ReadLog(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Decisions) != MaxDecisions || got.Count != MaxDecisions+500 || len(got.Sites) != MaxLogSites {
		t.Errorf("%d decisions of %d, %d sites", len(got.Decisions), got.Count, len(got.Sites))
	}
	line := "{}" + strings.Repeat(" ", 1021) + "\n"
	got, err = ReadLog(strings.NewReader(strings.Repeat(line, MaxLogBytes/len(line)+10)))
	if err != nil || !got.Truncated || got.Bad != MaxLogBytes/len(line) {
		t.Errorf("endless log: truncated %v, %d bad lines, error %v", got.Truncated, got.Bad, err)
	}
}

func TestBrokenReaderGivesWhatWasReadAndAnError(t *testing.T) {
	bad := errors.New("disk gone")
	for name, in := range map[string]string{"after a line": "", "within a long line": strings.Repeat("x", 3*maxLine)} {
		r := iotest.DataErrReader(strings.NewReader(`{"site":"a","hit":1,"ms":1}` + "\n" + in))
		got, err := ReadLog(&failing{r, bad})
		if !errors.Is(err, bad) || got.Count != 1 {
			t.Errorf("%s: %d records, error %v", name, got.Count, err)
		}
	}
}

type failing struct {
	r   interface{ Read([]byte) (int, error) }
	err error
}

func (f *failing) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil {
		err = f.err
	}
	return n, err
}

func TestOnlyARegularLogFileIsRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	if _, err := ReadLogFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := ReadLogFile(dir); err == nil {
		t.Error("a folder was read")
	}
	if err := os.WriteFile(path, []byte(`{"seen":"a"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadLogFile(path); err != nil || len(got.Sites) != 1 {
		t.Errorf("regular file: %+v, %v", got, err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := ReadLogFile(link); err == nil {
		t.Error("a symbolic link was followed")
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(`{"site":"a","kind":"return","role":"worker","hit":1,"ms":10}` + "\n" + `{"stretched":"t"}` + "\n"))
	f.Add([]byte("{\"seen\":\"\xff\"}\n{\"site\":\"a\",\"hit\":1,\"ms\":1e308}\n"))
	f.Add([]byte("\n\n[]\n{\"site\":{}}\nnull\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ReadLog(strings.NewReader(string(b)))
		if err != nil {
			t.Fatalf("error on plain bytes: %v", err)
		}
		if l.Count < len(l.Decisions) || l.Count+l.Bad > strings.Count(string(b), "\n")+1 {
			t.Fatalf("%d decisions of %d, %d bad, from %q", len(l.Decisions), l.Count, l.Bad, b)
		}
		for _, d := range l.Decisions {
			if !validID(d.Site) || d.Hit < 1 || !validMS(d.MS) {
				t.Fatalf("decision %+v from %q", d, b)
			}
		}
		p := triage.LagPlan{Version: triage.PlanVersion, Decisions: l.Decisions}
		if err := checkPlan(p); err != nil {
			t.Fatalf("decisions cannot be replayed: %v", err)
		}
	})
}
