package report

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/triagebot/triagebot/internal/triage"
)

func TestDecodingAndEncodingAgainGivesTheSameBytes(t *testing.T) {
	for name, build := range fixtures {
		t.Run(name, func(t *testing.T) {
			first := encoded(t, build())
			r, err := Decode(bytes.NewReader(first))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(first), string(encoded(t, r))); diff != "" {
				t.Errorf("second encoding differs (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(Markdown(build(), Options{}), Markdown(r, Options{})); diff != "" {
				t.Errorf("the page of the decoded report differs:\n%s", diff)
			}
		})
	}
}

func TestEncodeMendsTextThatIsNotUTF8(t *testing.T) {
	r := regression()
	r.Verdicts[0].Settle = "a\xff\\ufffd \ufffd\"\\"
	r.Trials[0].Failure.Excerpt = strings.Repeat("\xff", 5000)
	r.Trials[1].Output = strings.Repeat("日本", 3000)
	first := encoded(t, r)
	got, err := Decode(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if want := "a\ufffd\\ufffd \ufffd\"\\"; got.Verdicts[0].Settle != want {
		t.Errorf("settle = %q, want %q", got.Verdicts[0].Settle, want)
	}
	if !bytes.Equal(first, encoded(t, got)) {
		t.Error("second encoding differs")
	}
}

func TestEncodeDoesNotChangeTheReportItIsGiven(t *testing.T) {
	r := regression()
	long := strings.Repeat("x", 10_000)
	r.Trials[0].Failure.Excerpt, r.Trials[0].Output = long, long
	encoded(t, r)
	if r.Trials[0].Failure.Excerpt != long || r.Trials[0].Output != long {
		t.Error("the caller's excerpts were cut")
	}
}

func TestEncodeWritesEmptyListsNotNull(t *testing.T) {
	got := string(encoded(t, triage.Report{Schema: triage.Schema, Check: triage.Check{Source: "run"}}))
	if strings.Contains(got, "null") {
		t.Errorf("null in %s", got)
	}
	if _, err := Decode(strings.NewReader(got)); err != nil {
		t.Error(err)
	}
}

func TestEncodeSaysWhichNumberJSONCannotHold(t *testing.T) {
	r := regression()
	r.Evidence[0].Comparisons[0].E = math.Inf(1)
	err := Encode(&bytes.Buffer{}, r)
	if err == nil || !strings.Contains(err.Error(), "evidence[0].comparisons[0].e") {
		t.Errorf("error = %v, want one that names the place", err)
	}
}

// big is a report of n tests with forty trials each and full excerpts.
func big(n int) triage.Report {
	b := newBuilder()
	for i := range n {
		t := b.red(goTest("big", fmt.Sprintf("TestBig%03d", i)), "got 1, want 2", strings.Repeat("y", 4096))
		b.both(t, plainArm, strings.Repeat("F", 20), strings.Repeat("F", 20))
		b.verdict(t, triage.BrokenOnBase, wrong(0.01))
	}
	for i := range b.r.Trials {
		b.r.Trials[i].Output = strings.Repeat("line of output\n", 1000)
		b.r.Trials[i].Failure.Excerpt = strings.Repeat("z", 6000)
		for range 50 {
			b.r.Trials[i].Decisions = append(b.r.Trials[i].Decisions, triage.Decision{Site: "p/q.go:f:call:1", Hit: 1, MS: 300})
		}
	}
	return b.done()
}

func TestTwentyTestsWithFortyTrialsFit(t *testing.T) {
	data := encoded(t, big(20))
	r, err := Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Trials); n != 800 {
		t.Errorf("%d trials, want 800", n)
	}
	if got := len(r.Trials[0].Output); got < 1000 {
		t.Errorf("only %d bytes of output are kept", got)
	}
	if !bytes.Equal(data, encoded(t, r)) {
		t.Error("second encoding differs")
	}
}

func TestExcerptsShrinkUntilTheReportFits(t *testing.T) {
	data := encoded(t, big(60))
	r, err := Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got := len(r.Trials[0].Output); got > 1024 {
		t.Errorf("%d bytes of output are kept, want at most 1024", got)
	}
}

func TestReportThatCannotFitIsAnError(t *testing.T) {
	r := regression()
	r.Warnings = []string{strings.Repeat("w", MaxBytes)}
	if err := Encode(&bytes.Buffer{}, r); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error = %v, want ErrTooLarge", err)
	}
}

func TestCutKeepsBothEndsAndWholeRunes(t *testing.T) {
	s := "begin " + strings.Repeat("é日", 500) + " end"
	for limit := range 700 {
		got := cut(s, limit)
		if len(got) > limit {
			t.Fatalf("cut to %d: %d bytes", limit, len(got))
		}
		if strings.ContainsRune(got, '\ufffd') || cut(got, limit) != got {
			t.Fatalf("cut to %d: half a rune, or not stable: %q", limit, got)
		}
		if limit > 200 && (!strings.HasPrefix(got, "begin") || !strings.HasSuffix(got, " end")) {
			t.Fatalf("cut to %d lost an end: %q", limit, got)
		}
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteErrorsAreReturned(t *testing.T) {
	if err := Encode(brokenWriter{}, regression()); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("Encode: %v", err)
	}
	if err := Terminal(brokenWriter{}, regression(), Options{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("Terminal: %v", err)
	}
}

func BenchmarkDecode(b *testing.B) {
	var data bytes.Buffer
	if err := Encode(&data, big(20)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(data.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(bytes.NewReader(data.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMarkdown(b *testing.B) {
	r := big(20)
	b.ReportAllocs()
	for b.Loop() {
		Markdown(r, Options{})
	}
}
