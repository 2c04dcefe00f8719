// Package proc runs one process tree to its end and leaves nothing of it behind.
//
// Each [Run] is a process group of its own with an explicit environment, a time
// cap and a bounded copy of its output. When the leader has ended, by itself or
// by our hand, what is left of the tree is listed, killed and awaited before Run
// returns, so that no trial loads the next one.
//
// On Linux descendants that left the group (setsid, double fork) are found too:
// the process becomes a child subreaper, so orphans come to it, and every tree
// carries a random mark in its environment. Orphans are reaped as they die, as
// an init would: a test that polls for the end of its own daemon must not see a
// zombie. The reaper leaves alone every child that is in this process's own
// group, which is where os/exec puts it; a program that uses this package must
// therefore start children in other groups or sessions through Run only, or
// within [Aside].
//
// On other Unix systems only the group is swept. On Windows only the leader is
// killed: there are no process groups, and job objects are not used.
package proc
