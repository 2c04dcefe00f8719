#!/usr/bin/env bash
# Finds the binary that host/action.yml runs, and gives its path as the output
# "path". In this order:
#   1. TRIAGEBOT_BINARY, a file of the user's; its checksum must be known
#   2. the release's binary, when this is a release: SHA256SUMS and RELEASE (the
#      address of its files) stand beside this script, written by the release
#   3. a build of the source beside this script, when Go is there
# A binary with another checksum is never run, and nothing else is tried then.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/triagebot.XXXXXX")

fail() {
  echo "::error title=triagebot::$*"
  exit 2
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows ;;
*) os=$(uname -s) ;;
esac
case ${RUNNER_ARCH:-$(uname -m)} in
X64 | x86_64 | amd64) arch=amd64 ;;
ARM64 | aarch64 | arm64) arch=arm64 ;;
*) arch=${RUNNER_ARCH:-$(uname -m)} ;;
esac
exe=
[ "$os" != windows ] || exe=.exe
name=triagebot_${os}_${arch}$exe

sum() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1
}

# wanted is the checksum that the release has for a file name, or nothing.
wanted() {
  [ -f "$here/SHA256SUMS" ] || return 0
  awk -v name="$1" '$2 == name { print $1 }' "$here/SHA256SUMS"
}

verify() { # FILE SHA256
  local got
  got=$(sum "$1")
  [ "$got" = "$2" ] || fail "checking $name: its SHA-256 is $got, not $2; it is not run"
}

done_with() {
  chmod +x "$1"
  echo "path=$1" >>"$GITHUB_OUTPUT"
  exit 0
}

if [ -n "${TRIAGEBOT_BINARY:-}" ]; then
  [ -f "$TRIAGEBOT_BINARY" ] || fail "opening the input binary: there is no file $TRIAGEBOT_BINARY"
  want=${TRIAGEBOT_SHA256:-$(wanted "$name")}
  [ -n "$want" ] || fail "checking the input binary: give its SHA-256 in the input sha256"
  # A copy, so that what was checked is what runs.
  cp "$TRIAGEBOT_BINARY" "$work/$name"
  verify "$work/$name" "$want"
  done_with "$work/$name"
fi

want=$(wanted "$name")
if [ -n "$want" ]; then
  url=$(cat "$here/RELEASE")/$name
  if curl -fsSL --retry 3 --max-time 120 -o "$work/$name" "$url"; then
    verify "$work/$name" "$want"
    done_with "$work/$name"
  fi
  echo "::warning title=triagebot::getting $url failed; building from source instead"
fi

command -v go >/dev/null ||
  fail "finding triagebot for $os/$arch: there is no released binary to be had and no Go to build it with; add actions/setup-go before this step, give the input binary, or use the container action"
# The user's own Go settings, those of "go env -w" too, are about the user's code
# and not this build; only where modules come from is kept.
(cd "$here/.." && export GOPROXY GOSUMDB GONOSUMDB GONOPROXY && GOPROXY=$(go env GOPROXY) GOSUMDB=$(go env GOSUMDB) &&
  GONOSUMDB=$(go env GONOSUMDB) GONOPROXY=$(go env GONOPROXY) &&
  CGO_ENABLED=0 GOENV=off GOFLAGS='' GOWORK=off GOOS='' GOARCH='' \
  go build -trimpath -buildvcs=false -o "$work/$name" ./cmd/triagebot) ||
  fail "building triagebot: see the lines above"
done_with "$work/$name"
