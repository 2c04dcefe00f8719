package config

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSplitIsAShellWithoutExpansion(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"go test ./...", []string{"go", "test", "./..."}},
		{"  a\t b  ", []string{"a", "b"}},
		{`a 'b c' "d e" f\ g`, []string{"a", "b c", "d e", "f g"}},
		{`a '' ""`, []string{"a", "", ""}},
		{`a'b'"c"d`, []string{"abcd"}},
		{`a "q\"\\\$\` + "`" + `\x" '\'`, []string{"a", `q"\$` + "`" + `\x`, `\`}},
		{`a '$HOME | x; *' \$x \*`, []string{"a", "$HOME | x; *", "$x", "*"}},
		{"a#b x~y a=b", []string{"a#b", "x~y", "a=b"}},
		{`\A=1 x`, []string{"A=1", "x"}},
		{"go test -run ^TestÄ日$", nil},
		{"a $B", nil}, {"a `b`", nil}, {`a "$B"`, nil}, {"a | b", nil}, {"a && b", nil}, {"a; b", nil}, {"a > b", nil}, {"a < b", nil},
		{"(a)", nil}, {"a {b,c}", nil}, {"a *", nil}, {"a ?", nil}, {"a [b]", nil}, {"~/a", nil}, {"a #b", nil}, {"a\nb", nil},
		{"A=1 b", nil}, {"'a", nil}, {`"a`, nil}, {`a\`, nil}, {"\"a\\\nb\"", nil}, {"", nil}, {"  ", nil},
	} {
		got, err := Split(c.line)
		if (err == nil) != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v; want %q", c.line, got, err, c.want)
		}
	}
}

func TestSplitSaysHowToWriteIt(t *testing.T) {
	_, err := Split("go test | tee x")
	if want := `'|' is a pipe only to a shell, and there is none: put it in single quotes, or write the command as a list or a script`; err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
}

// FuzzSplit compares with the shell of this machine: what Split accepts, a
// shell splits the same way.
func FuzzSplit(f *testing.F) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("there is no sh to compare with")
	}
	for _, s := range []string{"a b", "a 'b c'", `a "b\"c"`, `a\ b`, "a ''", "'$x'", `"\a"`, `a\`, "é 日", "~", "a~ b#", "!a", "A=1 b", "a=b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Split(line)
		if err != nil || strings.Contains(line, "\x00") || len(line) > 1000 {
			return
		}
		out, err := exec.Command(sh, "-c", `printf '%s\0' `+line).Output()
		if err != nil {
			t.Fatalf("%q: Split accepts it, sh does not: %v", line, err)
		}
		if want := strings.Join(words, "\x00") + "\x00"; string(out) != want {
			t.Fatalf("%q: sh says %q, Split %q", line, out, want)
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add(whole)
	for _, s := range []string{"", "a: &x [*x]", "suites:\n - name: a\n   setup: [[a]]\n", "? a\n: b", "a: |\n  b\n", "- - - a", "a: {b: [c, {d: e}]}", "\ufeffseed: 1", "lag: !!x y", "<<: *a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		defer func() {
			if d := time.Since(start); d > 5*time.Second {
				t.Fatalf("%d bytes took %v", len(text), d)
			}
		}()
		c, err := Load(strings.NewReader(text), "f.yml")
		if err != nil {
			if s := err.Error(); !strings.HasPrefix(s, "f.yml:") || strings.Contains(s, "\n") {
				t.Fatalf("the error is not located, or not one line: %q", s)
			}
			return
		}
		for _, s := range c.Suites {
			if s.Name == "" || s.Dir == "" || strings.HasPrefix(s.Dir, "/") || strings.HasPrefix(s.Dir, "..") {
				t.Fatalf("suite %+v", s)
			}
		}
	})
}
