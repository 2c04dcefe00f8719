package gotest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestParseCommand(t *testing.T) {
	for _, c := range []struct {
		command  string
		want     Adapter
		packages []string
	}{
		{"go test", Adapter{}, nil},
		{"go test ./...", Adapter{}, []string{"./..."}},
		{"go test -v -race -count=1 ./...", Adapter{Flags: []string{"-race"}, Race: true, Count: 1, Dropped: []string{"-v"}}, []string{"./..."}},
		{"go test -race=false ./a ./b", Adapter{Flags: []string{"-race=false"}}, []string{"./a", "./b"}},
		{"env A=1 B=x=y go test --tags e2e,db ./...", Adapter{Env: []string{"A=1", "B=x=y"}, Flags: []string{"-tags=e2e,db"}}, []string{"./..."}},
		{"CGO_ENABLED=0 /usr/local/go/bin/go test -mod=vendor .", Adapter{Env: []string{"CGO_ENABLED=0"}, Flags: []string{"-mod=vendor"}}, []string{"."}},
		{"go -C sub test -short -cpu 2,4 -parallel 3 -timeout 90s", Adapter{Dir: "sub", TestFlags: []string{"-test.short", "-test.cpu=2", "-test.parallel=3"}, Timeout: 90 * time.Second}, nil},
		{"go test -run TestA/b -skip C -shuffle on -json -coverprofile c.out -cover -covermode=atomic -outputdir /x -cpuprofile=p ./x",
			Adapter{Run: "TestA/b", Skip: "C", Shuffle: "on", JSON: true, Flags: []string{"-cover", "-covermode=atomic"}, Dropped: []string{"-coverprofile=c.out", "-outputdir=/x", "-cpuprofile=p"}}, []string{"./x"}},
		{"go test -tags a -tags b ./x -args -v file", Adapter{Flags: []string{"-tags=b"}, TestArgs: []string{"-v", "file"}}, []string{"./x"}},
		{"go test -ldflags -X=a.b=c -gcflags=all=-N -failfast -bench . ./x", Adapter{Flags: []string{"-ldflags=-X=a.b=c", "-gcflags=all=-N"}, Dropped: []string{"-failfast", "-bench=."}}, []string{"./x"}},
		{"go test ./x -update -golden dir", Adapter{TestFlags: []string{"-update", "-golden", "dir"}}, []string{"./x"}},
		{"gotestsum --format testname --junitfile r.xml --no-color -- -race ./...", Adapter{Report: "r.xml", Flags: []string{"-race"}, Race: true}, []string{"./..."}},
		{"go tool gotestsum --jsonfile=r.json --rerun-fails=2 --packages=./...", Adapter{Report: "r.json"}, []string{"./..."}},
	} {
		t.Run(c.command, func(t *testing.T) {
			got, pkgs, err := ParseCommand(strings.Fields(c.command))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("adapter (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.packages, pkgs); d != "" {
				t.Errorf("packages (-want +got):\n%s", d)
			}
		})
	}
}

func TestParseCommandRefuses(t *testing.T) {
	for command, notGo := range map[string]bool{
		"": true, "make test": true, "go build ./...": true, "go": true, "env A=1": true, "npm test": true,
		"gotestsum --raw-command ./run.sh": true, "go test -timeout soon": false, "go test -run": false, "go test -count=x": false,
	} {
		_, _, err := ParseCommand(strings.Fields(command))
		if err == nil || errors.Is(err, ErrNotGoTest) != notGo {
			t.Errorf("%q: error %v, want one (not go test: %v)", command, err, notGo)
		}
	}
}

