package gh

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// add puts an artifact into the state and returns it as the API tells it.
func (f fake) add(t *testing.T, a ghtest.Artifact) Artifact {
	t.Helper()
	f.Update(func(s *ghtest.State) { s.Artifacts = append(s.Artifacts, a) })
	list, err := f.Artifacts(ctx, a.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if l.ID == a.ID {
			return l
		}
	}
	t.Fatalf("artifact %d is not in %+v", a.ID, list)
	return Artifact{}
}

func TestAnArtifactIsReadInMemory(t *testing.T) {
	f := newFake(t, "workflow")
	a := f.add(t, ghtest.Artifact{ID: 71, Run: 43, Name: "triagebot", Files: map[string]string{"report.json": "{}", "page.html": "<p>"}})
	if a.Name != "triagebot" || a.RunID != 43 || a.HeadSHA != ghtest.SHA("fork-head") || a.HeadRepoID != 2002 || a.Size == 0 || a.Expired {
		t.Errorf("%+v", a)
	}
	files, err := f.ReadArtifact(ctx, a, []string{"report.json"}, Limits{})
	if err != nil || len(files) != 1 || string(files["report.json"]) != "{}" {
		t.Errorf("%v %v", files, err)
	}
}

func TestOfEachNameTheNewestArtifactCounts(t *testing.T) {
	f := newFake(t, "workflow")
	day := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"triagebot-linux", "triagebot-macos", "triagebot-linux"} {
		f.add(t, ghtest.Artifact{ID: int64(71 + i), Run: 42, Name: name, Files: map[string]string{"x": "y"}, Created: day.AddDate(0, 0, i)})
	}
	f.add(t, ghtest.Artifact{ID: 80, Run: 43, Name: "triagebot-linux", Files: map[string]string{"x": "y"}})
	list, err := f.Artifacts(ctx, 42)
	if err != nil || len(list) != 2 || list[0].ID != 73 || list[1].ID != 72 {
		t.Errorf("%+v %v", list, err)
	}
	if _, err := f.Artifacts(ctx, 99); !errors.Is(err, ErrNotFound) {
		t.Errorf("of a run that is not there: %v", err)
	}
}

func TestAnArtifactOfAnotherRunIsRefused(t *testing.T) {
	run := Run{ID: 43, HeadSHA: ghtest.SHA("fork-head"), HeadRepoID: 2002}
	good := Artifact{Name: "triagebot", RunID: 43, HeadSHA: ghtest.SHA("fork-head"), HeadRepoID: 2002}
	if err := good.Of(run); err != nil {
		t.Errorf("its own: %v", err)
	}
	for name, change := range map[string]func(*Artifact){
		"another run":        func(a *Artifact) { a.RunID = 42 },
		"another commit":     func(a *Artifact) { a.HeadSHA = ghtest.SHA("head") },
		"another repository": func(a *Artifact) { a.HeadRepoID = 1001 },
		"nothing is said":    func(a *Artifact) { *a = Artifact{Name: "x\x1b[0m"} },
	} {
		a := good
		change(&a)
		if err := a.Of(run); !errors.Is(err, ErrArtifact) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExpiredArtifactsAreGone(t *testing.T) {
	f := newFake(t, "workflow")
	a := f.add(t, ghtest.Artifact{ID: 71, Run: 43, Name: "triagebot", Files: map[string]string{"report.json": "{}"}, Expired: true})
	f.ForgetRequests()
	if _, err := f.ReadArtifact(ctx, a, []string{"*"}, Limits{}); !errors.Is(err, ErrGone) || len(f.Requests()) != 0 {
		t.Errorf("known to be: %v", err)
	}
	a.Expired = false // it expired since it was listed
	if _, err := f.ReadArtifact(ctx, a, []string{"*"}, Limits{}); !errors.Is(err, ErrGone) {
		t.Errorf("found to be: %v", err)
	}
	a.ID = 999
	if _, err := f.ReadArtifact(ctx, a, []string{"*"}, Limits{}); !errors.Is(err, ErrNotFound) {
		t.Errorf("not there: %v", err)
	}
}

func TestForgedArtifactsAreRefused(t *testing.T) {
	huge := pack(t, entry{name: "report.json", content: strings.Repeat("x", 2<<20), store: true})
	for name, c := range map[string]struct {
		zip  []byte
		size int64
		want string
	}{
		"a link":                 {pack(t, entry{name: "report.json", content: "/etc/passwd", mode: fs.ModeSymlink | 0o777}), 0, "link"},
		"a path":                 {pack(t, entry{name: "../report.json"}), 0, "leads out"},
		"a bomb":                 {pack(t, entry{name: "report.json", content: strings.Repeat("0", 4<<20)}), 0, "times its size"},
		"5 MB and more of JSON":  {pack(t, entry{name: "report.json", content: strings.Repeat("[0123456789abcdef]", 330_000)}), 0, "unpacks to"},
		"a large zip":            {huge, 0, "at most"},
		"a large zip, said less": {huge, 100, "more than"},
		"no zip":                 {[]byte("<html>"), 0, "no zip"},
	} {
		f := newFake(t, "workflow")
		a := f.add(t, ghtest.Artifact{ID: 71, Run: 43, Name: "triagebot", Zip: c.zip, Size: c.size})
		files, err := f.ReadArtifact(ctx, a, []string{"report.json"}, Limits{})
		if !errors.Is(err, ErrArtifact) || !strings.Contains(err.Error(), c.want) || files != nil {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
