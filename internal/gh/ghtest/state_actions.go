package ghtest

import "time"

// Workflow is a workflow file.
type Workflow struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Path string `json:"path"` // ".github/workflows/ci.yml"
}

// Run is a workflow run. GitHub lists pull requests of the repository only:
// Pulls of a run from a fork stays empty there, and should here.
type Run struct {
	ID         int64  `json:"id"`
	Workflow   int64  `json:"workflow"` // the id of a Workflow of the state
	Event      string `json:"event"`
	HeadBranch string `json:"head_branch"`
	HeadSHA    string `json:"head_sha"`
	// HeadRepo is where the code comes from; 0 is the repository itself.
	HeadRepo int64     `json:"head_repo,omitempty"`
	Actor    string    `json:"actor"`
	Pulls    []int     `json:"pulls,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	// Attempts are in order; the last is the current one.
	Attempts []Attempt `json:"attempts"`
}

// Attempt is one go at a run.
type Attempt struct {
	Status     string `json:"status"` // queued, in_progress, completed
	Conclusion string `json:"conclusion,omitempty"`
	Jobs       []Job  `json:"jobs,omitempty"`
}

// Job is a job of an attempt. Its id is the id of its check run too.
type Job struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion,omitempty"`
	Steps      []Step `json:"steps,omitempty"`
	Log        string `json:"log,omitempty"`
	// LogState tells why there is no log.
	LogState    LogState     `json:"log_state,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
	// Attempt is set when a job of an earlier attempt was not run again.
	Attempt int `json:"attempt,omitempty"`
}

// LogState is the whereabouts of a log. A job that is not completed has none yet.
type LogState string

// The states of a log.
const (
	LogThere   LogState = ""        // 302 to the text
	LogMissing LogState = "missing" // 404 of the API
	LogExpired LogState = "expired" // 410 of the API
	LogLost    LogState = "lost"    // 302, and the storage says BlobNotFound: the runner was lost
)

// Step is a step of a job.
type Step struct {
	Name       string `json:"name"`
	Conclusion string `json:"conclusion"`
}

// Annotation is a remark at a line; Level is notice, warning or failure.
type Annotation struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Level   string `json:"annotation_level"`
	Message string `json:"message"`
	Title   string `json:"title,omitempty"`
	Raw     string `json:"raw_details,omitempty"`
}

// Artifact is an uploaded zip: either Zip, or made of Files.
type Artifact struct {
	ID      int64             `json:"id"`
	Run     int64             `json:"run"`
	Name    string            `json:"name"`
	Files   map[string]string `json:"files,omitempty"`
	Zip     []byte            `json:"zip,omitempty"`
	Created time.Time         `json:"created,omitzero"`
	Expired bool              `json:"expired,omitempty"`
	// Size is what GitHub says; 0 is the true size of the zip.
	Size int64 `json:"size,omitempty"`
	// HeadSHA and HeadRepo are what GitHub says of the run; "" and 0 are the run's.
	HeadSHA  string `json:"head_sha,omitempty"`
	HeadRepo int64  `json:"head_repo,omitempty"`
}

// Check is a check run that is no job.
type Check struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	HeadSHA     string       `json:"head_sha"`
	App         string       `json:"app"` // slug; "github-actions" for a workflow's token
	Status      string       `json:"status"`
	Conclusion  string       `json:"conclusion,omitempty"`
	ExternalID  string       `json:"external_id,omitempty"`
	DetailsURL  string       `json:"details_url,omitempty"`
	Title       string       `json:"title,omitempty"`
	Summary     string       `json:"summary,omitempty"`
	Text        string       `json:"text,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
	Actions     []any        `json:"actions,omitempty"`
	Edits       int          `json:"edits,omitempty"`
}

// Dispatch is a request to start something: a workflow, or by an event of a type.
type Dispatch struct {
	By       string         `json:"by"`
	Workflow string         `json:"workflow,omitempty"`
	Ref      string         `json:"ref,omitempty"`
	Inputs   map[string]any `json:"inputs,omitempty"`
	Type     string         `json:"type,omitempty"`
	Payload  map[string]any `json:"payload,omitempty"`
}

// Rerun is a request to run again.
type Rerun struct {
	By   string `json:"by"`
	Kind string `json:"kind"` // all, failed or job
	Run  int64  `json:"run"`
	Job  int64  `json:"job,omitempty"`
	// Attempt is the one that it started.
	Attempt int  `json:"attempt"`
	Debug   bool `json:"debug,omitempty"`
}
