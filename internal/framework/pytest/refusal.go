package pytest

import (
	"bytes"
	"path/filepath"
	"strings"
)

// refusal is why pytest did not start: options that it does not know, a
// configuration file that it cannot read, or a conftest that cannot be imported.
// It is the last line where none of these is to be seen. Paths are relative to
// the tree.
func refusal(out []byte, tree string) string {
	why, at := "", ""
	for line := range bytes.Lines(out) {
		s := strings.TrimSpace(reANSI.ReplaceAllString(string(line), ""))
		switch _, told, parser := strings.Cut(s, ": error: "); {
		case strings.HasPrefix(s, "ImportError while loading conftest "):
			at = strings.TrimSuffix(s, ".")
		case strings.HasPrefix(s, "E   ") && at != "" && why == "":
			why = at + ": " + strings.TrimSpace(strings.TrimPrefix(s, "E   "))
		case parser:
			why = told
		case strings.HasPrefix(s, "inifile: ") && why != "":
			why += " (" + strings.TrimPrefix(s, "inifile: ") + ")"
		case strings.HasPrefix(s, "ERROR: ") && !strings.HasPrefix(s, "ERROR: usage: ") && why == "":
			why = strings.TrimPrefix(s, "ERROR: ")
		}
	}
	if why == "" {
		why = lastLine(out)
	}
	if tree != "" {
		why = strings.ReplaceAll(why, tree+string(filepath.Separator), "")
	}
	return truncate(strings.ToValidUTF8(why, "\uFFFD"), 400)
}