func TestCommandOfATrial(t *testing.T) {
	target := triage.Target{Package: "p", Test: "TestA/b c"}
	prepared := triage.Prepared{Dir: "/t/p", Bin: "/o/p.test"}
	for name, c := range map[string]struct {
		a    Adapter
		s    triage.RunSpec
		argv string
		env  []string
	}{
		"alone": {
			Adapter{Run: "X", Skip: "Y", TestFlags: []string{"-test.short"}, TestArgs: []string{"arg"}},
			triage.RunSpec{Timeout: time.Minute},
			"-test.timeout=58s -test.run=^TestA$/^b_c$ -test.short arg", nil,
		},
		"package, in the red's order": {
			Adapter{Run: "X", Skip: "Y"},
			triage.RunSpec{Scope: triage.InPackage, Seed: 7, Timeout: 10 * time.Second},
			"-test.timeout=9s -test.run=X -test.skip=Y -test.shuffle=7", nil,
		},
		"some tests before it, in the red's order": {
			Adapter{Run: "X", Skip: "Y"},
			triage.RunSpec{Scope: triage.InPackage, With: []string{"TestB"}, Seed: 7},
			"-test.run=^(TestB|TestA)$ -test.shuffle=7", nil,
		},
		"the suite's own shorter limit": {
			Adapter{Timeout: 5 * time.Second}, triage.RunSpec{Timeout: time.Minute, Scope: triage.InPackage}, "-test.timeout=5s", nil,
		},
		"race of the suite": {
			Adapter{Race: true, Env: []string{"GORACE=halt_on_error=1"}}, triage.RunSpec{Scope: triage.InPackage}, "",
			[]string{"GORACE=halt_on_error=1", "GORACE=halt_on_error=1 atexit_sleep_ms=0"},
		},
		"added race": {
			Adapter{}, triage.RunSpec{Scope: triage.InPackage, Detector: "race"}, "", []string{"GORACE=atexit_sleep_ms=0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.Target, c.s.Prepared = target, prepared
			got := c.a.Command(c.s)
			want := append([]string{"/o/p.test", "-test.v=test2json", "-test.paniconexit0", "-test.count=1"}, strings.Fields(c.argv)...)
			if d := cmp.Diff(want, got.Argv); d != "" {
				t.Errorf("argv (-want +got):\n%s", d)
			}
			for _, e := range c.env {
				if !strings.Contains(strings.Join(got.Env, "\n")+"\n", e+"\n") {
					t.Errorf("environment %q lacks %q", got.Env, e)
				}
			}
			if got.Dir != "/t/p" {
				t.Errorf("directory %q", got.Dir)
			}
		})
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"got 3, want 4":             "got N, want 4",
		"got 4812, want 4":          "got N, want 4",
		"expected 3 but got 2":      "expected 3 but got N",
		"expected: 3 actual : 2":    "expected: 3 actual : N",
		"status 500, want 200":      "status 500, want 200",
		"want 12345":                "want N",
		"n = -1.5e3":                "n = N",
		"utf8 item2 v1.2.3 sha256":  "utf8 item2 v1.2.3 sha256",
		"pre-1 a-b":                 "pre-N a-b",
		"after 1m3.5s (12µs, 3 ms)": "after DUR (DUR, N ms)",
		"at 0xc000123abc":           "at ADDR",
		"commit deadbeef0123456789": "commit HASH",
		"2024-05-01T12:00:00.123Z: late, 2024/05/01 12:00:00 x":                "TIME: late, TIME x",
		"id 123e4567-e89b-12d3-a456-426614174000":                              "id UUID",
		"open /tmp/TestX123/001/f.db: no such file":                            "open TMP: no such file",
		"open /var/folders/x1/T/TestX9/002/a.txt failed":                       "open TMP failed",
		"stat /home/me/repo/pkg/file.txt: gone":                                "stat file.txt: gone",
		"/build/src/pkg/a.go:12:3: undefined: x":                               "a.go: undefined: x",
		"Get \"http://127.0.0.1:43121/v1/x\": dial tcp 127.0.0.1:43121: reset": "Get \"http://IP:PORT/v1/x\": dial tcp IP:PORT: reset",
		"import example.com/a/b is missing":                                    "import example.com/a/b is missing",
		"goroutine 17 on port 8080":                                            "goroutine N on port N",
		"a\u00a0b\n\t  c":                                                      "a b c",
		"日本語 7":                                                                "日本語 N",
		"bad \xff utf8":                                                        "bad \uFFFD utf8",
		"":                                                                     "",
	} {
		if got := Normalise(in); got != want {
			t.Errorf("Normalise(%q)\n got %q\nwant %q", in, got, want)
		}
	}
	if got := Normalise(strings.Repeat("é ", 1000)); len(got) > maxMessage {
		t.Errorf("%d bytes, want at most %d", len(got), maxMessage)
	}
}

func TestChosenMessage(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"the fatal one is last":      {"    a_test.go:1: starting\n    a_test.go:2: got error 1\n    a_test.go:3: never became ready\n", "never became ready"},
		"a log line at the end":      {"    a_test.go:1: got 1, want 2\n    logger.go:9: error: shutting down\n", "got 1, want 2"},
		"a plain one after a logger": {"    logger.go:9: failed to sync\n    a_test.go:1: boom\n    logger.go:9: bye\n", "boom"},
		"the testing package's own":  {"    a_test.go:1: fine so far\n    testing.go:9: TempDir RemoveAll cleanup: x\n", "TempDir RemoveAll cleanup: x"},
		"an assertion block": {
			"    a_test.go:1: \n        \tError Trace:\t/x/a_test.go:1\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \tTest:       \tTestA\n        \tMessages:   \twhy\n    a_test.go:2: got to the end\n",
			"Not equal:\nexpected: 1\nwhy",
		},
		"several lines":            {"    a_test.go:1: mismatch:\n          - a\n\n          + b\n    plain print\n", "mismatch:\n          - a\n\n          + b"},
		"-fullpath":                {"    /home/me/repo/a_test.go:1: not good\n    logger.go:9: error\n", "not good"},
		"behind a print":           {"printed    a_test.go:1: not good\n", "not good"},
		"no message":               {"a_test.go:1: printed by the program\nsome output\n", ""},
		"a place inside a message": {"    a_test.go:1: compile failed:\n        b.go:3:4: undefined\n", "compile failed:\n        b.go:3:4: undefined"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := chooseMessage(findMessages([]byte(c.text), 4))
			if got := m.plain(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
