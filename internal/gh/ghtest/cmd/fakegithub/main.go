// Command fakegithub serves the fake GitHub of package ghtest to other
// processes.
//
//	fakegithub -listen 127.0.0.1:0 -state state.json
//
// It prints JSON lines: {"listening": …} with the two addresses, a {"request": …}
// for each request, and at the end, on SIGTERM, {"state": …}. GET /_state shows
// the state at any time; [ghtest.Server.Handler] has the rest. It exits 1 when a
// request broke the contract, 2 when it cannot start.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/triagebot/triagebot/internal/gh/ghtest"
)

// Exit codes.
const (
	exitFine   = 0
	exitBreach = 1 // a request was no sound request of GitHub's API
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	code, err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakegithub:", err)
	}
	stop()
	os.Exit(code) //nolint:gocritic // stopped above
}

// settings are the flags.
type settings struct {
	state, listen, blobListen string
	url, blobURL              string
	event                     string
	print                     bool
}

func parse(args []string) (settings, error) {
	var o settings
	f := flag.NewFlagSet("fakegithub", flag.ContinueOnError)
	f.StringVar(&o.state, "state", "", "JSON `file` with the state; without it a small repository, acme/widgets")
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` of the API")
	f.StringVar(&o.blobListen, "blob-listen", "127.0.0.1:0", "`address` of the downloads")
	f.StringVar(&o.url, "url", "", "`URL` at which clients reach the API; by default its address")
	f.StringVar(&o.blobURL, "blob-url", "", "`URL` at which clients reach the downloads; by default their address")
	f.BoolVar(&o.print, "print-state", false, "print the state and exit")
	f.StringVar(&o.event, "event", "", "print the payload of the event `name` and exit; \"list\" lists the names")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	o, err := parse(args)
	if err != nil {
		return exitUsage, err
	}
	st := ghtest.Default()
	if o.state != "" {
		if st, err = load(o.state); err != nil {
			return exitUsage, err
		}
	}
	switch {
	case o.print:
		e := json.NewEncoder(out)
		e.SetIndent("", " ")
		return exitFine, e.Encode(st)
	case o.event != "":
		return event(st, o.event, out)
	}
	return serve(ctx, o, st, out)
}

func load(name string) (ghtest.State, error) {
	f, err := os.Open(name)
	if err != nil {
		return ghtest.State{}, fmt.Errorf("opening the state: %w", err)
	}
	defer f.Close()
	return ghtest.ReadState(f)
}

// event prints a payload. The package panics when the state lacks what the event
// is about, since in a test that is a mistake of the test; here it is an error.
func event(st ghtest.State, name string, out io.Writer) (code int, err error) {
	defer func() {
		if p := recover(); p != nil {
			code, err = exitUsage, fmt.Errorf("making the payload: %v", p)
		}
	}()
	if name == "list" {
		for _, n := range ghtest.EventNames() {
			fmt.Fprintln(out, n)
		}
		return exitFine, nil
	}
	_, err = out.Write(append(st.Event(name), '\n'))
	return exitFine, err
}

// log writes JSON lines from many goroutines.
type log struct {
	mu      sync.Mutex
	out     *json.Encoder
	breach  bool
	trouble error
}

func (l *log) line(key string, v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.out.Encode(map[string]any{key: v}); err != nil && l.trouble == nil {
		l.trouble = fmt.Errorf("printing the journal: %w", err)
	}
}

func (l *log) request(r ghtest.Request) {
	if r.Problem != "" {
		l.mu.Lock()
		l.breach = true
		l.mu.Unlock()
	}
	l.line("request", r)
}

func serve(ctx context.Context, o settings, st ghtest.State, out io.Writer) (int, error) {
	api, err := net.Listen("tcp", o.listen)
	if err != nil {
		return exitUsage, fmt.Errorf("listening for the API: %w", err)
	}
	defer api.Close()
	blobs, err := net.Listen("tcp", o.blobListen)
	if err != nil {
		return exitUsage, fmt.Errorf("listening for the downloads: %w", err)
	}
	defer blobs.Close()
	if o.url == "" {
		o.url = "http://" + api.Addr().String()
	}
	if o.blobURL == "" {
		o.blobURL = "http://" + blobs.Addr().String()
	}
	l := &log{out: json.NewEncoder(out)}
	s, err := ghtest.Standalone(st, o.url, o.blobURL, l.request)
	if err != nil {
		return exitUsage, err
	}
	l.line("listening", map[string]string{"url": o.url, "blob_url": o.blobURL})
	servers := []*http.Server{{Handler: s.Handler()}, {Handler: s.Blobs()}}
	ended := make(chan error, len(servers))
	go func() { ended <- servers[0].Serve(api) }()
	go func() { ended <- servers[1].Serve(blobs) }()
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	for _, srv := range servers {
		err = errors.Join(err, srv.Close())
	}
	l.line("state", s.State())
	l.mu.Lock()
	defer l.mu.Unlock()
	if err = errors.Join(err, l.trouble); err != nil {
		return exitUsage, err
	}
	if l.breach {
		return exitBreach, errors.New("a request broke GitHub's contract: see the problem in the journal")
	}
	return exitFine, nil
}
