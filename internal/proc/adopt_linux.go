package proc

import (
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// adopt is this process in its role as the parent of orphans.
var adopt = &orphanage{leaders: map[int]bool{}, inherited: map[identity]bool{}}

type orphanage struct {
	once sync.Once
	// mu is held while a leader is started and registered, while one is reaped,
	// and while children are judged: nobody then sees a leader unregistered.
	mu      sync.Mutex
	leaders map[int]bool
	// inherited are the children from before the first Run: whoever ran in this
	// process before exec started them.
	inherited            map[identity]bool
	self, group, session int
	// aside counts the calls of Aside in progress: the reaper waits for their end.
	aside int
}

// begin makes this process a child subreaper and starts the reaper. Without it
// (kernel before 3.4) orphans go to init and only the group is swept.
func (o *orphanage) begin() {
	o.self, o.group = os.Getpid(), unix.Getpgrp()
	o.session, _ = unix.Getsid(0)
	for _, c := range o.children() {
		o.inherited[c.id()] = true
	}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	go func() {
		for range ended {
			o.reap()
		}
	}()
}

// reap takes the orphans that have ended. Children in our own group belong to
// os/exec and are never touched, nor are the leaders.
func (o *orphanage) reap() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.aside > 0 {
		return
	}
	for _, c := range o.children() {
		if c.alive() || o.leaders[c.pid] || c.pgrp == o.group || o.inherited[c.id()] {
			continue
		}
		_, _ = unix.Wait4(c.pid, nil, unix.WNOHANG, nil)
	}
}

// Aside runs f, which starts children in groups of their own by other means than
// [Run], as golang.org/x/tools/go/packages does with the go command. It awaits
// them all; meanwhile no orphan is reaped, so that none of them is taken for one.
// No Run may be in progress, save those of f.
func Aside(f func()) {
	adopt.mu.Lock()
	adopt.aside++
	adopt.mu.Unlock()
	defer func() {
		adopt.mu.Lock()
		adopt.aside--
		adopt.mu.Unlock()
		adopt.once.Do(adopt.begin)
		adopt.reap()
	}()
	f()
}

// kill ends one orphan. Only a child of ours is touched, and only while the
// reaper is held off: its id cannot be somebody else's then. The rest of a tree
// comes to us as its parents die.
func (o *orphanage) kill(s stat) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now, ok := readStat(s.pid); ok && now.ppid == o.self && now.id() == s.id() {
		_ = unix.Kill(s.pid, unix.SIGKILL)
	}
}

// children lists the children of this process, the dead that were not awaited included.
func (o *orphanage) children() []stat {
	var found []stat
	for _, pid := range childIDs(o.self) {
		if s, ok := readStat(pid); ok && s.ppid == o.self {
			found = append(found, s)
		}
	}
	return found
}
