package rerun

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/triagebot/triagebot/internal/triage"
)

// Journal keeps every finished trial on disk at once, one JSON line each, so
// that a kill loses at most the trial that was running.
type Journal struct {
	f *os.File
	// ends[i] is the offset behind the line of trial i+1.
	ends []int64
}

// OpenJournal opens or makes the journal at path and returns the trials it
// holds. A last line that was cut by a kill is dropped.
func OpenJournal(path string) (*Journal, []triage.Trial, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the journal: %w", err)
	}
	j := &Journal{f: f}
	trials, err := j.read()
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return j, trials, nil
}

func (j *Journal) read() ([]triage.Trial, error) {
	var trials []triage.Trial
	in := bufio.NewReaderSize(j.f, 1<<16)
	var at int64
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return trials, j.f.Truncate(at) // a cut last line goes
		}
		if err != nil {
			return nil, err
		}
		t, err := readTrial(line)
		if err == nil && t.Seq != len(trials)+1 {
			err = fmt.Errorf("the line holds trial %d", t.Seq)
		}
		if err != nil {
			return nil, fmt.Errorf("trial %d: %w", len(trials)+1, err)
		}
		at += int64(len(line))
		trials = append(trials, t)
		j.ends = append(j.ends, at)
	}
}

func readTrial(line []byte) (triage.Trial, error) {
	var t triage.Trial
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return t, errors.New("more than one value on its line")
	}
	return t, nil
}

// Record enters a trial under its sequence number and waits until it is on disk.
// A trial that is there already is left alone; one that takes the place of
// another drops all behind it.
func (j *Journal) Record(t triage.Trial) error {
	line, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("recording trial %d: %w", t.Seq, err)
	}
	line = append(line, '\n')
	if t.Seq < 1 || t.Seq > len(j.ends)+1 {
		return fmt.Errorf("recording trial %d: %d trials are recorded", t.Seq, len(j.ends))
	}
	if same, err := j.holds(t.Seq, line); err != nil || same {
		return err
	}
	at := j.start(t.Seq)
	if err := j.f.Truncate(at); err != nil {
		return fmt.Errorf("recording trial %d: %w", t.Seq, err)
	}
	if _, err := j.f.WriteAt(line, at); err != nil {
		_ = j.f.Truncate(at) // a full disk must not leave half a line
		return fmt.Errorf("recording trial %d: %w", t.Seq, err)
	}
	j.ends = append(j.ends[:t.Seq-1], at+int64(len(line)))
	return j.f.Sync()
}

func (j *Journal) start(seq int) int64 {
	if seq == 1 {
		return 0
	}
	return j.ends[seq-2]
}

// holds reports whether the journal has exactly this line under seq.
func (j *Journal) holds(seq int, line []byte) (bool, error) {
	if seq > len(j.ends) {
		return false, nil
	}
	old := make([]byte, j.ends[seq-1]-j.start(seq))
	if _, err := j.f.ReadAt(old, j.start(seq)); err != nil {
		return false, fmt.Errorf("reading trial %d: %w", seq, err)
	}
	return bytes.Equal(old, line), nil
}

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }
