#!/usr/bin/env bash
# Makes the commit that a release's tags name, on top of the commit it was built
# from: action.yml names the image by digest, and host/ knows the checksums of the
# binaries and where they are. A tag can be moved; what it held is pinned in it.
# The branch is left as it is. Pushes nothing.
#
#   release-commit.sh VERSION IMAGE@sha256:DIGEST DIST URL
set -euo pipefail
version=$1 image=$2 dist=$3 url=$4
cd "$(dirname "$0")/.."

[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "release-commit: $version is no version like v1.2.3" >&2; exit 2; }
[[ $image =~ ^[a-z0-9./:_-]+@sha256:[0-9a-f]{64}$ ]] || { echo "release-commit: $image does not name an image by digest" >&2; exit 2; }
[ -z "$(git status --porcelain --untracked-files=no)" ] || { echo "release-commit: there are changes that are not committed" >&2; exit 2; }
! git rev-parse -q --verify "refs/tags/$version" >/dev/null || { echo "release-commit: the tag $version is there already" >&2; exit 2; }
grep -qx '  image: Dockerfile' action.yml || { echo "release-commit: action.yml has no line 'image: Dockerfile'" >&2; exit 2; }
(cd "$dist" && sha256sum --check --quiet SHA256SUMS)

git checkout -q --detach
sed -i.bak "s|^  image: Dockerfile\$|  image: docker://$image|" action.yml
rm action.yml.bak
cp "$dist/SHA256SUMS" host/SHA256SUMS
echo "$url" >host/RELEASE
git add -f action.yml host/SHA256SUMS host/RELEASE
git commit -q -m "release: $version" -m "The image by digest, the binaries by checksum."
git tag -a "$version" -m "triagebot $version"
# v1 follows the newest v1.x.y; a pre-release moves nothing.
[[ $version == *-* ]] || git tag -f -a "${version%%.*}" -m "triagebot $version" >/dev/null
