package ghtest

import "time"

// State is all that the fake knows. Its JSON form is what fakegithub reads and
// dumps.
type State struct {
	Repo  Repo   `json:"repo"`
	Forks []Repo `json:"forks,omitempty"`
	Users []User `json:"users,omitempty"`
	// Tokens are the credentials that are accepted.
	Tokens []Token `json:"tokens,omitempty"`
	App    *App    `json:"app,omitempty"`

	// Refs are full names without "refs/": "heads/main" to a SHA. The heads of
	// pull requests need not be named again.
	Refs map[string]string `json:"refs,omitempty"`
	// Commits are the graph that compare and the merge base are computed from.
	Commits []Commit `json:"commits,omitempty"`
	Files   []File   `json:"files,omitempty"`

	Pulls    []Pull    `json:"pulls,omitempty"`
	Issues   []Issue   `json:"issues,omitempty"`
	Comments []Comment `json:"comments,omitempty"`

	Workflows []Workflow `json:"workflows,omitempty"`
	Runs      []Run      `json:"runs,omitempty"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
	Checks    []Check    `json:"checks,omitempty"`

	// Dispatches and Reruns are what was asked for, in order.
	Dispatches []Dispatch `json:"dispatches,omitempty"`
	Reruns     []Rerun    `json:"reruns,omitempty"`

	// LastID is the last identity that was handed out.
	LastID int64 `json:"last_id,omitempty"`
}

// Repo is a repository.
type Repo struct {
	ID            int64  `json:"id"`
	Owner         string `json:"owner"`
	Name          string `json:"name"`
	DefaultBranch string `json:"default_branch"`
	Private       bool   `json:"private,omitempty"`
	Fork          bool   `json:"fork,omitempty"`
}

// FullName is "owner/name".
func (r Repo) FullName() string { return r.Owner + "/" + r.Name }

// User is a person or a bot. Role is what they may do in the repository:
// admin, maintain, write, triage, read or none; the coarser permission that
// GitHub also tells is derived from it (maintain is write, triage is read).
type User struct {
	Login string `json:"login"`
	ID    int64  `json:"id,omitempty"`
	Role  string `json:"role,omitempty"`
}

// Token is a credential. Name is how the journal calls it; Value is what the
// client sends, "ghtest-" and the name unless set. Permissions are those of
// GITHUB_TOKEN and of Apps ("issues": "write"); metadata is always readable.
type Token struct {
	Name        string            `json:"name"`
	Value       string            `json:"value,omitempty"`
	User        string            `json:"user"`
	Permissions map[string]string `json:"permissions,omitempty"`
	Expires     time.Time         `json:"expires,omitzero"`
	// Limit is the number of requests before the primary rate limit; 0 is 5000.
	Limit int `json:"limit,omitempty"`
	Used  int `json:"used,omitempty"`
}

// Secret is the text that a client sends.
func (t Token) Secret() string {
	if t.Value != "" {
		return t.Value
	}
	return "ghtest-" + t.Name
}

// App is a GitHub App with one installation.
type App struct {
	ID             int64  `json:"id"`
	Slug           string `json:"slug"`
	InstallationID int64  `json:"installation_id"`
	// PublicKey is PEM; the JWT of the App must be signed by its private half.
	PublicKey   string            `json:"public_key"`
	Permissions map[string]string `json:"permissions,omitempty"`
}

// Branch is an end of a pull request. A Repo of id 0 is a deleted fork.
type Branch struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo int64  `json:"repo"`
}

// Pull is a pull request. It is an issue too: comments name its number.
type Pull struct {
	Number int      `json:"number"`
	Title  string   `json:"title,omitempty"`
	Body   string   `json:"body,omitempty"`
	User   string   `json:"user"`
	State  string   `json:"state,omitempty"` // open unless set
	Draft  bool     `json:"draft,omitempty"`
	Head   Branch   `json:"head"`
	Base   Branch   `json:"base"`
	Merge  string   `json:"merge_commit_sha,omitempty"`
	Files  []string `json:"files,omitempty"`
	Labels []string `json:"labels,omitempty"`
}

// Issue is an issue that is no pull request.
type Issue struct {
	Number int      `json:"number"`
	Title  string   `json:"title"`
	Body   string   `json:"body,omitempty"`
	User   string   `json:"user"`
	State  string   `json:"state,omitempty"` // open unless set
	Labels []string `json:"labels,omitempty"`
}

// Comment is a comment on an issue or pull request.
type Comment struct {
	ID        int64      `json:"id"`
	Issue     int        `json:"issue"`
	User      string     `json:"user"`
	Body      string     `json:"body"`
	Created   time.Time  `json:"created"`
	Updated   time.Time  `json:"updated"`
	Edits     int        `json:"edits,omitempty"`
	Reactions []Reaction `json:"reactions,omitempty"`
}

// Reaction is an emoji under a comment, in GitHub's words: +1, eyes, rocket, confused.
type Reaction struct {
	ID      int64  `json:"id"`
	User    string `json:"user"`
	Content string `json:"content"`
}

// Commit is a node of the graph. Its first parent comes first.
type Commit struct {
	SHA     string   `json:"sha"`
	Parents []string `json:"parents,omitempty"`
	Message string   `json:"message,omitempty"`
	Files   []string `json:"files,omitempty"`
}

// File is the content of a path in one commit; without a SHA, in every commit.
type File struct {
	SHA     string `json:"sha,omitempty"`
	Path    string `json:"path"`
	Content string `json:"content"`
}
