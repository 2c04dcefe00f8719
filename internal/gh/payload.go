package gh

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// MaxEventBytes is the largest payload that is read; GitHub caps them at 25 MB,
// real ones are below 1 MB.
const MaxEventBytes = 25 << 20

// ParseEvent reads the payload (GITHUB_EVENT_PATH) of the event name
// (GITHUB_EVENT_NAME). Fields that are not asked for are passed over. What
// cannot be true, as an id below 1 or a SHA that is none, is an [ErrEvent];
// so are a payload that is too large and an event of another name.
func ParseEvent(name string, payload []byte) (Event, error) {
	e, err := parseEvent(name, payload)
	if err != nil {
		return Event{}, fmt.Errorf("reading the event %q: %s: %w", oneLine(name), oneLine(err.Error()), ErrEvent)
	}
	return e, nil
}

func parseEvent(name string, data []byte) (Event, error) {
	read, known := readers[name]
	if !known {
		return Event{}, errors.New("triagebot knows pull_request, pull_request_target, merge_group, push, workflow_run, check_run, issue_comment, schedule and workflow_dispatch")
	}
	if len(data) > MaxEventBytes {
		return Event{}, fmt.Errorf("more than %d bytes", MaxEventBytes)
	}
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		return Event{}, err
	}
	e := Event{Name: name, Action: p.Action, Sender: p.Sender.Login, SenderBot: p.Sender.Login != "" && p.Sender.bot(), Ref: p.Ref, Schedule: p.Schedule}
	var c checker
	if p.Repository != nil {
		e.Repo = p.Repository.repo(&c)
	} else if name != "schedule" && name != "workflow_dispatch" {
		return Event{}, errors.New("it has no repository")
	}
	c.text("action", p.Action)
	c.login("sender", p.Sender.Login)
	read(&p, &e, &c)
	return e, c.err
}

// readers fill in what an event has beyond its repository and sender.
var readers = map[string]func(*payload, *Event, *checker){
	"pull_request":        readPull,
	"pull_request_target": readPull,
	"merge_group":         readGroup,
	"push":                readPush,
	"workflow_run":        readRun,
	"check_run":           readCheck,
	"issue_comment":       readComment,
	"schedule":            func(p *payload, _ *Event, c *checker) { c.text("schedule", p.Schedule) },
	"workflow_dispatch":   readDispatch,
}

func readPull(p *payload, e *Event, c *checker) {
	if p.Pull == nil {
		c.fail("it has no pull request")
		return
	}
	q := p.Pull
	e.Pull = &Pull{
		Number: c.number("pull request", q.Number), State: q.State, Author: q.User.Login, URL: q.URL,
		Head: q.Head.branch(c), Base: q.Base.branch(c), MergeSHA: q.MergeSHA,
	}
	c.login("author", q.User.Login)
	if q.MergeSHA != "" {
		c.sha("merge commit", q.MergeSHA)
	}
}

func readGroup(p *payload, e *Event, c *checker) {
	if p.Group == nil {
		c.fail("it has no merge group")
		return
	}
	g := p.Group
	c.sha("head", g.HeadSHA)
	c.sha("base", g.BaseSHA)
	c.text("head", g.HeadRef)
	c.text("base", g.BaseRef)
	e.Group = &GroupRef{g.HeadSHA, g.HeadRef, g.BaseSHA, g.BaseRef}
}

func readPush(p *payload, e *Event, c *checker) {
	c.sha("before", p.Before)
	c.sha("after", p.After)
	c.text("ref", p.Ref)
	if p.Ref == "" {
		c.fail("it has no ref")
	}
	e.Push = &PushRef{p.Ref, p.Before, p.After, p.Deleted}
}

