package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/triage"
)

// save writes the report and its pages, made anew from what was checked, into the
// workspace, and returns the folder's path from there. The workspace is the pull
// request's to fill: no link in it leads us elsewhere.
func (a *actionRun) save(r triage.Report) (string, error) {
	workspace := a.env("GITHUB_WORKSPACE")
	if workspace == "" {
		workspace = "."
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return "", fmt.Errorf("writing the report: %w", err)
	}
	defer root.Close()
	dir := filepath.Clean(filepath.FromSlash(a.in["out"]))
	if err := makeDirs(root, dir); err != nil {
		return "", err
	}
	var record, page bytes.Buffer
	if err := errors.Join(report.Encode(&record, r), report.HTML(&page, r)); err != nil {
		return "", err
	}
	files := map[string][]byte{
		reportFile: record.Bytes(), htmlFile: page.Bytes(),
		".gitignore": []byte("*\n"), // the workspace stays clean for git
		pageFile:     []byte(report.Markdown(r, report.Options{ReportPath: reportFile})),
	}
	for name, data := range files {
		if err := writeNew(root, filepath.Join(dir, name), data); err != nil {
			return "", err
		}
	}
	if owner, err := owner(workspace); err == nil && os.Geteuid() == 0 { // the next steps are not root's
		for _, name := range append(slices.Collect(maps.Keys(files)), "") {
			_ = root.Lchown(filepath.Join(dir, name), owner.uid, owner.gid)
		}
	}
	return filepath.ToSlash(dir), nil
}

// makeDirs makes a folder and those above it; none of them may be a link.
func makeDirs(root *os.Root, dir string) error {
	path := ""
	for _, part := range strings.Split(dir, string(filepath.Separator)) {
		path = filepath.Join(path, part)
		if part == ".git" {
			return fmt.Errorf("writing to %q: choose a folder outside of .git with the input out", dir)
		}
		st, err := root.Lstat(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			if err := root.Mkdir(path, 0o755); err != nil {
				return fmt.Errorf("writing to %q: %w", dir, bare(err))
			}
		case err != nil:
			return fmt.Errorf("writing to %q: %w", dir, bare(err))
		case !st.IsDir():
			return fmt.Errorf("writing to %q: %q is not a folder: choose another with the input out", dir, path)
		}
	}
	return nil
}

// writeNew replaces a file; a link in its place goes, and is not followed.
func writeNew(root *os.Root, path string, data []byte) error {
	if err := root.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("writing %q: %w", path, bare(err))
	}
	f, err := root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing %q: %w", path, bare(err))
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing %q: %w", path, bare(err))
	}
	return nil
}
