package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// rePyproject are the keys of pyproject.toml that ask for packages, as dotted paths.
var rePyproject = regexp.MustCompile(`^(?:project\.(?:optional-)?dependencies|dependency-groups|` +
	`tool\.poetry\.(?:(?:dev-)?dependencies|group\.[^.]+\.dependencies|extras)|` +
	`tool\.pdm\.(?:dev-dependencies|resolution)|tool\.uv\.(?:dev-dependencies|override-dependencies|constraint-dependencies|sources|index)|` +
	`tool\.hatch\.envs\.[^.]+\.(?:extra-)?dependencies|tool\.flit\.metadata\.requires(?:-extra)?|tool\.tox\..*deps|` +
	`tool\.setuptools\.dynamic\.(?:optional-)?dependencies)(?:\.|$)`)

// rePythonKey is the version of Python itself, which poetry keeps among the packages.
var rePythonKey = regexp.MustCompile(`^tool\.poetry\.dependencies\.python$`)

// rePythonVersion is the project's own version, which asks for nothing.
var rePythonVersion = regexp.MustCompile(`(?m)^\s*(?:version|__version__)\s*=.*$`)

// reSetupWord is an argument of setup that asks for packages, and reSetup that with
// what stands before its value.
var (
	reSetupWord = regexp.MustCompile(`\b(?:install_requires|extras_require|tests_require|setup_requires)\b`)
	reSetup     = regexp.MustCompile(reSetupWord.String() + `["']?\s*[=:]\s*`)
)

// pyprojectAsks is the part of a pyproject.toml that asks for packages, and all of
// one that is no TOML.
func pyprojectAsks(text []byte) string {
	var document map[string]any
	if err := toml.Unmarshal(text, &document); err != nil {
		return plainText(text)
	}
	var out []string
	eachValue("", document, func(key string, value any) {
		if rePyproject.MatchString(key) && !rePythonKey.MatchString(key) {
			out = append(out, key+" = "+valueText(value))
		}
	})
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// eachValue visits what is in a table and those below it, by its dotted path.
func eachValue(path string, table map[string]any, visit func(key string, value any)) {
	for key, value := range table {
		if below, ok := value.(map[string]any); ok {
			eachValue(path+key+".", below, visit)
			continue
		}
		visit(path+key, value)
	}
}

// valueText is a value in one form, however it was written.
func valueText(value any) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil { // a number that JSON has not
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(out.String())
}

// trailing takes out the comma that the last element of a list may have.
var trailing = strings.NewReplacer(",]", "]", ",}", "}")

// stringLength is the length of the string literal that the text begins with, in
// bytes; the rest of the line, or of the text, for one without an end.
func stringLength(text []byte) int {
	quote := text[:1]
	if three := bytes.Repeat(quote, 3); bytes.HasPrefix(text, three) {
		return longStringLength(text, three)
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case text[i] == quote[0]:
			return i + 1
		case text[i] == '\n':
			return i
		}
	}
	return len(text)
}

// longStringLength is the same for one in three quotes, which may have one or two
// of them at its end and, in double ones, escaped ones anywhere.
func longStringLength(text, three []byte) int {
	for i := 3; i < len(text); i++ {
		switch {
		case text[i] == '\\' && three[0] == '"':
			i++
		case bytes.HasPrefix(text[i:], three):
			for i += 3; i < len(text) && text[i] == three[0]; {
				i++
			}
			return i
		}
	}
	return len(text)
}

// reOtherEnvironment is a section of a tox.ini for an environment that no test is run in.
var reOtherEnvironment = regexp.MustCompile(`^testenv:(?:docs?|lint|linters?|flake8|ruff|black|isort|pylint|mypy|pyright|format|fmt|style|pre-commit|build|release|publish)$`)

// iniAsks is the part of a setup.cfg or tox.ini that asks for packages.
func iniAsks(text []byte) string {
	var out []string
	section, key := "", ""
	for line := range bytes.Lines(text) {
		s := strings.TrimRight(string(line), "\r\n")
		plain := strings.Join(plainLines([]byte(s)), "")
		switch {
		case plain == "" || plain[0] == ';':
			continue
		case strings.HasPrefix(s, "["):
			section, key = strings.Trim(plain, "[]"), ""
			continue
		case s[0] != ' ' && s[0] != '\t':
			at := strings.IndexAny(plain, "=:")
			if at < 0 {
				continue
			}
			key = strings.TrimSpace(plain[:at])
			plain = strings.TrimSpace(plain[at+1:])
		}
		if iniKey(section, key) && plain != "" {
			out = append(out, section+" "+key+" "+plain)
		}
	}
	return strings.Join(out, "\n")
}

func iniKey(section, key string) bool {
	if reOtherEnvironment.MatchString(section) {
		return false
	}
	switch key {
	case "install_requires", "setup_requires", "tests_require", "extras_require", "requires-dist", "requires_dist", "deps", "dependency_groups":
		return true
	}
	return section == "options.extras_require" || section == "extras"
}

// setupAsks is the part of a setup.py that asks for packages: the literals of its
// arguments, and all of it where one of them is no literal, or is changed later.
func setupAsks(text []byte) string {
	var out []string
	given := reSetup.FindAllIndex(text, -1)
	if len(given) != len(reSetupWord.FindAllIndex(text, -1)) {
		return plainText(rePythonVersion.ReplaceAll(text, nil))
	}
	for _, at := range given {
		value := literal(text[at[1]:])
		if value == "" {
			return plainText(rePythonVersion.ReplaceAll(text, nil))
		}
		out = append(out, value)
	}
	return strings.Join(out, "\n")
}

// literal is the list or dictionary that the text begins with, when it is made of
// strings alone and nothing is done with it; else empty.
func literal(text []byte) string {
	var out strings.Builder
	depth := 0
	for len(text) > 0 {
		switch c := text[0]; {
		case c == '"' || c == '\'':
			n := stringLength(text)
			out.WriteString(`"` + strings.Trim(string(text[:n]), string(c)) + `"`)
			text = text[n:]
			continue
		case c == '#':
			_, text, _ = bytes.Cut(text, []byte("\n"))
			continue
		case strings.IndexByte("[{(", c) >= 0:
			depth++
		case strings.IndexByte("]})", c) >= 0:
			depth--
		case strings.IndexByte(" \t\r\n", c) >= 0:
			text = text[1:]
			continue
		case c != ',' && c != ':' || depth == 0:
			return "" // a name, a call, a sum
		}
		out.WriteByte(text[0])
		text = text[1:]
		if depth == 0 && argumentEnds(text) {
			return trailing.Replace(out.String())
		}
		if depth == 0 {
			return ""
		}
	}
	return ""
}

// argumentEnds reports whether the text goes on after an argument, and not with an
// operator.
func argumentEnds(text []byte) bool {
	for {
		text = bytes.TrimLeft(text, " \t\r\n\\")
		if len(text) == 0 || text[0] != '#' {
			return len(text) == 0 || strings.IndexByte(",)}", text[0]) >= 0
		}
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
}
