// Package lag moves time under a test and names what breaks: it has the ladder
// of lag plans, the files that carry a plan to a test process and its decisions
// back, and the search that turns a red under lag into a cause.
//
// The engines (golag and its siblings) inject the delays; this package knows
// none of them, only what they can do ([Capabilities]). It imports triage and
// nothing else of ours. But for [WritePlan] and [ReadLogFile] it is pure: the
// search reads no clock and no random source, so the same answers to its probes
// give the same probes and the same cause, and a report can be replayed.
//
// # Protocol
//
// A test process finds the path of its plan in the environment variable
// [EnvPlan] and that of its log in [EnvLog]. The plan is one JSON object, a
// [triage.LagPlan]. The log is one JSON object a line, written as it happens
// and never rewritten:
//
//	{"site":"d.go:(*D).run:return:1","kind":"return","role":"worker","hit":1,"ms":10}
//	{"site":"d.go:(*D).run:return:1","kind":"return","role":"worker","hit":2,"ms":0,"yield":true}
//	{"stretched":"d_test.go:TestD:timeout:1"}
//	{"seen":"d.go:(*D).stop:call:1"}
//
// The first two are decisions: a delay that was taken, or a processor that was
// given up. Hits count the passes of one role through one site, from 1.
// "stretched" names a clock that a stretch changed, "seen" a site that was
// passed and not delayed; both are written once a site. An engine need not
// write "seen". Every line counts for what it is; a last line cut short by a
// kill is dropped.
package lag
