package gh

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/go-github/v62/github"
)

// Limits of a check run's output, from GitHub's API description: characters of
// summary and text, annotations in one request.
const (
	SummaryLimit       = 65535
	AnnotationsRequest = 50
)

// Level of an annotation.
type Level string

// The levels, as the API names them.
const (
	Notice  Level = "notice"
	Warning Level = "warning"
	Failure Level = "failure"
)

// Annotation is a remark at a place in a file.
type Annotation struct {
	Path string
	// Line and EndLine count from 1; 0 is no line. EndLine 0 is Line.
	Line, EndLine  int
	Level          Level
	Title, Message string
}

// Check is a check run of ours.
type Check struct {
	Name    string
	HeadSHA string
	// Conclusion is success, failure, neutral …; "" while in progress.
	// triagebot turns nothing green: neutral is its own.
	Conclusion           string
	Title, Summary, Text string
	Annotations          []Annotation
	DetailsURL           string
}

// CreateCheck makes a check run, with any number of annotations, 50 a request.
// Needs `checks: write`. A summary or text that is too long is [ErrTooLong],
// before anything is sent.
func (c *Client) CreateCheck(ctx context.Context, k Check) (Result, error) {
	o := op{doing: fmt.Sprintf("creating check run %q on %.12s", k.Name, k.HeadSHA), needs: "checks: write"}
	if err := k.fits(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", o.doing, err)
	}
	first, rest := k.split()
	status, conclusion, done := c.progress(k)
	made, res, err := c.api.Checks.CreateCheckRun(ctx, c.owner, c.name, github.CreateCheckRunOptions{
		Name: k.Name, HeadSHA: k.HeadSHA, DetailsURL: text(k.DetailsURL),
		Status: status, Conclusion: conclusion, CompletedAt: done, Output: k.output(first),
	})
	if err != nil {
		return Result{}, c.fail(o, res, err)
	}
	r := Result{Action: Created, ID: made.GetID(), URL: made.GetHTMLURL()}
	if len(rest) == 0 {
		return r, nil
	}
	k.Annotations = rest
	_, err = c.UpdateCheck(ctx, r.ID, k)
	return r, err
}

// UpdateCheck changes a check run of ours; annotations are added to those it has.
func (c *Client) UpdateCheck(ctx context.Context, id int64, k Check) (Result, error) {
	o := op{doing: fmt.Sprintf("updating check run %d", id), needs: "checks: write"}
	if err := k.fits(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", o.doing, err)
	}
	for {
		first, rest := k.split()
		status, conclusion, done := c.progress(k)
		made, res, err := c.api.Checks.UpdateCheckRun(ctx, c.owner, c.name, id, github.UpdateCheckRunOptions{
			Name: k.Name, DetailsURL: text(k.DetailsURL),
			Status: status, Conclusion: conclusion, CompletedAt: done, Output: k.output(first),
		})
		if err != nil {
			return Result{}, c.fail(o, res, err)
		}
		if len(rest) == 0 {
			return Result{Action: Updated, ID: id, URL: made.GetHTMLURL()}, nil
		}
		k.Annotations = rest
	}
}

// fits says what is too long.
func (k Check) fits() error {
	for _, s := range []string{k.Summary, k.Text} {
		if n := utf8.RuneCountInString(s); n > SummaryLimit {
			return fmt.Errorf("a text has %d characters, GitHub takes %d: %w", n, SummaryLimit, ErrTooLong)
		}
	}
	return nil
}

// split gives the annotations of one request, and the others.
func (k Check) split() (first, rest []Annotation) {
	n := min(len(k.Annotations), AnnotationsRequest)
	return k.Annotations[:n], k.Annotations[n:]
}

func (c *Client) progress(k Check) (status, conclusion *string, done *github.Timestamp) {
	if k.Conclusion == "" {
		return text("in_progress"), nil, nil
	}
	return text("completed"), &k.Conclusion, &github.Timestamp{Time: c.clock.Now().UTC().Truncate(time.Second)}
}

func (k Check) output(annotations []Annotation) *github.CheckRunOutput {
	if k.Title == "" && k.Summary == "" {
		return nil // GitHub asks for both with any output
	}
	out := &github.CheckRunOutput{Title: &k.Title, Summary: &k.Summary, Text: text(k.Text)}
	for _, a := range annotations {
		a = a.whole()
		level := string(a.Level)
		out.Annotations = append(out.Annotations, &github.CheckRunAnnotation{
			Path: &a.Path, StartLine: &a.Line, EndLine: &a.EndLine, AnnotationLevel: &level, Message: &a.Message, Title: text(a.Title),
		})
	}
	return out
}

// Longest texts of an annotation: the title in characters, the message in bytes.
const (
	maxTitle      = 255
	maxAnnotation = 64 << 10
)

// whole fills in what GitHub asks for, and shortens what it would refuse.
func (a Annotation) whole() Annotation {
	if a.Path == "" {
		a.Path = ".github" // where GitHub itself puts what belongs to no file
	}
	a.Line = max(a.Line, 1)
	a.EndLine = max(a.EndLine, a.Line)
	if a.Level != Notice && a.Level != Failure {
		a.Level = Warning
	}
	if r := []rune(a.Title); len(r) > maxTitle {
		a.Title = string(r[:maxTitle-1]) + "…"
	}
	a.Message = strings.ToValidUTF8(a.Message[:min(len(a.Message), maxAnnotation)], "\uFFFD")
	if a.Message == "" {
		a.Message = a.Title
	}
	return a
}

// text is a text for a field that is left out when empty.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
