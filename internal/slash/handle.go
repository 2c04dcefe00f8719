package slash

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/triagebot/triagebot/internal/gh"
)

// GitHub is what a command asks for. [gh.Client] has it.
type GitHub interface {
	Login(ctx context.Context) (string, error)
	CommentByID(ctx context.Context, id int64) (gh.CommentRef, error)
	Comments(ctx context.Context, number int, since time.Time) ([]gh.CommentRef, error)
	Permission(ctx context.Context, user string) (gh.Role, error)
	Pull(ctx context.Context, number int) (gh.Pull, error)
	RunsOf(ctx context.Context, sha, workflow string) ([]gh.Run, error)
	RerunRun(ctx context.Context, runID int64) error
	RerunFailed(ctx context.Context, runID int64) error
	RerunJob(ctx context.Context, jobID int64) error
	Jobs(ctx context.Context, runID int64, attempt int) ([]gh.Job, error)
	React(ctx context.Context, commentID int64, r gh.Reaction) error
	Reply(ctx context.Context, number int, commentID int64, body string) (gh.Result, error)
}

// Options of a command.
type Options struct {
	// Workflow is the file of the workflow that measures.
	Workflow string
	// Job is the job of it that measures, by its name; matrix values may follow
	// it where only one such job is there. Empty runs the whole workflow again.
	Job string
	// Least is the role that a command is taken from; the zero value is taken as
	// [gh.RoleWrite].
	Least gh.Role
	// Cooldown is the time between two accepted commands on one pull request.
	Cooldown time.Duration
	// Now tells the time; nil is the machine's.
	Now func() time.Time
	// DryRun writes nothing.
	DryRun bool
}

// maxAge is how long after its first start a run can be run again.
const maxAge = 30 * 24 * time.Hour

// Outcome is what became of a comment.
type Outcome struct {
	// Accepted is set when a run was started again; Run and SHA are the one and
	// the commit that it is pinned to.
	Accepted bool
	Run      gh.Run
	SHA      string
	Command  Command
	// Said is the reply, or why nothing was done. It is one paragraph of ours and
	// quotes nothing that is not escaped.
	Said string
	// URL is the reply's address, empty when there is none.
	URL string
}

// refusal is an answer for the author: nothing was done.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return refusal{fmt.Sprintf(format, args...)} }