func readRun(p *payload, e *Event, c *checker) {
	if p.Run == nil {
		c.fail("it has no workflow run")
		return
	}
	w := p.Run
	r := Run{
		ID: c.id("run", w.ID), Attempt: max(w.Attempt, 1), Name: w.Name, Event: w.Event, Status: w.Status, Conclusion: w.Conclusion,
		HeadSHA: w.HeadSHA, HeadBranch: w.HeadBranch, RepoID: e.Repo.ID, Pulls: numbers(w.Pulls, e.Repo.ID, c),
		Created: w.Created, Started: w.Started, URL: w.URL,
	}
	r.Path, _, _ = strings.Cut(w.Path, "@")
	if w.HeadRepository != nil {
		head := w.HeadRepository.repo(c)
		r.HeadRepoID, r.HeadRepo = head.ID, head.FullName()
	}
	c.sha("head", r.HeadSHA)
	for _, s := range []string{r.Name, r.Path, r.Event, r.Status, r.Conclusion, r.HeadBranch, r.URL} {
		c.text("run", s)
	}
	e.Run = &r
}

func readCheck(p *payload, e *Event, c *checker) {
	if p.Check == nil {
		c.fail("it has no check run")
		return
	}
	k := p.Check
	c.sha("head", k.HeadSHA)
	for _, s := range []string{k.Name, k.Status, k.Conclusion, k.App.Slug} {
		c.text("check run", s)
	}
	e.Check = &CheckRef{
		ID: c.id("check run", k.ID), Name: k.Name, Status: k.Status, Conclusion: k.Conclusion, HeadSHA: k.HeadSHA,
		App: k.App.Slug, Pulls: numbers(k.Pulls, e.Repo.ID, c),
	}
}

func readComment(p *payload, e *Event, c *checker) {
	if p.Comment == nil || p.Issue == nil {
		c.fail("it has no comment or no issue")
		return
	}
	k := p.Comment
	n := c.number("issue", p.Issue.Number)
	if p.Issue.Pull != nil {
		e.Pull = &Pull{Number: n, State: p.Issue.State, Author: p.Issue.User.Login}
	}
	c.login("author", k.User.Login)
	if len(k.Body) > 4*CommentLimit {
		c.fail("the comment is longer than GitHub takes")
	}
	e.Comment = &CommentRef{
		ID: c.id("comment", k.ID), Body: k.Body, Author: k.User.Login, Bot: k.User.bot(),
		Created: k.Created, Updated: k.Updated, URL: k.URL,
	}
}

func readDispatch(p *payload, e *Event, c *checker) {
	c.text("ref", p.Ref)
	for name, v := range p.Inputs {
		if e.Inputs == nil {
			e.Inputs = map[string]string{}
		}
		switch v := v.(type) {
		case string:
			e.Inputs[name] = v
		case bool, float64:
			e.Inputs[name] = fmt.Sprint(v)
		case nil:
		default:
			c.fail("an input is no text")
		}
	}
}

// numbers are those of the pull requests that go to this repository.
func numbers(refs []pullRef, repo int64, c *checker) []int {
	var out []int
	for _, r := range refs {
		if r.Base.Repo.ID == repo {
			out = append(out, c.number("pull request", r.Number))
		}
	}
	return out
}

// checker keeps the first thing that is wrong.
type checker struct{ err error }

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) id(what string, id int64) int64 {
	if id < 1 {
		c.fail("%s: %d is no id", what, id)
	}
	return id
}

func (c *checker) number(what string, n int64) int {
	if n < 1 || n > 1<<31-1 {
		c.fail("%s: %d is no number of one", what, n)
	}
	return int(n)
}

func (c *checker) sha(what, s string) {
	if !sha.MatchString(s) {
		c.fail("%s: %.80q is no commit", what, s)
	}
}

// maxText is the length of a short text: names, branches, states. In bytes.
const maxText = 1024

func (c *checker) text(what, s string) {
	if len(s) > maxText || strings.ContainsFunc(s, unicode.IsControl) {
		c.fail("%s: %.80q is too long or has control characters", what, s)
	}
}

// userName is a login, or the name of an enterprise's or ghost account.
var userName = regexp.MustCompile(`^[A-Za-z0-9_.\[\]-]{0,120}$`)

func (c *checker) login(what, s string) {
	if !userName.MatchString(s) {
		c.fail("%s: %.80q is no account", what, s)
	}
}

