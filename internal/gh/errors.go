package gh

import (
	"errors"
	"fmt"
	"time"
)

// What can go wrong, for errors.Is. Those from the API are wrapped in [*Error].
var (
	// ErrUnauthorized (401): the token is wrong or has expired.
	ErrUnauthorized = errors.New("not authorised")
	// ErrForbidden (403): the token may not do this, as the read-only token of
	// a run from a fork. Fall back to the job summary.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound (404): not there, or the token may not see it.
	ErrNotFound = errors.New("not found")
	// ErrGone (410): it was there and has expired or was switched off.
	ErrGone = errors.New("gone")
	// ErrConflict (409): not possible in the present state.
	ErrConflict = errors.New("conflict")
	// ErrInvalid (422, 400): GitHub refuses the content.
	ErrInvalid = errors.New("refused as invalid")
	// ErrUnavailable: no answer, or 5xx, after repeats.
	ErrUnavailable = errors.New("GitHub is not available")

	// ErrNoLog: a job has no log: it has not finished, its runner was lost, or
	// the log has expired. A normal answer.
	ErrNoLog = errors.New("no log")
	// ErrNoPull: no open pull request has this head.
	ErrNoPull = errors.New("no pull request")
	// ErrManyPulls: more than one open pull request has this head, so that none
	// may be written to.
	ErrManyPulls = errors.New("more than one pull request")
	// ErrTooLong: a text is longer than GitHub takes.
	ErrTooLong = errors.New("text too long")
	// ErrArtifact: an artifact is not what we wrote: too large, links, paths,
	// names twice. It may be forged.
	ErrArtifact = errors.New("artifact refused")
	// ErrEvent: an event's payload cannot be read, or is of a kind that we do
	// not know.
	ErrEvent = errors.New("event not understood")
)

// Error is GitHub's refusal.
type Error struct {
	// Doing is what was being done, "updating comment 12 of acme/loop".
	Doing string
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// Message is GitHub's own, shortened, without control characters.
	Message string
	// Fix is what to do, "" when there is nothing to say.
	Fix string

	kind error
}

// Error says what was being done, what GitHub answered, and the fix.
func (e *Error) Error() string {
	text := e.Doing + ": " + e.kind.Error()
	if e.Status != 0 {
		text += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	if e.Fix != "" {
		text += "; " + e.Fix
	}
	return text
}

// Unwrap is one of the errors of this package, such as [ErrForbidden].
func (e *Error) Unwrap() error { return e.kind }

// RateLimited is returned when waiting for a limit would take longer than
// Options.MaxWait. Use errors.As.
type RateLimited struct {
	// Until is when GitHub will answer again.
	Until time.Time
	// Secondary is set for the limits on bursts and writes, unset for the
	// hourly quota.
	Secondary bool
}