// Handle does what a comment asks for. A comment that is no command, or a bot's,
// is passed over in silence. What is refused is answered in words; an error is
// for what we could not do for want of GitHub or of rights of our own.
func Handle(ctx context.Context, g GitHub, ev gh.Event, o Options) (Outcome, error) {
	if why := passedOver(ev); why != "" {
		return Outcome{Said: why}, nil
	}
	cmd, parseErr := Parse(ev.Comment.Body)
	if errors.Is(parseErr, ErrNone) {
		return Outcome{Said: "the comment is not a command"}, nil
	}
	h := handler{g: g, o: o, number: ev.Pull.Number, comment: *ev.Comment, cmd: cmd}
	if h.o.Least == gh.RoleNone {
		h.o.Least = gh.RoleWrite
	}
	if h.o.Now == nil {
		h.o.Now = time.Now
	}
	login, err := g.Login(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if strings.EqualFold(h.comment.Author, login) {
		return Outcome{Said: "the comment is our own"}, nil
	}
	h.login = login
	return h.do(ctx, parseErr)
}

// passedOver says why an event is none of ours, empty when it is.
func passedOver(ev gh.Event) string {
	switch {
	case ev.Name != "issue_comment" || ev.Comment == nil:
		return "the event is not a comment"
	case ev.Action != "created":
		return "the comment is not new"
	case ev.Pull == nil:
		return "the comment is not on a pull request"
	case ev.SenderBot || ev.Comment.Bot:
		return "the comment is a bot's"
	case !strings.EqualFold(ev.Sender, ev.Comment.Author):
		return "the comment is not its sender's"
	}
	return ""
}

// handler is one command on its way.
type handler struct {
	g       GitHub
	o       Options
	number  int
	comment gh.CommentRef
	cmd     Command
	login   string
}

func (h *handler) do(ctx context.Context, parseErr error) (Outcome, error) {
	out := Outcome{Command: h.cmd}
	err := h.allowed(ctx)
	if err == nil && parseErr != nil {
		err = refuse("I do not understand that: %s.\n\n%s", parseErr, Usage)
	}
	if err == nil {
		err = h.react(ctx, gh.Eyes)
	}
	if err == nil && h.cmd.Action == Help {
		return h.answer(ctx, out, Usage, gh.Rocket)
	}
	if err == nil {
		out, err = h.start(ctx, out)
	}
	if errors.Is(err, errStranger) {
		out.Said = err.Error()
		return out, h.react(ctx, gh.Confused)
	}
	var no refusal
	if errors.As(err, &no) {
		return h.answer(ctx, out, no.text, gh.Confused)
	}
	return out, err
}

// errSilent ends a command that is not worth an answer.
var errSilent = refusal{}

// errStranger ends a command of somebody who may nothing here: a reaction tells
// them, for a reply to each would let anybody have us write as often as they do.
var errStranger = errors.New("the comment's author may not command here")

// allowed asks GitHub, never the text, whether the author may command, and
// whether the comment is still what the event said.
func (h *handler) allowed(ctx context.Context) error {
	role, err := h.g.Permission(ctx, h.comment.Author)
	switch {
	case err != nil:
		return err
	case role < h.o.Least && role <= gh.RoleRead:
		return errStranger
	case role < h.o.Least:
		return refuse("`%s` is taken from people with the role %s or more in this repository; this comment's author has %s.", Name, h.o.Least, role)
	}
	now, err := h.g.CommentByID(ctx, h.comment.ID)
	switch {
	case errors.Is(err, gh.ErrNotFound), errors.Is(err, gh.ErrGone):
		return errSilent
	case err != nil:
		return err
	case now.Body != h.comment.Body || !strings.EqualFold(now.Author, h.comment.Author) || now.Bot:
		return refuse("The comment was edited before it was read: write a new one.")
	}
	return nil
}

// start pins the commit, finds its measuring run, and has that run again.
func (h *handler) start(ctx context.Context, out Outcome) (Outcome, error) {
	if err := h.cool(ctx); err != nil {
		return out, err
	}
	pull, err := h.g.Pull(ctx, h.number)
	if err != nil {
		return out, err
	}
	if pull.State != "open" {
		return out, refuse("This pull request is closed.")
	}
	out.SHA = pull.Head.SHA
	run, err := h.measuringRun(ctx, pull)
	if err != nil {
		return out, err
	}
	out.Run = run
	job, err := h.measuringJob(ctx, run)
	if err != nil {
		return out, err
	}
	if h.o.DryRun {
		out.Said = fmt.Sprintf("dry run: run %d would be started again for %s", run.ID, out.SHA)
		return out, nil
	}
	// First the reply: the run that is started reads in it what it is to do.
	out.Said = h.acceptance(run, out.SHA)
	res, err := h.g.Reply(ctx, h.number, h.comment.ID, out.Said)
	if err != nil {
		return out, err
	}
	out.URL = res.URL
	switch {
	case h.cmd.Action == Rerun:
		err = h.g.RerunFailed(ctx, run.ID)
	case job != 0:
		err = h.g.RerunJob(ctx, job)
	default:
		err = h.g.RerunRun(ctx, run.ID)
	}
	if err != nil {
		return out, h.notStarted(ctx, run, err)
	}
	out.Accepted = true
	return out, h.react(ctx, gh.Rocket)
}

// notStarted takes the acceptance back: the reply is changed by what answers the refusal.
func (h *handler) notStarted(ctx context.Context, run gh.Run, err error) error {
	switch {
	case errors.Is(err, gh.ErrForbidden):
		return refuse("GitHub does not let me start [the run of that commit](%s) again: it is running, it is too old, or the token lacks `actions: write`.", run.URL)
	case errors.Is(err, gh.ErrNotFound), errors.Is(err, gh.ErrGone), errors.Is(err, gh.ErrConflict), errors.Is(err, gh.ErrInvalid):
		return refuse("[The run of that commit](%s) cannot be started again.", run.URL)
	}
	_, rerr := h.g.Reply(ctx, h.number, h.comment.ID, "The run could not be started: GitHub did not answer. Try again later.")
	return errors.Join(err, rerr, h.react(ctx, gh.Confused))
}

// measuringRun is the newest unprivileged run of the workflow for the pinned commit.
func (h *handler) measuringRun(ctx context.Context, pull gh.Pull) (gh.Run, error) {
	runs, err := h.g.RunsOf(ctx, pull.Head.SHA, h.o.Workflow)
	if err != nil && !errors.Is(err, gh.ErrNotFound) {
		return gh.Run{}, err
	}
	workflow, short := path.Base(h.o.Workflow), pull.Head.SHA[:min(12, len(pull.Head.SHA))]
	for _, r := range runs {
		// Only pull_request: other events run with rights that the code of a pull
		// request must not get.
		if r.Event != "pull_request" || r.HeadSHA != pull.Head.SHA || r.HeadRepoID != pull.Head.RepoID || r.RepoID != pull.Base.RepoID || path.Base(r.Path) != workflow {
			continue
		}
		switch {
		case r.Created.After(h.comment.Created):
			return r, refuse("A new commit, %s, came after the comment. If it is the one you mean, write the command again.", short)
		case r.Status != "completed":
			return r, refuse("[The run of %s](%s) has not ended yet. Write the command again when it has.", short, r.URL)
		case r.Conclusion == "action_required":
			return r, refuse("[The run of %s](%s) waits for a person to approve it, which I do not do. Look at the change, approve the run, and write the command again.", short, r.URL)
		case h.o.Now().Sub(r.Created) > maxAge:
			return r, refuse("[The run of %s](%s) is more than 30 days old, and GitHub starts no such run again. Push a commit, or close the pull request and open it again.", short, r.URL)
		}
		return r, nil
	}
	return gh.Run{}, refuse("There is no run of `%s` for %s that I could start again. It has to run on `pull_request`; I do not check code out to make up for it.", workflow, short)
}

// measuringJob is the one job that is run again, 0 for all of the run.
func (h *handler) measuringJob(ctx context.Context, run gh.Run) (int64, error) {
	if h.o.Job == "" || h.cmd.Action != Measure {
		return 0, nil
	}
	jobs, err := h.g.Jobs(ctx, run.ID, 0)
	if err != nil {
		return 0, err
	}
	var found []gh.Job
	for _, j := range jobs {
		if j.Name == h.o.Job || strings.HasPrefix(j.Name, h.o.Job+" (") {
			found = append(found, j)
		}
	}
	if len(found) != 1 {
		return 0, refuse("[The run of that commit](%s) has %d jobs of the name that measures; I need exactly one to start again.", run.URL, len(found))
	}
	return found[0].ID, nil
}

// cool refuses a command that comes too soon after an accepted one.
func (h *handler) cool(ctx context.Context) error {
	if h.o.Cooldown <= 0 {
		return nil
	}
	since := h.o.Now().Add(-h.o.Cooldown)
	all, err := h.g.Comments(ctx, h.number, since)
	if err != nil {
		return err
	}
	for _, c := range all {
		if a, ok := acceptanceIn(c, h.login); ok && a.comment != h.comment.ID && c.Created.After(since) {
			return refuse("The last command on this pull request is less than %v old. Wait for its result.", h.o.Cooldown)
		}
	}
	return nil
}

// answer replies and reacts. An empty text is no reply.
func (h *handler) answer(ctx context.Context, out Outcome, text string, r gh.Reaction) (Outcome, error) {
	out.Said = text
	if text == "" {
		out.Said = "the comment was deleted"
		return out, nil
	}
	if h.o.DryRun {
		return out, nil
	}
	res, err := h.g.Reply(ctx, h.number, h.comment.ID, text)
	out.URL = res.URL
	return out, errors.Join(err, h.react(ctx, r))
}

func (h *handler) react(ctx context.Context, r gh.Reaction) error {
	if h.o.DryRun {
		return nil
	}
	err := h.g.React(ctx, h.comment.ID, r)
	if errors.Is(err, gh.ErrNotFound) {
		return nil // the comment was deleted in the meantime
	}
	return err
}
