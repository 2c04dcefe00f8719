#!/usr/bin/env bash
# Builds the files of a release into DIR: one static binary for each system, what
# each is made of (CycloneDX), and SHA256SUMS. The same source gives the same bytes,
# whoever builds and wherever: no paths, no times, no revision are in them.
#
#   build.sh VERSION DIR
set -euo pipefail
version=$1 dir=$2
# The compiler is an input too: release with the Go of the Dockerfile.
sbom=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0

[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "build: $version is no version like v1.2.3" >&2; exit 2; }
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cd "$(dirname "$0")/.."
[ -z "$(ls -A "$dir")" ] || { echo "build: $dir is not empty" >&2; exit 2; }

for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os=${target%/*} arch=${target#*/} exe=
  [ "$os" != windows ] || exe=.exe
  file=triagebot_${os}_$arch$exe
  CGO_ENABLED=0 GOFLAGS='' GOWORK=off GOOS=$os GOARCH=$arch GOAMD64=v1 GOARM64=v8.0 \
    go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" \
    -o "$dir/$file" ./cmd/triagebot
  # The tool stamps the time, which would make every build differ.
  chmod +x "$dir/$file"
  GOFLAGS=-trimpath go run "$sbom" bin -json -noserial -version "$version" "$dir/$file" |
    grep -vE '^ *"timestamp": ' >"$dir/$file.cdx.json"
done
(cd "$dir" && sha256sum -- * >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
