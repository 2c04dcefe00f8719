package proc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCaptureKeepsEverythingUpToItsLimit(t *testing.T) {
	for size := range 40 {
		c := newCapture(32)
		text := strings.Repeat("abcdefghij", 4)[:size]
		for _, b := range []byte(text) {
			c.add([]byte{b})
		}
		got, truncated := c.bytes()
		if truncated != (size > 32) {
			t.Errorf("size %d: truncated is %v", size, truncated)
		}
		if !truncated && string(got) != text {
			t.Errorf("size %d: got %q", size, got)
		}
		if truncated {
			want := fmt.Sprintf("%s\n[triagebot: %d bytes of output dropped here]\n%s", text[:16], size-32, text[size-16:])
			if string(got) != want {
				t.Errorf("size %d: got %q, want %q", size, got, want)
			}
		}
	}
}

func TestCaptureNeverCutsARune(t *testing.T) {
	text := strings.Repeat("aé世🙂", 50)
	for limit := 1; limit < 80; limit++ {
		c := newCapture(limit)
		c.add([]byte(text))
		if got, _ := c.bytes(); !utf8.Valid(got) {
			t.Errorf("limit %d: got %q", limit, got)
		}
	}
}

func TestCaptureKeepsBytesThatAreNoText(t *testing.T) {
	raw := bytes.Repeat([]byte{0x80}, 100)
	c := newCapture(40)
	c.add(raw)
	got, _ := c.bytes()
	if n := bytes.Count(got, []byte{0x80}); n < 40-2*(utf8.UTFMax-1) {
		t.Errorf("kept %d bytes of 40", n)
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("hello, world"), 5, 3)
	f.Add([]byte("é世🙂é世🙂"), 7, 1)
	f.Add([]byte{0xff, 0x80, 0xe4}, 2, 2)
	f.Fuzz(func(t *testing.T, data []byte, limit, step int) {
		if limit < 1 || limit > 1<<16 || step < 1 {
			t.Skip("out of range")
		}
		c := newCapture(limit)
		for rest := data; len(rest) > 0; {
			n := min(step, len(rest))
			c.add(rest[:n])
			rest = rest[n:]
		}
		if len(c.head)+len(c.ring) > limit {
			t.Fatalf("holds %d bytes, limit %d", len(c.head)+len(c.ring), limit)
		}
		got, truncated := c.bytes()
		if truncated != (len(data) > limit) {
			t.Fatalf("truncated is %v for %d of %d", truncated, len(data), limit)
		}
		if !truncated && !bytes.Equal(got, data) {
			t.Fatalf("got %q, want %q", got, data)
		}
		if truncated && utf8.Valid(data) && !utf8.Valid(got) {
			t.Fatalf("cut a rune: %q", got)
		}
	})
}

func TestCommandLineIsReadableAndBounded(t *testing.T) {
	for name, tc := range map[string]struct{ raw, want string }{
		"arguments":     {"go\x00test\x00./...\x00", "go test ./..."},
		"not text":      {"a\xff\x00b", "a? b"},
		"long":          {strings.Repeat("x", 300), strings.Repeat("x", 200) + "…"},
		"cut in a rune": {strings.Repeat("x", 199) + "世", strings.Repeat("x", 199) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := commandLine(tc.raw); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
