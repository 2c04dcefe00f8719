package gh

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entry is one file of a zip that a test packs.
type entry struct {
	name    string
	content string
	mode    fs.FileMode
	store   bool
}

func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.store {
			h.Method = zip.Store
		}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil && e.content != "" {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAZipGivesTheFilesAskedFor(t *testing.T) {
	data := pack(t, entry{name: "report.json", content: "{}"}, entry{name: "page.html", content: "<p>"}, entry{name: "report-2.json", content: "[]"})
	got, err := readZip(data, []string{"report*.json"}, Limits{}.orDefault())
	want := map[string][]byte{"report.json": []byte("{}"), "report-2.json": []byte("[]")}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if got, err := readZip(data, nil, Limits{}.orDefault()); err != nil || len(got) != 0 {
		t.Errorf("nothing asked for: %v %v", got, err)
	}
	if _, err := readZip(data, []string{"["}, Limits{}.orDefault()); err == nil {
		t.Error("a pattern that is none is taken")
	}
}

func TestFoldersAreReadOnRequestOnly(t *testing.T) {
	data := pack(t, entry{name: "out/", mode: fs.ModeDir | 0o755}, entry{name: "out/report.json", content: "{}"})
	if _, err := readZip(data, []string{"out/*"}, Limits{}.orDefault()); !errors.Is(err, ErrArtifact) {
		t.Errorf("unasked: %v", err)
	}
	got, err := readZip(data, []string{"out/*"}, Limits{Nested: true}.orDefault())
	if err != nil || string(got["out/report.json"]) != "{}" || len(got) != 1 {
		t.Errorf("asked: %v %v", got, err)
	}
}

func TestForgedZipsAreRefusedWhole(t *testing.T) {
	good := entry{name: "report.json", content: "{}"}
	small := Limits{Zip: 1 << 20, Entry: 1 << 16, Total: 1 << 17, Ratio: 50, Entries: 5}
	noise := func(n int) string { // does not pack
		b := make([]byte, n)
		x := uint32(1)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
		return string(b)
	}
	for name, c := range map[string]struct {
		data   []byte
		limits Limits
		want   string
	}{
		"no zip":                 {[]byte("PK is not enough"), small, "no zip"},
		"nothing":                {nil, small, "no zip"},
		"too large":              {make([]byte, 1<<20+1), small, "more than"},
		"a path upwards":         {pack(t, good, entry{name: "../../etc/passwd"}), small, "leads out"},
		"a path upwards, nested": {pack(t, good, entry{name: "a/../../b"}), Limits{Nested: true}, "leads out"},
		"a path upwards, short":  {pack(t, good, entry{name: ".."}), Limits{Nested: true}, "leads out"},
		"an absolute path":       {pack(t, good, entry{name: "/etc/passwd"}), Limits{Nested: true}, "leads out"},
		"a Windows path":         {pack(t, good, entry{name: `..\x`}), Limits{Nested: true}, "characters"},
		"a drive":                {pack(t, good, entry{name: "C:x"}), Limits{Nested: true}, "characters"},
		"a folder in the name":   {pack(t, good, entry{name: "a/report.json"}), small, "in a folder"},
		"dots in the name":       {pack(t, good, entry{name: "a/./b"}), Limits{Nested: true}, "leads out"},
		"a NUL in the name":      {pack(t, good, entry{name: "x\x00.json"}), small, "characters"},
		"a colour in the name":   {pack(t, good, entry{name: "x\x1b[31m"}), small, "characters"},
		"no text in the name":    {pack(t, good, entry{name: "x\xff"}), small, "no text"},
		"no name":                {pack(t, good, entry{name: ""}), small, "empty"},
		"a long name":            {pack(t, good, entry{name: strings.Repeat("x", 300)}), small, "too long"},
		"a link":                 {pack(t, entry{name: "report.json", content: "/proc/self/environ", mode: fs.ModeSymlink | 0o777}), small, "link"},
		"a device":               {pack(t, good, entry{name: "x", mode: fs.ModeDevice | 0o600}), small, "special file"},
		"a pipe":                 {pack(t, good, entry{name: "x", mode: fs.ModeNamedPipe | 0o600}), small, "special file"},
		"a folder without slash": {pack(t, good, entry{name: "x", mode: fs.ModeDir | 0o755}), small, "folder and a file"},
		"a name twice":           {pack(t, good, good), small, "twice"},
		"many entries":           {pack(t, good, entry{name: "1"}, entry{name: "2"}, entry{name: "3"}, entry{name: "4"}, entry{name: "5"}), small, "6 entries"},
		"a bomb by ratio":        {pack(t, entry{name: "report.json", content: strings.Repeat("0", 60_000)}), small, "times its size"},
		"a bomb by size":         {pack(t, entry{name: "report.json", content: noise(1<<16 + 1)}), small, "unpacks to 65537"},
		"a bomb by sum":          {pack(t, entry{name: "a", content: noise(50_000)}, entry{name: "b", content: noise(50_000)}, entry{name: "c", content: noise(50_000)}), small, "all together"},
		"an entry not asked for": {pack(t, good, entry{name: "bomb", content: strings.Repeat("0", 60_000)}), small, "times its size"},
		"an encrypted entry":     {encrypted(pack(t, good)), small, "encrypted"},
		"a size that is a lie":   {lying(t, noise(5000), 100), small, "entry"},
		"a zip that breaks off":  {pack(t, good)[:40], small, "no zip"},
		"content that is broken": {broken(pack(t, entry{name: "report.json", content: noise(500), store: true})), small, "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readZip(c.data, []string{"report.json"}, c.limits.orDefault())
			if !errors.Is(err, ErrArtifact) || !strings.Contains(err.Error(), c.want) || got != nil {
				t.Errorf("%v %v, want %q", got, err, c.want)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x00\x1b") {
				t.Errorf("the error holds control characters: %q", err)
			}
		})
	}
}

