package main

import (
	"slices"
	"testing"
)

func TestKeptVariablesAreThoseThatTestsDoNotHave(t *testing.T) {
	t.Parallel()
	environ := []string{"A=1", "B=2", "PWD=/x", "TRIAGEBOT_LOCK=/l", "INPUT_LAG=off", "BASH_FUNC_x%%=()", "TRIAGEBOT_KEPT=C D A"}
	if got, want := keptHere(environ, []string{"B=2", "AB=3"}), []string{"A", "C", "D"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOnlyWholeNamesAreOfTheMachine(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"MAIL": true, "MAIL_DRIVER": false, "EDITOR": true, "EDITOR_URL": false, "XDG_CONFIG_HOME": true, "JAVA_HOME_17_X64": true, "DISPLAY_NAME": false, "SSH_KEY_PATH": false,
	} {
		if byTheMachine(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestWordsAreKeptAcrossWrites(t *testing.T) {
	t.Parallel()
	w := wordSet{seen: map[string]bool{}}
	for _, part := range []string{"env.ST", "RICT\n\"A", "B\")\n", "os.Getenv(\"C\")\n"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	for name, want := range map[string]bool{"STRICT": true, "AB": true, "C": true, "ST": false, "A": false} {
		if w.seen[name] != want {
			t.Errorf("%s: %v", name, w.seen[name])
		}
	}
}
