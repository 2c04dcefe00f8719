package gotest

import (
	"bytes"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// verboseLog is about n bytes of a verbose log of passing tests with one red
// package at its end.
func verboseLog(tb testing.TB, n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		name := "TestThing" + strconv.Itoa(i)
		b.WriteString("=== RUN   " + name + "\n    thing_test.go:41: connected to 127.0.0.1:5432, waiting for the queue to drain\n")
		b.WriteString("2024/05/01 12:00:00 INFO worker started id=7 queue=default retries=3 {\"level\":\"info\"}\n")
		b.WriteString(strings.Repeat("some output of the program under test, as programs print it all day long\n", 6))
		b.WriteString("--- PASS: " + name + " (0.01s)\n")
		if i%100 == 99 {
			b.WriteString("PASS\nok  \texample.com/big/p" + strconv.Itoa(i) + "\t1.20s\n")
		}
	}
	b.Write(readCapture(tb, "verbose.log"))
	return b.Bytes()
}

func BenchmarkReadLog(b *testing.B) {
	for _, c := range []struct {
		name string
		log  []byte
	}{
		{"verbose", verboseLog(b, 16<<20)},
		{"github", asGitHubLog(verboseLog(b, 16<<20))},
		{"red", bytes.Repeat(readCapture(b, "plain.log"), 100)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.log)))
			b.ReportAllocs()
			for b.Loop() {
				if fs, err := ReadLog(bytes.NewReader(c.log), Options{}); err != nil || len(fs) < 30 {
					b.Fatalf("got %d failures, error %v, want at least 30", len(fs), err)
				}
			}
		})
	}
}

func BenchmarkReadJSON(b *testing.B) {
	data := bytes.Repeat(readCapture(b, "events.json"), 100)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := ReadJSON(bytes.NewReader(data), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadJUnit(b *testing.B) {
	n := int64(16 << 20)
	b.SetBytes(n)
	for b.Loop() {
		if _, err := ReadJUnit(bigJUnit(n), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// repeated streams head, then body as often as it takes to reach n bytes, then foot.
func repeated(head, body, foot string, n int64) io.Reader {
	body = strings.Repeat(body, 1+(64<<10)/len(body))
	pos := int64(0)
	loop := readerFunc(func(p []byte) (int, error) {
		at := int(pos % int64(len(body)))
		if pos >= n && at == 0 {
			return 0, io.EOF
		}
		c := copy(p, body[at:])
		pos += int64(c)
		return c, nil
	})
	return io.MultiReader(strings.NewReader(head), loop, strings.NewReader(foot))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func bigJUnit(n int64) io.Reader {
	body := `<testcase classname="example.com/big" name="TestOK" time="0.1"><system-out>some output of the program</system-out></testcase>` + "\n"
	red := `<testcase classname="example.com/big" name="TestRed"><failure message="Failed">    x_test.go:3: boom</failure></testcase>`
	return repeated(`<testsuites><testsuite name="example.com/big">`, body, red+`</testsuite></testsuites>`, n)
}

// TestMemoryIsConstant reads streams far larger than the memory they may use.
func TestMemoryIsConstant(t *testing.T) {
	const size, limit = 32 << 20, 8 << 20
	for name, c := range map[string]struct {
		r    io.Reader
		read readFunc
	}{
		"junit": {bigJUnit(size / 4), ReadJUnit},
		"log": {repeated("", "=== RUN   TestA\nsome output that is printed again and again\n--- PASS: TestA (0.00s)\n",
			"--- FAIL: TestRed (0.00s)\n    x_test.go:3: boom\nFAIL\nFAIL\texample.com/big\t0.1s\n", size), ReadLog},
		"one test": {repeated("=== RUN   TestA\n", "some output that is printed again and again\n",
			"    x_test.go:3: boom\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/big\t0.1s\n", size), ReadLog},
		"one line": {repeated("", "no newline ", "\n--- FAIL: TestA (0.00s)\n    x_test.go:3: boom\nFAIL\nFAIL\texample.com/big\t0.1s\n", size), ReadLog},
		"json": {repeated("", `{"Action":"output","Package":"example.com/big","Test":"TestA","Output":"a line of output\n"}`+"\n",
			`{"Action":"fail","Package":"example.com/big","Test":"TestA"}`+"\n"+`{"Action":"fail","Package":"example.com/big"}`+"\n", size/8), ReadJSON},
	} {
		t.Run(name, func(t *testing.T) {
			peak := uint64(0)
			n := 0
			base := heap()
			counted := readerFunc(func(p []byte) (int, error) {
				if n++; n%64 == 0 {
					peak = max(peak, heap())
				}
				return c.r.Read(p)
			})
			fs, err := c.read(counted, Options{})
			if err != nil || len(fs) != 1 {
				t.Fatalf("got %d failures and error %v, want one failure", len(fs), err)
			}
			if peak > base+limit {
				t.Errorf("heap grew by %d KB, want at most %d KB", (peak-base)>>10, limit>>10)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
