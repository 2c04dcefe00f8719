package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/triagebot/triagebot/internal/triage"
)

// headDigest is the identity of what head has uncommitted: a digest of the files
// that differ from base. It is empty for a clean head, which its commit names.
func (s *session) headDigest() (string, error) {
	head := s.ws.Tree(triage.Head)
	if !head.Rev.Dirty {
		return "", nil
	}
	return digest(head.Dir, s.ws.Diff())
}

// digest is that of files below dir, with their names, kinds and contents.
func digest(dir string, files []string) (string, error) {
	h := sha256.New()
	for _, name := range files {
		if err := addFile(h, dir, name); err != nil {
			return "", fmt.Errorf("reading uncommitted changes: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func addFile(w io.Writer, dir, name string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(w, "%q is not there\n", name)
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintf(w, "%q %s %d\n", name, st.Mode(), st.Size())
	if st.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		fmt.Fprintf(w, "%q\n", to)
		return err
	}
	if !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// sameHead refuses to go on with a run when head is not what it was.
func (s *session) sameHead(st *store, header triage.Report) error {
	if got := s.ws.Tree(triage.Head).Rev.SHA; got != header.Check.Head.SHA {
		return fmt.Errorf("resuming: %s was measured on head %.12s, which is %.12s now: begin anew with another --out", st.dir, header.Check.Head.SHA, got)
	}
	got, err := s.headDigest()
	if err != nil {
		return err
	}
	if got != st.digest {
		return fmt.Errorf("resuming: %s was measured with uncommitted changes, which are others now: put them back, or begin anew with another --out", st.dir)
	}
	return nil
}
