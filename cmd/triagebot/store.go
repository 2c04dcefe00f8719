package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/triagebot/triagebot/internal/report"
	"github.com/triagebot/triagebot/internal/rerun"
	"github.com/triagebot/triagebot/internal/triage"
)

// The files of --out.
const (
	headerFile  = "check.json"
	journalFile = "trials.jsonl"
	sitesFile   = "sites.json"
	digestFile  = "head.sha256"
	reportFile  = "report.json"
	pageFile    = "report.md"
	htmlFile    = "report.html"
)

// store is the folder of --out: what was to be done, every finished trial, and
// in the end the report.
type store struct {
	dir     string
	journal *rerun.Journal
	trials  []triage.Trial
	// sites are those that the trials name: a resumed run must search for a cause
	// with what the first knew, and has not instrumented anything yet.
	sites map[string]triage.Site
	// digest is that of what head had uncommitted, empty for a clean head.
	digest string
}

// unfinished reports whether the folder holds a run that was killed before it
// could write its report, or that ended early and can go on.
func unfinished(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, headerFile)); err != nil {
		return false
	}
	r, err := readReportFile(filepath.Join(dir, reportFile))
	return err != nil || r.Plan.Stopped != ""
}

// refuseLoss keeps an unfinished run from being overwritten.
func refuseLoss(dir string) error {
	if !unfinished(dir) {
		return nil
	}
	return fmt.Errorf("writing to %s: it holds an unfinished run: go on with --resume, choose another --out, or delete it", dir)
}

// createStore makes the folder anew and writes down what is to be done.
func createStore(dir string, header triage.Report, digest string) (*store, error) {
	if err := refuseLoss(dir); err != nil { // the run that was waited for may have left it unfinished
		return nil, err
	}
	_, missing := os.Stat(dir)
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making --out: %w", err)
	}
	s, err := beginStore(dir, header, digest)
	if err != nil && missing != nil {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return s, err
}

// refuseForeign keeps a folder with somebody else's files from being used: ours
// are removed and rewritten, and one of them is a .gitignore.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, headerFile)); err == nil {
		return nil
	}
	return fmt.Errorf("writing to %s: it holds other files: choose an empty or a new folder with --out", dir)
}

// beginStore clears the folder of an earlier run.
func beginStore(dir string, header triage.Report, digest string) (*store, error) {
	for _, name := range []string{journalFile, sitesFile, digestFile, reportFile, pageFile, htmlFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("clearing --out: %w", err)
		}
	}
	// The folder often stands in the user's checkout: git is not to see it.
	if err := writeFile(filepath.Join(dir, ".gitignore"), []byte("*\n")); err != nil {
		return nil, err
	}
	if digest != "" {
		if err := writeFile(filepath.Join(dir, digestFile), []byte(digest+"\n")); err != nil {
			return nil, err
		}
	}
	b, err := json.MarshalIndent(header, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the plan: %w", err)
	}
	if err := writeFile(filepath.Join(dir, headerFile), append(b, '\n')); err != nil {
		return nil, err
	}
	return openStore(dir)
}

func openStore(dir string) (*store, error) {
	j, trials, err := rerun.OpenJournal(filepath.Join(dir, journalFile))
	if err != nil {
		return nil, err
	}
	s := &store{dir: dir, journal: j, trials: trials, sites: map[string]triage.Site{}}
	b, err := os.ReadFile(filepath.Join(dir, sitesFile))
	if err == nil {
		err = json.Unmarshal(b, &s.sites)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("reading %s: %w", sitesFile, err), j.Close())
	}
	b, err = os.ReadFile(filepath.Join(dir, digestFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("reading %s: %w", digestFile, err), j.Close())
	}
	s.digest = strings.TrimSpace(string(b))
	return s, nil
}

// recorder keeps each finished trial, and first the sites that it names.
func (s *store) recorder(lookUp func(id string) (triage.Site, bool)) func(triage.Trial) error {
	return func(t triage.Trial) error {
		known := len(s.sites)
		for _, d := range t.Decisions {
			s.learn(d.Site, lookUp)
		}
		for _, id := range t.Stretched {
			s.learn(id, lookUp)
		}
		if len(s.sites) > known {
			b, err := json.Marshal(s.sites)
			if err != nil {
				return fmt.Errorf("recording sites: %w", err)
			}
			if err := writeFile(filepath.Join(s.dir, sitesFile), b); err != nil {
				return err
			}
		}
		return s.journal.Record(t)
	}
}

func (s *store) learn(id string, lookUp func(string) (triage.Site, bool)) {
	if _, ok := s.sites[id]; ok {
		return
	}
	if site, ok := lookUp(id); ok {
		s.sites[id] = site
	}
}

// readHeader reads what the run in the folder was to do.
func readHeader(dir string) (triage.Report, error) {
	var header triage.Report
	b, err := os.ReadFile(filepath.Join(dir, headerFile))
	if errors.Is(err, os.ErrNotExist) {
		return header, fmt.Errorf("resuming: %s holds no run: leave out --resume to begin one", dir)
	}
	if err != nil {
		return header, fmt.Errorf("resuming: %w", err)
	}
	if err := json.Unmarshal(b, &header); err != nil {
		return header, fmt.Errorf("resuming: reading %s: %w", headerFile, err)
	}
	return header, nil
}

// finish writes the report and its pages, each whole or not at all.
func (s *store) finish(r triage.Report) error {
	path := filepath.Join(s.dir, reportFile)
	if err := writeWith(path, func(w io.Writer) error { return report.Encode(w, r) }); err != nil {
		return err
	}
	if err := writeWith(filepath.Join(s.dir, htmlFile), func(w io.Writer) error { return report.HTML(w, r) }); err != nil {
		return err
	}
	return writeFile(filepath.Join(s.dir, pageFile), []byte(report.Markdown(r, report.Options{ReportPath: reportFile})))
}

// Close closes the journal.
func (s *store) Close() error { return s.journal.Close() }

func readReportFile(path string) (triage.Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return triage.Report{}, fmt.Errorf("reading report %w", reason(err, path))
	}
	defer f.Close()
	r, err := report.Decode(f)
	if err != nil {
		return triage.Report{}, fmt.Errorf("reading %q: %w", path, reason(err, path))
	}
	return r, nil
}

func writeFile(path string, b []byte) error {
	return writeWith(path, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// writeWith writes beside the file and renames, so that a full disk or a kill
// leaves the old file or the new one.
func writeWith(path string, fill func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".triagebot-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Unwrap(err))
	}
	defer os.Remove(tmp.Name())
	err = fill(tmp)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err // the name that it was written under says nothing
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}
