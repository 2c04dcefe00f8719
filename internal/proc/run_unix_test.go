//go:build unix

package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// roleVar makes the test binary play a child of the tests below.
const roleVar = "PROC_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVar); role != "" {
		playRole(role)
	}
	os.Exit(m.Run())
}

// playRole never returns. It ends without the hooks of os.Exit: those of a
// coverage build print.
func playRole(role string) {
	switch role, arg, _ := strings.Cut(role, ":"); role {
	case "exit":
		code, _ := strconv.Atoi(arg)
		syscall.Exit(code)
	case "hang":
		hang()
	case "ready":
		fmt.Println("ready")
		hang()
	case "ignore-term":
		signal.Ignore(syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGINT)
		fmt.Println("ready")
		hang()
	case "flood":
		n, _ := strconv.Atoi(arg)
		w := bufio.NewWriter(os.Stdout)
		for i := range n {
			fmt.Fprintf(w, "line %07d é世\n", i)
		}
		w.Flush()
	case "both":
		for i := range 200 {
			fmt.Fprintf(os.Stdout, "o%d\n", i)
			fmt.Fprintf(os.Stderr, "e%d\n", i)
		}
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "dir":
		dir, _ := os.Getwd()
		fmt.Println(dir)
	case "stdin":
		n, err := os.Stdin.Read(make([]byte, 1))
		fmt.Println(n, err)
	case "segv":
		signal.Reset()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		hang()
	case "ballast":
		b := bytes.Repeat([]byte{1}, 64<<20)
		fmt.Println(len(b))
	case "spawn":
		spawn(arg)
	case "init":
		beInit()
	}
	syscall.Exit(0)
}

func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// spawn starts a child and ends. "hold" keeps our output open in it, "quiet"
// does not, "setsid" puts it into its own session, "bare" also drops the mark.
func spawn(how string) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), roleVar+"=hang")
	if how == "hold" || how == "wait" {
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
	}
	if how == "setsid" || how == "bare" {
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
	if how == "bare" {
		c.Env = []string{roleVar + "=hang"}
	}
	if how == "tree" {
		c.Env = append(os.Environ(), roleVar+"=spawn:wait")
	}
	if err := c.Start(); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	fmt.Println("child", c.Process.Pid)
	if how == "wait" {
		_ = c.Wait()
	}
}

// beInit is set where a process can be an init.
var beInit func()

func role(t testing.TB, name string) Spec {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Argv: []string{exe}, Env: append(os.Environ(), roleVar+"="+name)}
}

func run(t *testing.T, s Spec) Result {
	t.Helper()
	r, err := Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// goneSoon fails when the process is still there after a while.
func goneSoon(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); syscall.Kill(pid, 0) != syscall.ESRCH; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func childPID(t *testing.T, output []byte) int {
	t.Helper()
	_, rest, ok := strings.Cut(string(output), "child ")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(line)
	if !ok || err != nil {
		t.Fatalf("no child in output %q", output)
	}
	return pid
}

func TestRunTellsHowTheLeaderEnded(t *testing.T) {
	for name, tc := range map[string]struct {
		role, signal string
		exit         int
	}{
		"success":              {role: "exit:0"},
		"exit code":            {role: "exit:7", exit: 7},
		"killed by the system": {role: "segv", exit: -1, signal: "SIGKILL"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, role(t, tc.role))
			if r.Exit != tc.exit || r.Signal != tc.signal || r.TimedOut || r.Cancelled || r.Warning != "" || r.Survivors != nil {
				t.Errorf("got %+v", r)
			}
			if r.Wall <= 0 || r.User+r.System <= 0 || r.MaxRSS < 1<<20 || r.Start.IsZero() {
				t.Errorf("implausible usage: %+v", r)
			}
		})
	}
}

func TestMemoryIsTheLargestOfTheTree(t *testing.T) {
	if r := run(t, role(t, "ballast")); r.MaxRSS < 64<<20 || r.MaxRSS > 1<<30 {
		t.Errorf("largest resident set is %d bytes, want a little over 64 MiB", r.MaxRSS)
	}
}