// payload is what is read of all payloads.
type payload struct {
	Action     string       `json:"action"`
	Repository *repoPayload `json:"repository"`
	Sender     user         `json:"sender"`
	Pull       *pullPayload `json:"pull_request"`
	Group      *struct {
		HeadSHA string `json:"head_sha"`
		HeadRef string `json:"head_ref"`
		BaseSHA string `json:"base_sha"`
		BaseRef string `json:"base_ref"`
	} `json:"merge_group"`
	Run   *runPayload `json:"workflow_run"`
	Check *struct {
		ID         int64     `json:"id"`
		Name       string    `json:"name"`
		Status     string    `json:"status"`
		Conclusion string    `json:"conclusion"`
		HeadSHA    string    `json:"head_sha"`
		App        app       `json:"app"`
		Pulls      []pullRef `json:"pull_requests"`
	} `json:"check_run"`
	Comment *struct {
		ID      int64     `json:"id"`
		Body    string    `json:"body"`
		User    user      `json:"user"`
		Created time.Time `json:"created_at"`
		Updated time.Time `json:"updated_at"`
		URL     string    `json:"html_url"`
	} `json:"comment"`
	Issue *struct {
		Number int64     `json:"number"`
		State  string    `json:"state"`
		User   user      `json:"user"`
		Pull   *struct{} `json:"pull_request"`
	} `json:"issue"`
	Ref      string         `json:"ref"`
	Before   string         `json:"before"`
	After    string         `json:"after"`
	Deleted  bool           `json:"deleted"`
	Inputs   map[string]any `json:"inputs"`
	Schedule string         `json:"schedule"`
}

type app struct {
	Slug string `json:"slug"`
}

type user struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

func (u user) bot() bool { return isBot(u.Login, u.Type) }

type repoPayload struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
	Private       bool   `json:"private"`
}

func (r *repoPayload) repo(c *checker) Repo {
	owner, name, err := splitRepo(r.FullName)
	if err != nil {
		c.fail("%s", err)
	}
	c.text("default branch", r.DefaultBranch)
	return Repo{c.id("repository", r.ID), owner, name, r.DefaultBranch, r.Private}
}

type pullPayload struct {
	Number   int64         `json:"number"`
	State    string        `json:"state"`
	User     user          `json:"user"`
	URL      string        `json:"html_url"`
	Head     branchPayload `json:"head"`
	Base     branchPayload `json:"base"`
	MergeSHA string        `json:"merge_commit_sha"`
}

type branchPayload struct {
	SHA  string       `json:"sha"`
	Ref  string       `json:"ref"`
	Repo *repoPayload `json:"repo"` // null when the fork was deleted
}

func (b *branchPayload) branch(c *checker) Branch {
	c.sha("branch", b.SHA)
	c.text("branch", b.Ref)
	out := Branch{SHA: b.SHA, Ref: b.Ref}
	if b.Repo != nil {
		repo := b.Repo.repo(c)
		out.RepoID, out.Repo = repo.ID, repo.FullName()
	}
	return out
}

// pullRef is a pull request as runs and check runs name it.
type pullRef struct {
	Number int64 `json:"number"`
	Base   struct {
		Repo struct {
			ID int64 `json:"id"`
		} `json:"repo"`
	} `json:"base"`
}

type runPayload struct {
	ID             int64        `json:"id"`
	Attempt        int          `json:"run_attempt"`
	Name           string       `json:"name"`
	Path           string       `json:"path"`
	Event          string       `json:"event"`
	Status         string       `json:"status"`
	Conclusion     string       `json:"conclusion"`
	HeadSHA        string       `json:"head_sha"`
	HeadBranch     string       `json:"head_branch"`
	HeadRepository *repoPayload `json:"head_repository"`
	Pulls          []pullRef    `json:"pull_requests"`
	Created        time.Time    `json:"created_at"`
	Started        time.Time    `json:"run_started_at"`
	URL            string       `json:"html_url"`
}