// encrypted sets the flag of the first entry in the directory of a zip.
func encrypted(data []byte) []byte {
	at := bytes.Index(data, []byte("PK\x01\x02"))
	data[at+8] |= 1
	return data
}

// lying says in the directory that the first entry unpacks to size bytes.
func lying(t *testing.T, content string, size uint32) []byte {
	data := pack(t, entry{name: "report.json", content: content})
	at := bytes.Index(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+24:], size)
	return data
}

// broken changes a byte of the content.
func broken(data []byte) []byte {
	data[60] ^= 0xff
	return data
}

func TestAllFilesTogetherHaveALimit(t *testing.T) {
	content := strings.Repeat("abcdefgh", 100)
	data := pack(t, entry{name: "a.json", content: content}, entry{name: "b.json", content: content})
	limits := Limits{Total: 1000}.orDefault()
	if _, err := readZip(data, []string{"*.json"}, limits); !errors.Is(err, ErrArtifact) {
		t.Errorf("1,600 bytes where 1,000 may be: %v", err)
	}
	limits = Limits{Total: 1600}.orDefault()
	if got, err := readZip(data, []string{"*.json"}, limits); err != nil || len(got) != 2 {
		t.Errorf("1,600 bytes: %v", err)
	}
}

func FuzzReadZip(f *testing.F) {
	f.Add(pack(f, entry{name: "report.json", content: "{}"}))
	f.Add(pack(f, entry{name: "a/report.json", content: strings.Repeat("x", 5000)}, entry{name: "b", mode: fs.ModeSymlink}))
	f.Add(encrypted(pack(f, entry{name: "report.json", content: "{}"})))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	limits := Limits{Zip: 1 << 16, Entry: 1 << 14, Total: 1 << 15, Entries: 10, Nested: true}.orDefault()
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := readZip(data, []string{"*", "*/*"}, limits)
		if err != nil {
			if !errors.Is(err, ErrArtifact) || files != nil {
				t.Fatalf("%v with %d files", err, len(files))
			}
			return
		}
		var total int
		for name, content := range files {
			if total += len(content); len(content) > 1<<14 || strings.Contains(name, "..") && checkName(name, true) != "" {
				t.Fatalf("%q has %d bytes", name, len(content))
			}
		}
		if total > 1<<15 || len(files) > 10 {
			t.Fatal(fmt.Sprint(len(files), " files of ", total, " bytes"))
		}
	})
}
