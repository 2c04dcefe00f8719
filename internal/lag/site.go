package lag

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

// maxText bounds the source line that is believed of a site, in bytes.
const maxText = 200

// SiteOf is what a site's id alone tells, for engines that learn of their sites
// only at run time: file, function and kind. It is the
// zero site, but for the id, when the id is not of this engine's form.
func SiteOf(id string) triage.Site {
	rest, ordinal, ok := cutLast(id)
	if _, err := strconv.Atoi(ordinal); !ok || err != nil {
		return triage.Site{ID: id}
	}
	rest, kind, ok := cutLast(rest)
	if !ok {
		return triage.Site{ID: id}
	}
	file, fn, ok := cutLast(rest)
	if !ok {
		return triage.Site{ID: id}
	}
	return triage.Site{ID: id, Kind: triage.Kind(kind), File: file, Func: fn}
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", "", false
	}
	return s[:i], s[i+1:], true
}

// siteRecord is what a line of the log tells of its site.
type siteRecord struct {
	Site      string `json:"site"`
	Stretched string `json:"stretched"`
	Line      int    `json:"line"`
	Text      string `json:"text"`
	Test      bool   `json:"test"`
}

// ReadSites reads the sites that a decision log describes, each once, in the
// order of their first records. Lines that describe none, or are no records, are
// passed over; a reader that breaks is an error. The bounds on logs hold.
func ReadSites(log io.Reader) ([]triage.Site, error) {
	in := bufio.NewReaderSize(io.LimitReader(log, MaxLogBytes), maxLine)
	var sites []triage.Site
	have := map[string]bool{}
	for {
		line, err := in.ReadSlice('\n')
		if err == nil && len(sites) < MaxLogSites {
			if s, ok := siteOf(line); ok && !have[s.ID] {
				have[s.ID] = true
				sites = append(sites, s)
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) { // a longer line is none of ours
			_, err = in.ReadSlice('\n')
		}
		switch {
		case errors.Is(err, io.EOF):
			return sites, nil
		case err != nil:
			return sites, fmt.Errorf("reading the sites of a decision log: %w", err)
		}
	}
}

// siteOf is the site that one line describes.
func siteOf(line []byte) (triage.Site, bool) {
	if !bytes.Contains(line, []byte(`"line"`)) {
		return triage.Site{}, false
	}
	var r siteRecord
	if json.Unmarshal(line, &r) != nil || r.Line <= 0 {
		return triage.Site{}, false
	}
	id := r.Site
	if id == "" {
		id = r.Stretched
	}
	s := SiteOf(id)
	if s.File == "" || !utf8.ValidString(id) || len(id) > maxID {
		return triage.Site{}, false
	}
	s.Line, s.Test = r.Line, r.Test
	if s.Text = r.Text; len(s.Text) > maxText {
		s.Text = strings.ToValidUTF8(s.Text[:maxText], "")
	}
	return s, true
}
