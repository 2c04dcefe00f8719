package gh

import (
	"context"
	"time"
)

// Artifact is a zip that a run left.
type Artifact struct {
	ID      int64
	Name    string
	Size    int64
	Expired bool
	// RunID, HeadSHA and HeadRepoID are GitHub's own words on where it comes
	// from: compare them with the run.
	RunID      int64
	HeadSHA    string
	HeadRepoID int64
	Created    time.Time
}

// Limits of reading an artifact. A field that is 0 has the default.
type Limits struct {
	// Zip is the size of the zip in bytes, 1 MiB.
	Zip int64
	// Entry is the unpacked size of one file, 5 MiB; Total of all, 20 MiB.
	Entry, Total int64
	// Ratio is the largest quotient of unpacked and packed size, 200.
	Ratio int64
	// Entries is the largest number of entries, 100.
	Entries int
	// Nested allows names with folders in them.
	Nested bool
}

// Artifacts lists the artifacts of a run, newest first, one of each name: of
// two attempts that wrote the same name the later counts.
func (c *Client) Artifacts(ctx context.Context, runID int64) ([]Artifact, error) {
	return nil, errNotBuilt
}

// ReadArtifact reads the files of an artifact whose names match one of names
// (path.Match patterns, as "report*.json"), into memory; nothing is written to
// disk. The whole zip is refused ([ErrArtifact]) when any entry of it, wanted or not, is a link,
// leaves the zip's root, is in a folder (unless limits.Nested), has a name
// twice, or when a size is beyond the limits. [ErrGone] when it has expired.
func (c *Client) ReadArtifact(ctx context.Context, a Artifact, names []string, limits Limits) (map[string][]byte, error) {
	return nil, errNotBuilt
}
