package publish

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// GitHub is what publishing asks for. [gh.Client] has it.
type GitHub interface {
	Run(ctx context.Context, id int64) (gh.Run, error)
	Repo(ctx context.Context) (gh.Repo, error)
	Artifacts(ctx context.Context, runID int64) ([]gh.Artifact, error)
	ReadArtifact(ctx context.Context, a gh.Artifact, names []string, limits gh.Limits) (map[string][]byte, error)
	FindPull(ctx context.Context, run gh.Run) (gh.Pull, error)
	Pull(ctx context.Context, number int) (gh.Pull, error)
	MergeBase(ctx context.Context, base, head string) (string, error)
	Login(ctx context.Context) (string, error)
	Comments(ctx context.Context, number int, since time.Time) ([]gh.CommentRef, error)
	Upsert(ctx context.Context, number int, w gh.Comment) (gh.Result, error)
}

// Options of publishing.
type Options struct {
	// Check names the check: comments of different checks live side by side.
	Check string
	// Artifact is what the names of the artifacts begin with.
	Artifact string
	// Workflow is the file of the only workflow whose runs are published, as
	// "triage.yml"; empty takes any.
	Workflow string
	// DryRun writes nothing.
	DryRun bool
	// ReportPath is where the reader finds report.json.
	ReportPath string
	// Source is the run that a page of [ToPull] comes from; the zero value is
	// none. [FromRun] knows it from GitHub.
	Source Source
}

// Source is the attempt of a run that a page comes from.
type Source struct {
	Run     int64
	Attempt int
	// Workflow is its file, "ci.yml" or with folders before it.
	Workflow string
}

// DefaultArtifact begins the names of artifacts with reports.
const DefaultArtifact = "triagebot-report"

// Outcome is what publishing came to.
type Outcome struct {
	// Page is the comment as it is, or would be; empty when there is nothing to say.
	Page string
	// Said is why no comment was written, or what else people should know.
	Said string
	// Comment is what happened to the comment; its Action is empty when none was tried.
	Comment gh.Result
	// Reports are those that are in the page.
	Reports []triage.Report
	// Refused are the artifacts that were not read, each with the reason.
	Refused []error
}

// file is the one name that is read from an artifact.
const file = "report.json"

// errRun: the run is not one whose reports may be published here.
var errRun = errors.New("refusing run")

// FromRun publishes the reports that a run left. The error is for what keeps
// the whole from being done; an artifact that is refused stands in the outcome,
// and in the page.
func FromRun(ctx context.Context, g GitHub, runID int64, o Options) (Outcome, error) {
	run, err := g.Run(ctx, runID)
	if err != nil {
		return Outcome{}, err
	}
	repo, err := g.Repo(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if run.RepoID != repo.ID || run.ID != runID {
		return Outcome{}, fmt.Errorf("%w %d: it belongs to another repository", errRun, runID)
	}
	if o.Workflow != "" && path.Base(run.Path) != path.Base(o.Workflow) {
		return Outcome{Said: fmt.Sprintf("the run is not one of the workflow %s", path.Base(o.Workflow))}, nil
	}
	if run.Status != "completed" {
		return Outcome{}, fmt.Errorf("%w %d: it has not ended yet: publish from an event of workflow_run with types: [completed]", errRun, runID)
	}
	return fromEnded(ctx, g, run, repo, o)
}

func fromEnded(ctx context.Context, g GitHub, run gh.Run, repo gh.Repo, o Options) (Outcome, error) {
	parts, refused, err := read(ctx, g, run, repo, o)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Refused: refused}
	pull, stale, err := findPull(ctx, g, run)
	switch {
	case errors.Is(err, gh.ErrNoPull):
		out.Said = "no open pull request has the commit that was measured as its head"
	case errors.Is(err, gh.ErrManyPulls):
		out.Said = "more than one open pull request has the commit that was measured as its head, so none is written to"
	case err != nil:
		return out, err
	}
	if err != nil {
		pull = gh.Pull{}
	}
	parts, refused, err = bound(ctx, g, run, pull, parts)
	if err != nil {
		return out, err
	}
	out.Refused = append(out.Refused, refused...)
	out.Reports = reports(parts)
	if pull.Number == 0 {
		out.Page = page(parts, o, run.HeadRepoID != run.RepoID)
		return out, nil
	}
	if len(out.Reports) == 0 && len(parts) > 0 {
		out.Said = "no report could be read, so nothing is written"
		return out, nil
	}
	o.Source = Source{Run: run.ID, Attempt: run.Attempt, Workflow: run.Path}
	return write(ctx, g, target{pull: pull, sha: run.HeadSHA, stale: stale, passed: run.Conclusion == "success", whole: true}, parts, out, o)
}

// findPull finds the pull request of a run. One whose head has moved on since is
// found only where GitHub itself names it, which it does for no fork; it is stale.
func findPull(ctx context.Context, g GitHub, run gh.Run) (gh.Pull, bool, error) {
	pull, err := g.FindPull(ctx, run)
	if !errors.Is(err, gh.ErrNoPull) || len(run.Pulls) != 1 {
		return pull, false, err
	}
	pull, perr := g.Pull(ctx, run.Pulls[0])
	if perr != nil || pull.State != "open" || pull.Base.RepoID != run.RepoID || pull.Head.RepoID != run.HeadRepoID || pull.Head.RepoID == 0 {
		return gh.Pull{}, false, err
	}
	return pull, pull.Stale(run.HeadSHA), nil
}

func reports(parts []report.Part) []triage.Report {
	var out []triage.Report
	for _, p := range parts {
		if p.Problem == "" {
			out = append(out, p.Report)
		}
	}
	return out
}

// red reports whether there is anything to say.
func red(parts []report.Part) bool {
	for _, p := range parts {
		if p.Problem != "" || len(p.Report.Verdicts) > 0 || len(p.Report.Failures) > 0 {
			return true
		}
	}
	return false
}

// page renders the parts, and nothing when there are none.
func page(parts []report.Part, o Options, fork bool) string {
	if len(reports(parts)) == 0 {
		return ""
	}
	limit := report.CommentLimit - reserve
	return report.Several(parts, report.Options{Limit: limit, ReportPath: o.ReportPath, Forgeable: fork})
}

// reserve is the room for the hidden lines and the notes around a page.
const reserve = 1024

// Key is the marker of the comment of a check.
func Key(check string) string {
	keep := func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._:/", r):
			return r
		}
		return '_'
	}
	if check == "" {
		return "check"
	}
	return "check/" + strings.Map(keep, check)
}
