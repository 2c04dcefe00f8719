package proc

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanEnvPassesOnlyWhatIsListed(t *testing.T) {
	environ := []string{
		"PATH=/bin", "HOME=/root", "LC_ALL=C", "GOFLAGS=-mod=mod", "GOPRIVATE=example.com", "CGO_ENABLED=0", "CGO_CFLAGS=-O",
		"PKG_CONFIG_PATH=/p", "CC=gcc", "https_proxy=http://proxy", "TZ=UTC", "XDG_CACHE_HOME=/c", "SSL_CERT_FILE=/f", "CI=true",
		"GITHUB_TOKEN=t", "GITHUB_ENV=/e", "GITHUB_SHA=s", "ACTIONS_RUNTIME_TOKEN=t", "INPUT_X=1", "RUNNER_TEMP=/t",
		"MY_SECRET=s", "DB_PASSWORD=p", "AWS_SECRET_ACCESS_KEY=k", "DEPLOY_KEY=k", "GH_PAT=t",
		"CGO_TOKEN=t", "LC_SECRET=s", "SSH_AUTH_SOCK=/s", "DOCKER_HOST=unix:///s", "LD_PRELOAD=/x.so", "GIT_DIR=/g",
		"PATH=/usr/bin", "broken", "=x", "EMPTY_OK=", "APP_MODE=test", "APP_TOKEN=t",
	}
	base := []string{
		"CC=gcc", "CGO_CFLAGS=-O", "CGO_ENABLED=0", "CI=true", "GOFLAGS=-mod=mod", "GOPRIVATE=example.com", "HOME=/root", "LC_ALL=C",
		"PATH=/usr/bin", "PKG_CONFIG_PATH=/p", "SSL_CERT_FILE=/f", "TZ=UTC", "XDG_CACHE_HOME=/c", "https_proxy=http://proxy",
	}
	for name, tc := range map[string]struct{ extra, more []string }{
		"nothing named":              {nil, nil},
		"a name":                     {[]string{"EMPTY_OK"}, []string{"EMPTY_OK="}},
		"a secret by its full name":  {[]string{"GITHUB_SHA", "APP_TOKEN"}, []string{"APP_TOKEN=t", "GITHUB_SHA=s"}},
		"a pattern, never a secret":  {[]string{"APP_*", "GITHUB_*", "*"}, nil},
		"a name that is not defined": {[]string{"NO_SUCH"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := CleanEnv(environ, tc.extra...)
			for _, kv := range got {
				if key, _, _ := strings.Cut(kv, "="); Denied(key) && !slices.Contains(tc.more, kv) {
					t.Errorf("%q is let through", kv)
				}
			}
			if name == "a pattern, never a secret" {
				if !slices.Contains(got, "APP_MODE=test") || slices.Contains(got, "APP_TOKEN=t") || slices.Contains(got, "GITHUB_SHA=s") {
					t.Errorf("got %q", got)
				}
				return
			}
			want := slices.Sorted(slices.Values(append(slices.Clone(base), tc.more...)))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecretGoesByTheName(t *testing.T) {
	for name, want := range map[string]bool{
		"GITHUB_TOKEN": true, "db_password": true, "DEPLOY_KEY": true, "GH_PAT": true, "GITHUB_SHA": false, "PATH": false, "KEYBOARD": false,
	} {
		if Secret(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
