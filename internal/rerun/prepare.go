package rerun

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxHeals bounds the rounds of dropping sites that do not compile. Real code
// needs one at most; five leaves room for errors that hide each other.
const maxHeals = 5

// family is what one build serves.
type family struct {
	side     triage.Side
	pkg      string
	lagged   bool
	detector string
	// suite is set for the suite's own command, which is not built by us.
	suite bool
}

// prepared is a family that is ready, or why it is not.
type prepared struct {
	triage.Prepared
	// spoilt says that our own instrumentation broke it: its trials are Invalid.
	spoilt string
	took   time.Duration
}

// prepare builds a family once. A failed build is remembered for named tests and
// done again when again is set: for the command itself, whose trials are its
// builds.
func (r *Runner) prepare(ctx context.Context, f family, again bool) (*prepared, error) {
	if p, ok := r.families[f]; ok && (p.Failure == nil || !again) {
		return p, nil
	}
	if f.suite {
		p := &prepared{Prepared: triage.Prepared{Dir: r.cfg.Trees[f.side]}}
		r.families[f] = p
		return p, nil
	}
	if r.cfg.Building != nil {
		r.cfg.Building(f.side, f.pkg, f.lagged)
	}
	began := time.Now()
	var p *prepared
	var err error
	switch {
	case f.lagged:
		p, err = r.prepareLagged(ctx, f)
	case f.detector != "":
		p, err = r.prepareDetector(ctx, f)
	default:
		p, err = r.build(ctx, f, "")
	}
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", f.side, err)
	}
	p.took = time.Since(began)
	r.stats.Builds++
	r.stats.BuildMS += ms(p.took)
	r.families[f] = p
	return p, nil
}

func (r *Runner) build(ctx context.Context, f family, overlay string) (*prepared, error) {
	r.outs++ // a name is never used twice: a build that is done again must not replace another's binary
	p, err := r.cfg.Adapter.Prepare(ctx, r.exec, triage.BuildSpec{
		Tree:     r.cfg.Trees[f.side],
		Package:  f.pkg,
		Out:      filepath.Join(r.cfg.Dir, "bin", f.side.String()+"-"+strconv.Itoa(r.outs)+".test"),
		Overlay:  overlay,
		Detector: f.detector,
	})
	if err != nil {
		return nil, err
	}
	return &prepared{Prepared: p}, nil
}

// prepareLagged instruments and builds, and drops the sites that break the
// build. When the copy cannot be made to build, the ordinary build tells whose
// fault it is.
func (r *Runner) prepareLagged(ctx context.Context, f family) (*prepared, error) {
	plain := f
	plain.lagged = false
	ordinary, err := r.prepare(ctx, plain, false)
	if err != nil || ordinary.Failure != nil {
		return ordinary, err
	}
	if r.cfg.Engine == nil {
		return &prepared{spoilt: "lag is not available here"}, nil
	}
	dir := filepath.Join(r.cfg.Dir, "lag", f.side.String()+"-"+strconv.Itoa(len(r.families)))
	ins, err := r.cfg.Engine.Instrument(ctx, r.exec, r.cfg.Trees[f.side], f.pkg, ordinary.Dir, dir)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &prepared{spoilt: "instrumenting: " + err.Error()}, nil
	}
	r.learn(ins)
	for range maxHeals {
		p, err := r.build(ctx, f, ins.Overlay())
		if err != nil || p.Failure == nil {
			return p, err
		}
		dropped, err := ins.Heal(p.Output)
		if err != nil || dropped == 0 {
			return &prepared{spoilt: "only the instrumented copy does not compile: " + p.Failure.Message}, nil
		}
	}
	return &prepared{spoilt: "only the instrumented copy does not compile"}, nil
}

// prepareDetector builds under a detector. One that is not to be had here, for
// want of cgo or a C compiler, says nothing about the package.
func (r *Runner) prepareDetector(ctx context.Context, f family) (*prepared, error) {
	plain := f
	plain.detector = ""
	ordinary, err := r.prepare(ctx, plain, false)
	if err != nil || ordinary.Failure != nil {
		return ordinary, err
	}
	p, err := r.build(ctx, f, "")
	if err == nil && p.Failure != nil {
		return &prepared{spoilt: "the " + f.detector + " detector is not to be had here: " + p.Failure.Message}, nil
	}
	return p, err
}

// learn remembers the sites and the files that were left out.
func (r *Runner) learn(ins Instrumentation) {
	r.learns = r.learns || len(ins.Sites()) == 0
	for _, s := range ins.Sites() {
		if _, ok := r.sites[s.ID]; !ok {
			r.sites[s.ID] = s
		}
	}
	for _, s := range ins.Skipped() {
		if !slices.Contains(r.skipped, s) {
			r.skipped = append(r.skipped, s)
		}
	}
}
