package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/triagebot/triagebot/internal/triage"
)

func rendered(t *testing.T, r triage.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	tag      = regexp.MustCompile(`<(/?)([a-zA-Z0-9]+)((?:\s+[a-zA-Z0-9-]+="[^"]*")*)\s*(/?)>`)
	attr     = regexp.MustCompile(`([a-zA-Z0-9-]+)="([^"]*)"`)
	void     = map[string]bool{"meta": true, "br": true}
	ourTags  = strings.Fields("html head meta title style body main h1 h2 h3 p div table thead tbody tr th td a code article span svg line rect circle ul li pre details summary footer br")
	ourAttrs = strings.Fields("lang charset name content http-equiv class id href viewBox role aria-label x y x1 x2 y1 y2 cx cy r rx width height")
)

// unsafePage says what an HTML page has that it may not have.
func unsafePage(page string) string {
	if !utf8.ValidString(page) {
		return "not UTF-8"
	}
	body, ok := strings.CutPrefix(page, "<!DOCTYPE html>\n")
	if !ok {
		return "no document type"
	}
	var open []string
	last := 0
	for _, m := range tag.FindAllStringSubmatchIndex(body, -1) {
		if strings.ContainsAny(body[last:m[0]], "<") && open[len(open)-1] != "style" {
			return fmt.Sprintf("a loose < in %q", body[last:m[0]])
		}
		last = m[1]
		closing, name, attrs := body[m[2]:m[3]] != "", body[m[4]:m[5]], body[m[6]:m[7]]
		switch {
		case !contains(ourTags, name):
			return "the element " + name
		case void[name]:
		case closing && (len(open) == 0 || open[len(open)-1] != name):
			return fmt.Sprintf("</%s> within %v", name, open)
		case closing:
			open = open[:len(open)-1]
		default:
			open = append(open, name)
		}
		for _, a := range attr.FindAllStringSubmatch(attrs, -1) {
			if !contains(ourAttrs, a[1]) || a[1] == "href" && !regexp.MustCompile(`^#t[0-9]+$`).MatchString(a[2]) {
				return fmt.Sprintf("the attribute %s=%q", a[1], a[2])
			}
		}
	}
	if len(open) > 0 || strings.Contains(body[last:], "<") {
		return fmt.Sprintf("open at the end: %v, %q", open, body[last:])
	}
	return ""
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func TestEveryHTMLPageIsSafe(t *testing.T) {
	for name, build := range fixtures {
		if bad := unsafePage(rendered(t, build())); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
	}
}

func TestTheHTMLCheckerSeesWhatIsUnsafe(t *testing.T) {
	for _, body := range []string{"<script>x</script>", "<p><b></p>", `<p onclick="x">x</p>`, "<p>", "</p>", `<a href="http://x">x</a>`, "<p>a < b</p>", "<p>\xff</p>", "<p><!-- x --></p>"} {
		if unsafePage("<!DOCTYPE html>\n<body>"+body+"</body>") == "" {
			t.Errorf("%q passes as safe", body)
		}
	}
}

func TestThePolicyAllowsOurStyleSheetAndNothingElse(t *testing.T) {
	page := rendered(t, hostile())
	_, rest, _ := strings.Cut(page, "<style>")
	css, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(css))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil {
		t.Fatal("no policy")
	}
	got := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
	if want := "default-src 'none'; style-src 'sha256-" + hash + "'"; got != want {
		t.Errorf("policy %q, want %q", got, want)
	}
}

func TestHTMLListsTheTrialsOfATest(t *testing.T) {
	page := rendered(t, raceOnBase())
	for _, want := range []string{"24 trials", "doubles, 300 ms", "least delay that fails", "ladder", ">2 ms<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"a", "<script>", "</style>", `" onload="x`, "'", "<!--", "\x00", "\xff", "&lt;", "`", "javascript:x", "</textarea>"} {
		f.Add(s, s)
		f.Add("x", s)
	}
	f.Fuzz(func(t *testing.T, s, more string) {
		var b bytes.Buffer
		if err := HTML(&b, spread(s, more)); err != nil {
			t.Fatal(err)
		}
		if bad := unsafePage(b.String()); bad != "" {
			t.Fatal(bad)
		}
	})
}
