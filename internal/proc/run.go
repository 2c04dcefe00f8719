package proc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	// DefaultOutputCap is used when [Spec.OutputCap] is 0. A verbose package
	// prints some hundred kilobytes; a stack dump of 1,000 goroutines fits too.
	DefaultOutputCap = 1 << 20
	// DefaultGrace is used when [Spec.Grace] is 0: a goroutine dump of a large
	// process is out in well under a second, also on a loaded machine.
	DefaultGrace = 5 * time.Second
	// killWait bounds the wait for a process that was sent SIGKILL. Only one in
	// an uninterruptible system call (dead network file system) lasts longer.
	killWait = 10 * time.Second
	// drainWait bounds the wait for the end of the output once the tree is dead.
	drainWait = time.Second
	// markName is the environment variable that marks a tree.
	markName = "TRIAGEBOT_TRIAL"
)

// Spec describes one process tree.
type Spec struct {
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Argv is the program and its arguments, never a shell line. The program is
	// looked up in the PATH of this process.
	Argv []string
	// Env is the whole environment as KEY=VALUE; nil is an empty one. The
	// process sees one variable more, TRIAGEBOT_TRIAL, which marks the tree.
	Env []string
	// Timeout is the cap on wall time; 0 is none.
	Timeout time.Duration
	// TimeoutSignal is sent to the group when Timeout is over, so that it can say
	// where it hangs (SIGQUIT makes a Go program print its goroutines); 0 kills at
	// once. A cancelled context always kills at once.
	TimeoutSignal syscall.Signal
	// Grace is the time between TimeoutSignal and the kill; 0 is [DefaultGrace].
	Grace time.Duration
	// OutputCap is how many bytes of output are kept, half from the start and
	// half from the end; 0 is [DefaultOutputCap].
	OutputCap int
	// Sink, when set, gets all output as it comes, from one goroutine. A slow
	// sink slows the process down. After its first error it gets no more.
	Sink io.Writer
	// Stderr, when set, gets standard error, which is then not part of the
	// output. It is for tools whose output is parsed; a test has one stream.
	Stderr io.Writer
}

// Process is one that outlived its leader.
type Process struct {
	PID int
	// Command is its command line, arguments joined by spaces, bounded.
	Command string
}

// Result is how a process tree ended.
type Result struct {
	// Exit is the leader's exit code, -1 when a signal ended it or it could not
	// be awaited.
	Exit int
	// Signal is the name of the signal that ended the leader ("SIGKILL"), empty for none.
	Signal string
	// TimedOut is set when the time cap ended it, Cancelled when the context did.
	TimedOut, Cancelled bool
	Start               time.Time
	// Wall is the time from the start to the leader's end. User and System are
	// the processor time of the leader and of the descendants it waited for.
	Wall, User, System time.Duration
	// MaxRSS is the largest resident set in bytes of the leader or of one of the
	// descendants it waited for; 0 where the system does not tell. Linux carries
	// the parent's set over at exec: it is never below this process's own.
	MaxRSS int64
	// Output is standard output and error in the order they were written. When
	// Truncated, the middle is replaced by a line that says how much is missing.
	Output    []byte
	Truncated bool
	// Survivors are the processes that were still alive a moment after the
	// leader had ended by itself, or that had left the group; all were killed.
	Survivors []Process
	// Warning is what was odd and does not change the outcome, empty for nothing.
	Warning string
}

// Run starts the process and returns when its whole tree is gone. The error is
// for a process that could not be started; how it ended is in the Result.
func Run(ctx context.Context, s Spec) (Result, error) {
	if len(s.Argv) == 0 {
		return Result{}, errors.New("starting process: empty command")
	}
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("starting %q: %w", s.Argv[0], err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("starting %q: %w", s.Argv[0], err)
	}
	defer read.Close()
	t := &tree{mark: rand.Text(), cmd: exec.Command(s.Argv[0], s.Argv[1:]...)}
	t.cmd.Dir = s.Dir
	t.cmd.Env = append(append([]string{}, s.Env...), markName+"="+t.mark)
	t.cmd.Stdout, t.cmd.Stderr = write, write
	if s.Stderr != nil {
		t.cmd.Stderr, t.cmd.WaitDelay = s.Stderr, drainWait
	}
	start := time.Now()
	err = t.start()
	write.Close()
	if err != nil {
		return Result{}, fmt.Errorf("starting %q: %w", s.Argv[0], err)
	}
	out := collect(read, s)
	r := Result{Start: start, Exit: -1}
	r.await(ctx, s, t)
	r.Wall = time.Since(start)
	survivors, left := t.sweep(r.TimedOut || r.Cancelled)
	r.Survivors = survivors
	r.warn(left)
	r.reap(t)
	r.Output, r.Truncated = out.finish(&r)
	return r, nil
}

