package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// Limits on what a run can make us read. One report is bounded by [gh.Limits].
const (
	maxArtifacts = 64
	maxTotal     = 64 << 20
)

// read reads the reports of a run's artifacts. What is refused is a part with a
// problem; the error is for the API, which is not the artifacts' fault.
func read(ctx context.Context, g GitHub, run gh.Run, repo gh.Repo, o Options) (parts []report.Part, refused []error, err error) {
	all, err := g.Artifacts(ctx, run.ID)
	if err != nil {
		return nil, nil, err
	}
	prefix := o.Artifact
	if prefix == "" {
		prefix = DefaultArtifact
	}
	ours := slices.DeleteFunc(slices.Clone(all), func(a gh.Artifact) bool {
		return !strings.HasPrefix(a.Name, prefix) || run.Conclusion == passed && ofEarlierAttempt(run, a)
	})
	slices.SortFunc(ours, func(a, b gh.Artifact) int { return strings.Compare(a.Name, b.Name) })
	if len(ours) > maxArtifacts {
		return nil, nil, fmt.Errorf("reading artifacts of run %d: %d of them begin with %q, more than %d: choose a longer artifact-name", run.ID, len(ours), prefix, maxArtifacts)
	}
	total := 0
	for _, a := range ours {
		if ofEarlierAttempt(run, a) {
			parts = append(parts, report.Part{Name: leg(a.Name, prefix), Problem: earlier})
			continue
		}
		r, size, err := readOne(ctx, g, run, repo, a, maxTotal-total)
		total += size
		p := report.Part{Name: leg(a.Name, prefix), Report: r}
		if err != nil {
			if outage(err) {
				return nil, nil, err
			}
			refused = append(refused, fmt.Errorf("artifact %q: %w", a.Name, err))
			p = report.Part{Name: p.Name, Problem: problem(err)}
		}
		parts = append(parts, p)
	}
	return parts, refused, nil
}

// passed is the conclusion of a run whose jobs are all green.
const passed = "success"

// earlier is said of a report that only an earlier attempt left. Its job may be
// green now, or it was not run again and is as red as it was.
const earlier = "an earlier attempt of the run left it, and this one none"

// ofEarlierAttempt reports whether an artifact was left before this attempt of
// the run began: what was red then may be green now.
func ofEarlierAttempt(run gh.Run, a gh.Artifact) bool {
	return run.Attempt > 1 && !run.Started.IsZero() && !a.Created.IsZero() && a.Created.Before(run.Started)
}

// leg is what tells the artifacts apart.
func leg(name, prefix string) string {
	if s := strings.Trim(strings.TrimPrefix(name, prefix), "-_. "); s != "" {
		return s
	}
	return name
}

// outage reports whether an error says something of GitHub or of our token, and
// nothing of the artifact.
func outage(err error) bool {
	var limited *gh.RateLimited
	return errors.Is(err, gh.ErrUnavailable) || errors.Is(err, gh.ErrUnauthorized) || errors.Is(err, gh.ErrForbidden) ||
		errors.As(err, &limited) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// Faults of an artifact, beside those of [gh.ErrArtifact].
var (
	errElsewhere = errors.New("it is not of this run, commit and repository")
	errMissing   = errors.New("it holds no " + file)
	errMore      = errors.New("the reports are too large together")
	errSweep     = errors.New("it is of a sweep, and not of a pull request's check")
)

// problem is an error in words of ours: the error itself quotes the stranger.
func problem(err error) string {
	for _, known := range []error{errElsewhere, errMissing, errMore, errSweep} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	switch {
	case errors.Is(err, report.ErrNewer):
		return "it was written by a newer version of triagebot"
	case errors.Is(err, report.ErrTooLarge):
		return "it is too large"
	case errors.Is(err, gh.ErrGone), errors.Is(err, gh.ErrNotFound):
		return "it has expired"
	case errors.Is(err, gh.ErrArtifact):
		return "the artifact is not one that triagebot wrote"
	}
	return "it is not a valid report"
}

// readOne reads and checks one artifact. size is what was unpacked.
func readOne(ctx context.Context, g GitHub, run gh.Run, repo gh.Repo, a gh.Artifact, room int) (r triage.Report, size int, err error) {
	if err := a.Of(run); err != nil {
		return r, 0, fmt.Errorf("%w: %w", err, errElsewhere)
	}
	if a.Expired {
		return r, 0, gh.ErrGone
	}
	files, err := g.ReadArtifact(ctx, a, []string{file}, gh.Limits{})
	if err != nil {
		return r, 0, err
	}
	data, ok := files[file]
	switch {
	case !ok:
		return r, 0, errMissing
	case len(data) > room:
		return r, len(data), errMore
	}
	r, err = report.Decode(bytes.NewReader(data))
	if err != nil {
		return triage.Report{}, len(data), err
	}
	if r.Sweep != nil { // its page speaks of leads and races of main, also about a regression
		return triage.Report{}, len(data), errSweep
	}
	if strings.Contains(r.Check.Repo, "/") && !strings.EqualFold(r.Check.Repo, repo.FullName()) && !strings.EqualFold(r.Check.Repo, run.HeadRepo) {
		return triage.Report{}, len(data), fmt.Errorf("the report is about %q: %w", r.Check.Repo, errElsewhere)
	}
	return r, len(data), nil
}

// bound refuses reports about a commit that is not the run's. CI measures the
// commit that GitHub made to merge the pull request; such a one contains the
// run's head, which the API can tell.
func bound(ctx context.Context, g GitHub, run gh.Run, pull gh.Pull, parts []report.Part) ([]report.Part, []error, error) {
	known := map[string]error{run.HeadSHA: nil}
	if pull.MergeSHA != "" && pull.Head.SHA == run.HeadSHA {
		known[pull.MergeSHA] = nil
	}
	var refused []error
	out := slices.Clone(parts)
	for i, p := range out {
		if p.Problem != "" {
			continue
		}
		sha := p.Report.Check.Head.SHA
		if _, ok := known[sha]; !ok {
			known[sha] = contains(ctx, g, sha, run.HeadSHA)
		}
		if outage(known[sha]) {
			return nil, nil, known[sha]
		}
		if err := known[sha]; err != nil {
			refused = append(refused, fmt.Errorf("report %q: %w", p.Name, err))
			out[i] = report.Part{Name: p.Name, Problem: problem(err)}
		}
	}
	return out, refused, nil
}

// contains wants head to be an ancestor of sha.
func contains(ctx context.Context, g GitHub, sha, head string) error {
	if !isSHA(sha) {
		return fmt.Errorf("it names the commit %q: %w", sha, errElsewhere)
	}
	base, err := g.MergeBase(ctx, head, sha)
	if err != nil {
		return fmt.Errorf("asking whether %s contains %s: %w: %w", sha, head, err, errElsewhere)
	}
	if base != head {
		return fmt.Errorf("commit %s does not contain %s: %w", sha, head, errElsewhere)
	}
	return nil
}

func isSHA(s string) bool {
	return len(s) >= 40 && len(s) <= 64 && strings.Trim(s, "0123456789abcdef") == ""
}