func TestRunErrorIsForAProcessThatDidNotStart(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		spec Spec
		want error
	}{
		"no such program":   {t.Context(), Spec{Argv: []string{"/no/such/program"}}, os.ErrNotExist},
		"no such directory": {t.Context(), Spec{Argv: []string{os.Args[0]}, Dir: "/no/such/dir"}, os.ErrNotExist},
		"cancelled before":  {cancelled, Spec{Argv: []string{os.Args[0]}}, context.Canceled},
		"empty command":     {t.Context(), Spec{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(tc.ctx, tc.spec)
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.HasPrefix(err.Error(), "starting ") {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestRunGivesTheProcessOnlyWhatIsNamed(t *testing.T) {
	t.Setenv("SECRET_OF_THE_PARENT", "x")
	s := role(t, "env")
	s.Env = []string{roleVar + "=env", "A=1", "A=2"}
	got := strings.Fields(string(run(t, s).Output))
	want := 3
	if len(got) != want || got[0] != roleVar+"=env" || got[1] != "A=2" || !strings.HasPrefix(got[2], markName+"=") {
		t.Errorf("environment is %q", got)
	}
	s = role(t, "dir")
	s.Dir = t.TempDir()
	if got := strings.TrimSpace(string(run(t, s).Output)); got != s.Dir {
		t.Errorf("directory is %q, want %q", got, s.Dir)
	}
	if got := string(run(t, role(t, "stdin")).Output); got != "0 EOF\n" {
		t.Errorf("standard input gives %q, want nothing", got)
	}
}

// runReady runs a process that says when it is ready, with a limit that leaves it
// the time to say so, on a busy machine too.
func runReady(t *testing.T, s Spec) Result {
	t.Helper()
	for s.Timeout = time.Second; ; s.Timeout *= 4 {
		r := run(t, s)
		if bytes.HasPrefix(r.Output, []byte("ready\n")) {
			return r
		}
		if s.Timeout > time.Minute {
			t.Fatalf("not ready after %v: %+v", s.Timeout, r)
		}
	}
}

func TestTimeoutKillsAGroupThatIgnoresSignals(t *testing.T) {
	s := role(t, "ignore-term")
	s.TimeoutSignal, s.Grace = syscall.SIGQUIT, 100*time.Millisecond
	r := runReady(t, s)
	if !r.TimedOut || r.Cancelled || r.Exit != -1 || r.Signal != "SIGKILL" || r.Wall < 1100*time.Millisecond {
		t.Errorf("got %+v", r)
	}
}

func TestTimeoutSignalGetsTheGoroutineDump(t *testing.T) {
	s := role(t, "ready")
	s.TimeoutSignal, s.Grace = syscall.SIGQUIT, time.Minute
	r := runReady(t, s)
	if !r.TimedOut || r.Exit != 2 || r.Signal != "" || !bytes.Contains(r.Output, []byte("proc.hang")) {
		t.Errorf("got %+v\n%s", r, r.Output)
	}
}

// readySink calls ready at the first output.
type readySink struct{ ready func() }

func (s readySink) Write(p []byte) (int, error) { s.ready(); return len(p), nil }

func TestCancelKillsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := role(t, "ignore-term")
	s.TimeoutSignal, s.Timeout, s.Sink = syscall.SIGTERM, time.Minute, readySink{cancel}
	r, err := Run(ctx, s)
	if err != nil || !r.Cancelled || r.TimedOut || r.Signal != "SIGKILL" || r.Wall > 50*time.Second {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestKillReachesChildrenThatHoldTheOutput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := role(t, "spawn:wait")
	s.Sink = readySink{cancel}
	r, err := Run(ctx, s)
	if err != nil || !r.Cancelled || len(r.Survivors) != 0 || r.Warning != "" {
		t.Errorf("got %+v, %v", r, err)
	}
	goneSoon(t, childPID(t, r.Output))
}

func TestSinkErrorIsAWarning(t *testing.T) {
	s := role(t, "flood:100")
	s.Sink = brokenSink{}
	r := run(t, s)
	if r.Exit != 0 || !strings.Contains(r.Warning, "disk full") || !bytes.Contains(r.Output, []byte("line 0000099")) {
		t.Errorf("got %+v", r)
	}
}

type brokenSink struct{}

func (brokenSink) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestOutputOfBothStreamsKeepsItsOrder(t *testing.T) {
	var want strings.Builder
	for i := range 200 {
		fmt.Fprintf(&want, "o%d\ne%d\n", i, i)
	}
	if got := string(run(t, role(t, "both")).Output); got != want.String() {
		t.Errorf("streams are out of order:\n%s", got)
	}
}

func TestStandardErrorCanBeKeptApart(t *testing.T) {
	s := role(t, "both")
	var errs bytes.Buffer
	s.Stderr = &errs
	r := run(t, s)
	if bytes.Contains(r.Output, []byte("e")) || !bytes.HasSuffix(r.Output, []byte("o199\n")) || !bytes.HasSuffix(errs.Bytes(), []byte("e199\n")) {
		t.Errorf("output %q, errors %q", r.Output, errs.Bytes())
	}
}

func TestFloodKeepsHeadAndTail(t *testing.T) {
	s := role(t, "flood:400000")
	s.OutputCap = 4 << 10
	var full bytes.Buffer
	s.Sink = &full
	r := run(t, s)
	if !r.Truncated || len(r.Output) > s.OutputCap+100 {
		t.Errorf("kept %d bytes, truncated %v", len(r.Output), r.Truncated)
	}
	if !bytes.HasPrefix(r.Output, []byte("line 0000000")) || !bytes.HasSuffix(r.Output, []byte("line 0399999 é世\n")) {
		t.Errorf("head or tail is missing:\n%s", r.Output)
	}
	if lines := bytes.Count(full.Bytes(), []byte("\n")); lines != 400000 {
		t.Errorf("sink got %d lines", lines)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"exec.Cmd", "Run"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				var err error
				if name == "Run" {
					_, err = Run(b.Context(), Spec{Argv: []string{"/bin/true"}})
				} else {
					_, err = exec.Command("/bin/true").CombinedOutput()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
