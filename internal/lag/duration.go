package lag

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/triagebot/triagebot/internal/triage"
)

// A duration is written out in a source line in the way of its language.
var (
	goDuration = regexp.MustCompile(`(?:(\d+(?:\.\d+)?)\s*\*\s*)?\btime\.(Nanosecond|Microsecond|Millisecond|Second|Minute)\b(?:\s*\*\s*(\d+(?:\.\d+)?))?`)
	goUnitMS   = map[string]float64{"Nanosecond": 1e-6, "Microsecond": 1e-3, "Millisecond": 1, "Second": 1000, "Minute": 60_000}
	// A clock of Python takes seconds: by the name of its argument, or as the
	// first or the last one of a call that waits.
	pythonDuration = regexp.MustCompile(`\b(?:(?:timeout|delay|interval|seconds|deadline)\s*=\s*|(?:sleep|wait|join|timeout|fail_after|move_on_after|Timer|call_later)\(\s*|(?:wait_for|wait)\(.*,\s*)(\d+(?:\.\d*)?|\.\d+)\s*[,)]`)
	// A clock of JavaScript takes milliseconds: as the last argument of a timer,
	// as the argument of something that sleeps, or by name.
	scriptDuration = regexp.MustCompile(`(?:\b(?:setTimeout|setInterval|setImmediate)\(.*,\s*|\b(?:\w*[sS]leep|\w*[dD]elay|\w*[wW]ait|pause|timeout|setTimeout)\(\s*|\b(?:timeout|delay|interval|timeoutMs|ms)\s*[:=]\s*)(\d[\d_]*(?:\.\d+)?)\s*[,)}\s;]`)
)

// durationMS reads the one duration written out in a clock's source line, in
// milliseconds; a line with none or with several says nothing.
func durationMS(clock triage.Site) (float64, bool) {
	switch path.Ext(clock.File) {
	case ".py":
		return onlyNumber(pythonDuration, clock.Text, 1000)
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return onlyNumber(scriptDuration, clock.Text, 1)
	}
	all := goDuration.FindAllStringSubmatch(clock.Text, 2)
	if len(all) != 1 {
		return 0, false
	}
	ms := goUnitMS[all[0][2]]
	for _, factor := range []string{all[0][1], all[0][3]} {
		if n, err := strconv.ParseFloat(factor, 64); err == nil {
			ms *= n
		}
	}
	return ms, ms > 0
}

// onlyNumber is the one number that a pattern finds in a line, times unit.
func onlyNumber(pattern *regexp.Regexp, line string, unit float64) (float64, bool) {
	all := pattern.FindAllStringSubmatch(line+"\n", 2)
	if len(all) != 1 {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(all[0][1], "_", ""), 64)
	return n * unit, err == nil && n > 0
}