// await returns when the leader has ended or cannot be made to.
func (r *Result) await(ctx context.Context, s Spec, t *tree) {
	var timeout <-chan time.Time
	if s.Timeout > 0 {
		timer := time.NewTimer(s.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-t.ended:
		return
	case <-ctx.Done():
		r.Cancelled = true
	case <-timeout:
		r.TimedOut = true
		if s.TimeoutSignal != 0 && t.askToEnd(ctx, s) {
			return
		}
	}
	t.kill()
	select {
	case <-t.ended:
	case <-time.After(killWait):
		r.warn(fmt.Sprintf("process %d did not end within %s of SIGKILL", t.cmd.Process.Pid, killWait))
	}
}

// askToEnd sends the timeout signal and reports whether the leader obeyed.
func (t *tree) askToEnd(ctx context.Context, s Spec) bool {
	grace := s.Grace
	if grace <= 0 {
		grace = DefaultGrace
	}
	t.signal(s.TimeoutSignal)
	select {
	case <-t.ended:
		return true
	case <-ctx.Done():
	case <-time.After(grace):
	}
	return false
}

// reap takes the leader's state; it was seen to end unless a warning says otherwise.
func (r *Result) reap(t *tree) {
	select {
	case <-t.ended:
	default:
		go t.wait()
		return
	}
	if err := t.wait(); err != nil {
		r.warn(err.Error())
	}
	st := t.cmd.ProcessState
	if st == nil {
		return
	}
	r.Exit = st.ExitCode()
	r.User, r.System = st.UserTime(), st.SystemTime()
	r.Signal = signalName(st)
	r.MaxRSS = maxRSS(st)
}

func (r *Result) warn(text string) {
	if text == "" {
		return
	}
	if r.Warning != "" {
		text = r.Warning + "; " + text
	}
	r.Warning = text
}

// collector copies the output while the tree runs.
type collector struct {
	read    *os.File
	capture *capture
	done    chan struct{}
	err     error
	sink    io.Writer
	sinkErr error
}

func collect(read *os.File, s Spec) *collector {
	limit := s.OutputCap
	if limit <= 0 {
		limit = DefaultOutputCap
	}
	c := &collector{read: read, capture: newCapture(limit), done: make(chan struct{}), sink: s.Sink}
	go func() {
		defer close(c.done)
		_, c.err = io.Copy(c, read)
	}()
	return c
}

// Write keeps p and passes it on; it never fails, so that the process can
// always write on.
func (c *collector) Write(p []byte) (int, error) {
	c.capture.add(p)
	if c.sink != nil && c.sinkErr == nil {
		_, c.sinkErr = c.sink.Write(p)
	}
	return len(p), nil
}

// finish waits for the end of the output. Somebody outside the tree may hold
// the pipe (a daemon that was handed the descriptor): then it is cut off.
func (c *collector) finish(r *Result) ([]byte, bool) {
	c.read.SetReadDeadline(time.Now().Add(drainWait))
	<-c.done
	if errors.Is(c.err, os.ErrDeadlineExceeded) {
		r.warn(fmt.Sprintf("output was still held open %s after the process tree had ended", drainWait))
	} else if c.err != nil {
		r.warn("reading output: " + c.err.Error())
	}
	if c.sinkErr != nil {
		r.warn("passing output on: " + c.sinkErr.Error())
	}
	return c.capture.bytes()
}

// commandLine makes a NUL-separated argument list readable.
func commandLine(raw string) string {
	const most = 200
	s := strings.ToValidUTF8(strings.TrimSpace(strings.ReplaceAll(raw, "\x00", " ")), "?")
	if len(s) <= most {
		return s
	}
	return string(trimTail([]byte(s[:most]))) + "…"
}
