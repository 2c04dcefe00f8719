package beside

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// leastShare of the cores is what others have to use to be told of. On an idle
	// machine they use a hundredth; one busy process on four cores uses a quarter.
	leastShare = 0.2
	// leastWindow is the time below which the kernel's ticks, 10 ms each, count too
	// coarsely.
	leastWindow = 500 * time.Millisecond
	// leastLook is the time between two looks for the names of test tools, for
	// which all processes are read.
	leastLook = 5 * time.Second
)

// sample is what was used of the cores that we may run on, until a moment.
type sample struct {
	at time.Time
	// busy is the processor time of everybody, own that of this process and of
	// its children that have ended.
	busy, own time.Duration
	cores     int
}

// Watch compares what this process and its children use with what the machine
// does. A child that still runs counts as another's, so it is to be asked when
// none does. Its methods may be called at once.
type Watch struct {
	read  func() (sample, bool)
	tools func() []string

	mu     sync.Mutex
	last   sample
	looked time.Time
	looks  int
	loud   int
	most   float64
	cores  int
	names  []string
}

// New begins to watch. Where the machine does not tell, it never has anything to say.
func New() *Watch { return newWatch(readSample, newFinder().busy) }

func newWatch(read func() (sample, bool), tools func() []string) *Watch {
	w := &Watch{read: read, tools: tools}
	w.last, _ = read()
	return w
}

// Note tells what others used since it was asked before, when that is a fifth of
// the cores or more; empty when it is less, or when too little time has passed to
// tell: then the next answer covers it.
func (w *Watch) Note() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, ok := w.read()
	wall := now.at.Sub(w.last.at)
	if !ok || w.last.at.IsZero() || wall < leastWindow || now.cores < 1 {
		return ""
	}
	others := float64(now.busy-w.last.busy-(now.own-w.last.own)) / float64(wall)
	w.last = now
	w.looks++
	if others < leastShare*float64(now.cores) {
		return ""
	}
	others = min(others, float64(now.cores))
	w.loud++
	if others > w.most {
		w.most, w.cores = others, now.cores
	}
	var names []string
	if w.looked.IsZero() || now.at.Sub(w.looked) >= leastLook {
		w.looked = now.at
		names = w.tools()
		w.names = append(w.names, names...)
		slices.Sort(w.names)
		w.names = slices.Compact(w.names)
	}
	return "other processes used " + load(others, now.cores) + " meanwhile" + among(names)
}

// Warning sums up what [Watch.Note] told, empty when it told nothing.
func (w *Watch) Warning() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loud == 0 {
		return ""
	}
	return fmt.Sprintf("other processes on this machine used up to %s in %d of the %d times it was looked%s: what waits for a clock may be red because of them",
		load(w.most, w.cores), w.loud, w.looks, among(w.names))
}

func load(used float64, cores int) string {
	unit := "cores"
	if cores == 1 {
		unit = "core"
	}
	return fmt.Sprintf("%.1f of %d %s", used, cores, unit)
}

func among(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (among them " + strings.Join(names, ", ") + ")"
}
