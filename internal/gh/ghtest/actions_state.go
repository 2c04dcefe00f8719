package ghtest

// Run is a workflow run.
type Run struct{}

// Artifact is an uploaded zip.
type Artifact struct{}

// Check is a check run.
type Check struct{}

// Dispatch is a request to start a workflow.
type Dispatch struct{}

// Rerun is a request to run again.
type Rerun struct{}
