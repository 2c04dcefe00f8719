package gh

import "time"

// Event is what started a workflow run, as far as triagebot asks. Parts that an
// event does not have are nil.
type Event struct {
	// Name is GITHUB_EVENT_NAME: pull_request, pull_request_target,
	// merge_group, push, workflow_run, check_run, issue_comment, schedule or
	// workflow_dispatch.
	Name string
	// Action is created, completed, opened …, "" for events without.
	Action string
	Repo   Repo
	// Sender is the login of who caused it, SenderBot whether that is a bot.
	Sender    string
	SenderBot bool
	// Pull is set for pull_request and pull_request_target, and for an
	// issue_comment on a pull request, where only the Number is known: get the
	// rest from [Client.Pull]. Nil for a comment on an issue.
	Pull *Pull
	// Run is set for workflow_run.
	Run *Run
	// Check is set for check_run.
	Check *CheckRef
	// Comment is set for issue_comment.
	Comment *CommentRef
	// Push is set for push.
	Push *PushRef
	// Group is set for merge_group: head and base of the queue's commit.
	Group *GroupRef
	// Inputs are those of a workflow_dispatch, as text.
	Inputs map[string]string
	// Ref is the branch of a workflow_dispatch, Schedule the cron line of a schedule.
	Ref, Schedule string
}

// Repo is a repository.
type Repo struct {
	ID            int64
	Owner, Name   string
	DefaultBranch string
	Private       bool
}

// FullName is "owner/name".
func (r Repo) FullName() string { return r.Owner + "/" + r.Name }

// CommentRef is a comment on an issue or pull request.
type CommentRef struct {
	ID     int64
	Body   string
	Author string
	// Bot is set when the author is not a person; such comments command nothing.
	Bot              bool
	Created, Updated time.Time
	URL              string
}

// CheckRef is a check run of a check_run event.
type CheckRef struct {
	ID                       int64
	Name, Status, Conclusion string
	HeadSHA                  string
	// App is the slug of the App that made it, "github-actions" for a job.
	App string
	// Pulls are numbers of pull requests of this repository; empty for forks.
	Pulls []int
}

// PushRef is the push of a push event.
type PushRef struct {
	// Ref is "refs/heads/main".
	Ref           string
	Before, After string
	Deleted       bool
}

// GroupRef is the commit that a merge queue tests.
type GroupRef struct {
	HeadSHA, HeadRef, BaseSHA, BaseRef string
}
