package gh

import "context"

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
// Needs `checks: write`.
func (c *Client) CreateCheck(ctx context.Context, k Check) (Result, error) {
	return Result{}, errNotBuilt
}

// UpdateCheck changes a check run of ours; annotations are added to those it has.
func (c *Client) UpdateCheck(ctx context.Context, id int64, k Check) (Result, error) {
	return Result{}, errNotBuilt
}
