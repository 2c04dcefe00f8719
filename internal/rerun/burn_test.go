package rerun

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// burners finds the busy loops whose parent has this process id, in /proc.
func burners(t *testing.T, parent int) []int {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc to see the processes")
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if ppid, _ := strconv.Atoi(string(f[1])); ppid == parent && string(f[0]) != "Z" && isBurner(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isBurner reports whether a process is a busy loop of ours that runs.
func isBurner(pid int) bool {
	args, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return err == nil && bytes.Contains(args, []byte(BurnArg))
}

// eventually waits until ok, at most a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not so after a minute: %s", what)
		}
	}
}

func TestBurnersStandBesideTheTrialOnly(t *testing.T) {
	stop, err := burn(t.Context(), &triage.LagPlan{Burners: 2})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "two burners run", func() bool { return len(burners(t, os.Getpid())) == 2 })
	stop()
	if left := burners(t, os.Getpid()); len(left) > 0 {
		t.Errorf("processes %v burn on", left)
	}
}

func TestBurnersEndWithAKilledParent(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(self, burnParent)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = parent.Process.Kill(); _ = parent.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "burning\n" {
		t.Fatalf("the parent said %q, %v", line, err)
	}
	var pids []int
	eventually(t, "two burners run", func() bool { pids = burners(t, parent.Process.Pid); return len(pids) == 2 })
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no burner runs", func() bool {
		for _, pid := range pids {
			if isBurner(pid) {
				return false
			}
		}
		return true
	})
}

func TestASlowMachinePlanRunsTheOrdinaryBinary(t *testing.T) {
	b := newBench(t, nil)
	got := b.run(t, request(triage.Head, "odd", "TestPass"), &triage.LagPlan{Version: 1, Name: "busy", Burners: 1, Procs: 1})
	if got.Outcome != triage.Pass || len(b.adapter.asked) != 1 || b.adapter.asked[0].Overlay != "" {
		t.Errorf("built %+v, got %s", b.adapter.asked, describe(got))
	}
	if left := burners(t, os.Getpid()); len(left) > 0 {
		t.Errorf("processes %v burn on", left)
	}
}
