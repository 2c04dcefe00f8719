package history

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"
)

// Entry is one earlier report.
type Entry struct {
	// Name is for messages.
	Name string
	// HeadSHA is the commit that the report must be of, where that is known.
	HeadSHA string
	Open    func(ctx context.Context) (io.ReadCloser, error)
}

// Source lists earlier reports, the newest first and at most limit of them. What
// it does not trust it leaves out and tells of in warnings.
type Source interface {
	Entries(ctx context.Context, limit int) (entries []Entry, warnings []string, err error)
}

// maxWalked bounds the files that are looked at in a folder.
const maxWalked = 20_000

// Folder is a local folder of reports, at any depth: all files whose name ends in
// ".json". Links that lead out of it are not followed. A folder that is not there
// is an empty past.
type Folder string

// Entries lists the files by the time they were written.
func (f Folder) Entries(_ context.Context, limit int) ([]Entry, []string, error) {
	root, err := os.OpenRoot(string(f))
	if os.IsNotExist(err) {
		return nil, []string{fmt.Sprintf("history: there is no folder %s", string(f))}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading history: %w", err)
	}
	defer root.Close()
	found, err := listed(root.FS())
	if err != nil {
		return nil, nil, fmt.Errorf("reading history %q: %w", string(f), err)
	}
	var warnings []string
	if len(found) > limit {
		warnings = append(warnings, fmt.Sprintf("history: the newest %d of %d reports in %s are read", limit, len(found), string(f)))
		found = found[:limit]
	}
	var out []Entry
	for _, x := range found {
		out = append(out, Entry{Name: x.name, Open: func(context.Context) (io.ReadCloser, error) { return openIn(string(f), x.name) }})
	}
	return out, warnings, nil
}

// openIn opens a regular file below dir, whatever links stand on the way.
func openIn(dir, name string) (io.ReadCloser, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no file", name)
	}
	return f, nil
}

type file struct {
	name    string
	written time.Time
}

// listed are the JSON files of a tree, the newest first.
func listed(tree fs.FS) ([]file, error) {
	var out []file
	walked := 0
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if walked++; walked > maxWalked {
			return fmt.Errorf("it holds more than %d files: name a folder of reports", maxWalked)
		}
		if !d.Type().IsRegular() || path.Ext(name) != ".json" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // it has just been removed
		}
		out = append(out, file{name, info.ModTime()})
		return nil
	})
	slices.SortFunc(out, func(a, b file) int { return cmp.Or(b.written.Compare(a.written), cmp.Compare(b.name, a.name)) })
	return out, err
}
