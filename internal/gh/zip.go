package gh

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

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

func (l Limits) orDefault() Limits {
	l.Zip = cmp.Or(l.Zip, 1<<20)
	l.Entry = cmp.Or(l.Entry, 5<<20)
	l.Total = cmp.Or(l.Total, 20<<20)
	l.Ratio = cmp.Or(l.Ratio, 200)
	l.Entries = cmp.Or(l.Entries, 100)
	return l
}

// readZip reads the entries that match one of names. Every entry is looked at
// first: a zip that has one that we would not write was not written by us.
func readZip(data []byte, names []string, limits Limits) (map[string][]byte, error) {
	if int64(len(data)) > limits.Zip {
		return nil, fmt.Errorf("the zip has more than %d bytes: %w", limits.Zip, ErrArtifact)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("it is no zip: %s: %w", oneLine(err.Error()), ErrArtifact)
	}
	if len(z.File) > limits.Entries {
		return nil, fmt.Errorf("it has %d entries, at most %d are read: %w", len(z.File), limits.Entries, ErrArtifact)
	}
	if err := checkEntries(z.File, limits); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, f := range z.File {
		want, err := matches(f.Name, names)
		if err != nil {
			return nil, err
		}
		if !want || f.Mode().IsDir() {
			continue
		}
		content, err := readEntry(f, limits.Entry)
		if err != nil {
			return nil, fmt.Errorf("entry %q: %s: %w", oneLine(f.Name), oneLine(err.Error()), ErrArtifact)
		}
		out[f.Name] = content
	}
	return out, nil
}

func matches(name string, patterns []string) (bool, error) {
	for _, p := range patterns {
		ok, err := path.Match(p, name)
		if err != nil {
			return false, fmt.Errorf("matching %q: %w", p, err)
		}
		if ok {
			return true, nil
		}
	}
	return false, nil
}

// checkEntries goes by what the zip says of its entries: one that holds more
// than it says is an error of the zip package when it is read.
func checkEntries(files []*zip.File, limits Limits) error {
	seen := map[string]bool{}
	var total uint64
	for _, f := range files {
		why := checkName(f.Name, limits.Nested)
		size, packed := f.UncompressedSize64, f.CompressedSize64
		switch {
		case why != "":
		case seen[f.Name]:
			why = "its name is there twice"
		case f.Mode()&fs.ModeType&^fs.ModeDir != 0:
			why = "it is a link or a special file"
		case f.Mode().IsDir() != strings.HasSuffix(f.Name, "/"):
			why = "it is a folder and a file"
		case f.Flags&1 != 0:
			why = "it is encrypted"
		case size > uint64(limits.Entry):
			why = fmt.Sprintf("it unpacks to %d bytes, at most %d are read", size, limits.Entry)
		case size/uint64(limits.Ratio) > packed:
			why = fmt.Sprintf("it unpacks to more than %d times its size", limits.Ratio)
		}
		if total += min(size, uint64(limits.Entry)); why == "" && total > uint64(limits.Total) {
			why = fmt.Sprintf("all together unpack to more than %d bytes", limits.Total)
		}
		if why != "" {
			return fmt.Errorf("entry %q: %s: %w", oneLine(f.Name), why, ErrArtifact)
		}
		seen[f.Name] = true
	}
	return nil
}

// maxName is the longest name of an entry, in bytes.
const maxName = 255

// checkName says what is wrong with a name, "" for nothing.
func checkName(name string, nested bool) string {
	bare := strings.TrimSuffix(name, "/")
	switch {
	case bare == "" || len(name) > maxName || !utf8.ValidString(name):
		return "its name is empty, too long or no text"
	case strings.ContainsAny(name, `\:`) || strings.ContainsFunc(name, unicode.IsControl):
		return "its name has characters that we do not write"
	case path.IsAbs(name) || path.Clean(bare) != bare || bare == "." || bare == ".." || strings.HasPrefix(bare, "../"):
		return "its name leads out of the zip"
	case !nested && strings.Contains(name, "/"):
		return "it is in a folder"
	}
	return ""
}

// readEntry reads at most limit bytes, whatever the entry says of itself; more
// is an error.
func readEntry(f *zip.File, limit int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, errors.New("it unpacks to more than it says or may")
	}
	return data, nil
}
