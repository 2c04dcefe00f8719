package gh

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-github/v62/github"
)

// op is what is being done, for the error.
type op struct {
	doing string
	// needs is the permission, "pull-requests: write".
	needs string
	// fix is better advice than the status alone gives.
	fix string
}

// kinds are the errors of the statuses.
var kinds = map[int]error{
	http.StatusBadRequest:            ErrInvalid,
	http.StatusUnauthorized:          ErrUnauthorized,
	http.StatusForbidden:             ErrForbidden,
	http.StatusNotFound:              ErrNotFound,
	http.StatusConflict:              ErrConflict,
	http.StatusGone:                  ErrGone,
	http.StatusUnprocessableEntity:   ErrInvalid,
	http.StatusRequestEntityTooLarge: ErrTooLong,
}

func (c *Client) fail(o op, res *github.Response, err error) error { return fail(o, res, err) }

// fail turns the library's error into one of ours; nil stays nil.
func fail(o op, res *github.Response, err error) error {
	var (
		limit *RateLimited
		own   *Error
		api   *github.ErrorResponse
	)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded) && !isAttempt(err):
		return fmt.Errorf("%s: %w", o.doing, err)
	case errors.As(err, &limit):
		return fmt.Errorf("%s: %w", o.doing, limit)
	case errors.As(err, &own):
		return fmt.Errorf("%s: %w", o.doing, own)
	case errors.As(err, &api) && api.Response != nil:
		return refusal(o, api.Response.StatusCode, message(api))
	case res != nil && res.Response != nil && res.StatusCode >= 300:
		return refusal(o, res.StatusCode, "")
	}
	return &Error{Doing: o.doing, Message: oneLine(err.Error()), kind: ErrUnavailable, Fix: o.fix}
}

// isAttempt tells the time-out of one attempt from the caller's deadline.
func isAttempt(err error) bool { var a *attemptError; return errors.As(err, &a) }

// message is GitHub's text with the fields it complains of.
func message(e *github.ErrorResponse) string {
	text := e.Message
	for i, f := range e.Errors {
		if i == 3 {
			break
		}
		text += " (" + strings.TrimSpace(strings.Join([]string{f.Resource, f.Field, f.Code, f.Message}, " ")) + ")"
	}
	return text
}

// refusal is the error of a status.
func refusal(o op, status int, message string) error {
	e := &Error{Doing: o.doing, Status: status, Message: oneLine(message), Fix: o.fix, kind: kinds[status]}
	if e.kind == nil {
		e.kind = ErrUnavailable
	}
	if e.Fix == "" {
		e.Fix = advice(o, e)
	}
	return e
}

func advice(o op, e *Error) string {
	permission := "the permission"
	if o.needs != "" {
		permission = fmt.Sprintf("`permissions: %s`", o.needs)
	}
	switch {
	case e.kind == ErrUnauthorized:
		return "the token is wrong or has expired; pass a valid one, as ${{ github.token }}"
	case e.kind == ErrForbidden && strings.Contains(e.Message, "locked"):
		return "unlock the conversation"
	case e.kind == ErrForbidden:
		return "give the job " + permission + "; runs from forks and of Dependabot have a read-only token"
	case e.kind == ErrNotFound:
		return "it is not there, or the token may not see it: give the job " + permission
	case e.kind == ErrUnavailable:
		return "try again later"
	}
	return ""
}

// maxMessage is the length kept of a message that is not ours, in bytes.
const maxMessage = 300

// oneLine makes a foreign text fit to be printed: one line, no control or
// format characters, not long.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, s)
	if len(s) > maxMessage {
		cut := maxMessage
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strings.TrimSpace(s)
}
