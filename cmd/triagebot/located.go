package main

import (
	"slices"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// recordedReplay begins the command lines of a record.
const recordedReplay = "triagebot replay " + reportFile

// located is the report with command lines that can be typed here: the record
// names its file without a folder, for it is moved about.
func located(r triage.Report, path, repo string) triage.Report {
	r.Verdicts = slices.Clone(r.Verdicts)
	for i, v := range r.Verdicts {
		rest, ok := strings.CutPrefix(v.Reproduce, recordedReplay)
		if !ok {
			continue
		}
		if repo != "." {
			rest += " --repo " + shellWord(repo)
		}
		r.Verdicts[i].Reproduce = "triagebot replay " + shellWord(path) + rest
	}
	return r
}

// shellWord quotes a word for a POSIX shell where it has to be.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./+-=:,@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
