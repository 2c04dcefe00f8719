package proc

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// allowed are the variables that a tree may see, besides those of allowedPrefixes.
// Each is needed to find a tool, a cache or a locale, or changes how the tests
// of a user's own run behave.
var allowed = strings.Fields(`
	PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR CI
	GOCACHE GOCACHEPROG GOMODCACHE GOPATH GOROOT GOBIN GOENV GOTMPDIR GOWORK GOFLAGS GO111MODULE
	GOPROXY GONOPROXY GONOSUMDB GOPRIVATE GOSUMDB GOINSECURE GOVCS
	GOTOOLCHAIN GOEXPERIMENT GODEBUG GOFIPS140 GOOS GOARCH GOAMD64 GOARM GOARM64 GO386
	GOMAXPROCS GOGC GOMEMLIMIT GOTRACEBACK GORACE
	CC CXX FC AR LD AS PKG_CONFIG LD_LIBRARY_PATH DYLD_LIBRARY_PATH
	VIRTUAL_ENV PYENV_VERSION PYTHONUTF8 UV_CACHE_DIR UV_PYTHON UV_INDEX_URL UV_DEFAULT_INDEX PIP_CACHE_DIR PIP_INDEX_URL PIP_CONFIG_FILE POETRY_CACHE_DIR
	NVM_DIR NODE_ENV NODE_EXTRA_CA_CERTS npm_config_cache npm_config_registry NPM_CONFIG_USERCONFIG YARN_CACHE_FOLDER COREPACK_HOME PNPM_HOME
	XDG_CACHE_HOME SSL_CERT_FILE SSL_CERT_DIR
	HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
	SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA
	PROGRAMFILES PROGRAMDATA NUMBER_OF_PROCESSORS`)

var allowedPrefixes = []string{"LC_", "CGO_", "PKG_CONFIG_"}

// Denied even if a list or a pattern above or of the caller would let them
// through; only a caller who spells the whole name gets them.
var (
	deniedPrefixes = []string{"GITHUB_", "ACTIONS_", "INPUT_", "RUNNER_"}
	deniedParts    = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"}
	deniedSuffixes = []string{"_KEY", "_PAT"}
)

// CleanEnv picks from environ (as [os.Environ] gives it) the variables that a
// test may see: an explicit list of what tools and locales need. extra adds
// names; one that ends in "*" adds every name with that prefix. What looks like
// a secret or belongs to the CI runner is passed only when extra spells its
// name in full. The result is sorted, the last of two equal names wins.
func CleanEnv(environ []string, extra ...string) []string {
	kept := map[string]string{}
	for _, kv := range environ {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		if key := fold(name); passes(key, extra) {
			kept[key] = kv
		}
	}
	return slices.Sorted(maps.Values(kept))
}

func passes(name string, extra []string) bool {
	listed := slices.Contains(allowed, name) || hasPrefix(name, allowedPrefixes)
	for _, e := range extra {
		e = fold(e)
		if e == name {
			return true
		}
		if prefix, ok := strings.CutSuffix(e, "*"); ok && strings.HasPrefix(name, prefix) {
			listed = true
		}
	}
	return listed && !Denied(name)
}

// Denied reports whether a variable belongs to the CI runner or is named like a
// secret: a test gets it only when it is asked for by its whole name.
func Denied(name string) bool {
	return hasPrefix(strings.ToUpper(name), deniedPrefixes) || Secret(name)
}

// Secret reports whether a variable is named like a secret: its value must not
// be shown.
func Secret(name string) bool {
	upper := strings.ToUpper(name)
	return slices.ContainsFunc(deniedParts, func(p string) bool { return strings.Contains(upper, p) }) ||
		slices.ContainsFunc(deniedSuffixes, func(s string) bool { return strings.HasSuffix(upper, s) })
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// fold makes names comparable: Windows ignores their case.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}
