package workspace

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// copyWorkers are how many files are copied at once: most are small, and
	// opening them is what takes the time.
	copyWorkers = 4
	// copyAhead is how many files the walk may be ahead of the copying.
	copyAhead = 256
	// copyProgress is how often progress is told.
	copyProgress = 5 * time.Second
)

// moduleCaches are directories in a node_modules that tools fill on their own:
// large, worthless elsewhere, and with absolute paths of the checkout in them.
var moduleCaches = []string{".cache", ".vite", ".vite-temp", ".vitest"}

// copier copies directories of the checkout to the same place in a tree. Files
// are cloned where the file system can, else copied: a hard link would let a test
// write into the checkout.
type copier struct {
	// top and tree are the real, absolute roots.
	top, tree string
	// say tells of progress, from the goroutine of run.
	say func(files, bytes int64)

	files, bytes atomic.Int64
	noClone      atomic.Bool
	// shared are the homes that are links out of the checkout.
	shared []string
	told   time.Time
}

// run copies homes, which are relative to both roots and whose parents exist in
// the tree.
func (c *copier) run(ctx context.Context, homes []string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := make(chan string, copyAhead)
	var workers sync.WaitGroup
	for range copyWorkers {
		workers.Go(func() {
			buf := make([]byte, 64<<10)
			for rel := range work {
				if ctx.Err() != nil {
					continue // the walk is told, and the channel must run dry
				}
				if err := c.file(rel, buf); err != nil {
					stop(err)
				}
			}
		})
	}
	c.told = time.Now()
	var err error
	for _, home := range homes {
		if err == nil {
			err = c.home(ctx, home, work)
		}
	}
	close(work)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// home copies one node_modules. A link to a directory out of the checkout stays a link.
func (c *copier) home(ctx context.Context, rel string, work chan<- string) error {
	st, err := os.Lstat(filepath.Join(c.top, rel))
	if err != nil {
		return err
	}
	if st.Mode()&os.ModeSymlink != 0 {
		outside, err := c.link(rel)
		if outside {
			c.shared = append(c.shared, rel)
		}
		return err
	}
	return c.walk(ctx, rel, moduleCaches, work)
}

func (c *copier) walk(ctx context.Context, rel string, skip []string, work chan<- string) error {
	entries, err := os.ReadDir(filepath.Join(c.top, rel))
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(c.tree, rel), 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		at := filepath.Join(rel, e.Name())
		switch {
		case slices.Contains(skip, e.Name()):
		case e.IsDir():
			err = c.walk(ctx, at, nil, work)
		case e.Type()&os.ModeSymlink != 0:
			_, err = c.link(at)
		case e.Type().IsRegular():
			select {
			case work <- at:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err != nil {
			return err
		}
	}
	if time.Since(c.told) > copyProgress {
		c.told = time.Now()
		c.say(c.files.Load(), c.bytes.Load())
	}
	return ctx.Err()
}

// file copies one file with its permissions.
func (c *copier) file(rel string, buf []byte) error {
	in, err := os.Open(filepath.Join(c.top, rel))
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(c.tree, rel), os.O_WRONLY|os.O_CREATE|os.O_EXCL, st.Mode().Perm())
	if err != nil {
		return err
	}
	if err := c.content(out, in, buf); err != nil {
		out.Close()
		return err
	}
	c.files.Add(1)
	c.bytes.Add(st.Size())
	return out.Close()
}

func (c *copier) content(out, in *os.File, buf []byte) error {
	if !c.noClone.Load() {
		if cloneFile(out, in) == nil {
			return nil
		}
		c.noClone.Store(true) // this file system cannot, and asking again costs a call a file
	}
	// The bare interfaces keep io from splicing, which is slower for small files.
	_, err := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, buf)
	return err
}

// link makes the same link in the tree: one to a place in the checkout leads to
// that place in the tree, any other to where it leads.
func (c *copier) link(rel string) (outside bool, err error) {
	target, err := os.Readlink(filepath.Join(c.top, rel))
	if err != nil {
		return false, err
	}
	target, outside = c.aim(rel, target)
	return outside, os.Symlink(target, filepath.Join(c.tree, rel))
}

// aim is where the tree's link of the name rel leads.
func (c *copier) aim(rel, target string) (aimed string, outside bool) {
	from := filepath.Dir(rel)
	if !filepath.IsAbs(target) {
		if filepath.IsLocal(filepath.Join(from, target)) {
			return target, false
		}
		return filepath.Join(c.top, from, target), true
	}
	in, ok := below(c.top, target)
	if !ok {
		if real, err := filepath.EvalSymlinks(target); err == nil {
			in, ok = below(c.top, real)
		}
	}
	if !ok {
		return target, true
	}
	if short, err := filepath.Rel(from, in); err == nil {
		return short, false
	}
	return filepath.Join(c.tree, in), false
}

// below is a path relative to a root that it is in.
func below(root, name string) (string, bool) {
	rel, err := filepath.Rel(root, name)
	return rel, err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(rel, ".git"+string(filepath.Separator))
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
