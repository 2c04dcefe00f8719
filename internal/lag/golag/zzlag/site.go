package zzlag

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// File is what one rewritten source file tells of itself. It is laid down as a
// composite literal of constants, so that it costs nothing at start-up and has
// no place in the program's order of initialisation.
type File struct {
	// Name is the file below the repository's root.
	Name string
	// Sites has a line a site: kind, "t" in test code or "p", function,
	// ordinal, separated by tabs.
	Sites string

	once  sync.Once
	sites []site
}

// site is one place where time can be moved, as the plan left it.
type site struct {
	id   string
	kind string
	hash uint64
	// decisions are those of the plan that name this site; a replay has nothing else.
	decisions []decision
	// last is the highest hit that a decision waits for, 0 when one waits for all.
	last int32
	// done is set when nothing will ever be delayed here (again).
	done int32
	// passes counts by role: any, worker, test. taken counts the delays.
	passes [3]int32
	taken  int32
	misses int32
	// stretch is set when the plan stretches this clock; told once it was logged.
	stretch bool
	told    int32
}

// action is what to do at a site.
type action struct {
	d   decision
	yes bool
}

// missLimit is how often a site may be passed by goroutines of the wrong role
// before only one pass in missStride is looked at: the look is a walk up the
// stack, which a hot loop must not pay for ever.
const (
	missLimit  = 2048
	missStride = 64
)

// P is a lag point.
func P(f *File, n int) {
	if active {
		f.pass(n)
	}
}

//go:norace
func (f *File) pass(n int) {
	hide()
	a := f.at(n).decide()
	if a.yes {
		a.d.carryOut()
	}
	show()
}

//go:norace
func (f *File) at(n int) *site {
	f.once.Do(f.resolve)
	return &f.sites[n]
}

//go:norace
func (f *File) resolve() {
	lines := strings.Split(strings.TrimSuffix(f.Sites, "\n"), "\n")
	sites := make([]site, len(lines))
	for i, l := range lines {
		p := strings.Split(l, "\t")
		if len(p) != 4 {
			sites[i].done = 1
			continue
		}
		s := &sites[i]
		s.kind = p[0]
		s.id = f.Name + ":" + p[2] + ":" + p[0] + ":" + p[3]
		s.hash = hash(s.id)
		s.choose(p[1] == "t")
	}
	f.sites = sites
}

// choose applies the plan to the site.
//
//go:norace
func (s *site) choose(test bool) {
	s.stretch = len(current.clockSites) == 0 || current.clockSites[s.id]
	s.decisions = current.decisions[s.id]
	for _, d := range s.decisions {
		if d.hit == 0 {
			s.last = current.hits
			break
		}
		if d.hit > s.last {
			s.last = d.hit
		}
	}
	if !current.picks(s, test) {
		s.done = 1
	}
}

//go:norace
func (s *site) decide() action {
	if atomic.LoadInt32(&s.done) != 0 {
		return action{}
	}
	if current.decisions != nil {
		return s.replay()
	}
	if atomic.LoadInt32(&s.misses) > missLimit && atomic.AddInt32(&s.misses, 1)%missStride != 0 {
		return action{}
	}
	r := roleHere()
	if current.role != anyRole && current.role != r {
		atomic.AddInt32(&s.misses, 1)
		return action{}
	}
	hit := atomic.AddInt32(&s.passes[r], 1)
	if atomic.AddInt32(&s.taken, 1) > current.hits {
		atomic.StoreInt32(&s.done, 1)
		return action{}
	}
	d := decision{site: s.id, kind: s.kind, role: r, hit: hit, yield: current.yield}
	if !d.yield {
		d.ms = current.dose(s.hash, hit)
	}
	return action{d: d, yes: d.yield || d.ms > 0}
}

// replay finds the plan's decision for this pass. A hit counts the passes of
// the decision's own role.
//
//go:norace
func (s *site) replay() action {
	r := roleHere()
	all := atomic.AddInt32(&s.passes[anyRole], 1)
	own := atomic.AddInt32(&s.passes[r], 1)
	for _, d := range s.decisions {
		hit := own
		if d.role == anyRole {
			hit = all
		} else if d.role != r {
			continue
		}
		if d.hit != 0 && d.hit != hit {
			continue
		}
		if d.hit == 0 && atomic.AddInt32(&s.taken, 1) > current.hits {
			continue
		}
		d.kind, d.role, d.hit = s.kind, r, own
		return action{d: d, yes: true}
	}
	if s.exhausted() {
		atomic.StoreInt32(&s.done, 1)
	}
	return action{}
}

// exhausted reports whether no decision can still come: every role has been
// past the last hit that is waited for.
//
//go:norace
func (s *site) exhausted() bool {
	if s.last == 0 {
		return true
	}
	for _, d := range s.decisions {
		if d.hit == 0 {
			if atomic.LoadInt32(&s.taken) <= current.hits {
				return false
			}
			continue
		}
		if atomic.LoadInt32(&s.passes[d.role]) < d.hit {
			return false
		}
	}
	return true
}

// roots are the functions at the foot of a goroutine that belongs to the test.
const assertPackage = "github.com/stretchr/testify/assert."

// roleHere walks up the stack to the function that the goroutine was started
// with: the test's own thread has the test runner there.
//
//go:norace
func roleHere() int {
	var pcs [64]uintptr
	last := ""
	for skip, round := 4, 0; round < 32; round++ {
		n := runtime.Callers(skip, pcs[:])
		for i := n - 1; i >= 0; i-- {
			f := runtime.FuncForPC(pcs[i] - 1)
			if f != nil && f.Name() != "runtime.goexit" {
				last = f.Name()
				break
			}
		}
		if n < len(pcs) {
			break
		}
		skip += n - 1
	}
	switch {
	case last == "testing.tRunner", last == "runtime.main", last == "main.main",
		strings.HasPrefix(last, "testing.(*B)"), strings.HasPrefix(last, "testing.(*F)"),
		strings.HasPrefix(last, assertPackage): // Eventually asks its condition on a goroutine
		return testRole
	}
	return workerRole
}
