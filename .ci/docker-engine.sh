#!/usr/bin/env bash
# Starts a Docker engine of our own, on a socket of its own, and fills it with
# local stand-ins for the base images of the Dockerfile, for machines that have
# no engine and reach no image registry. Needs root, and Debian's packages.
#
#   docker-engine.sh start DIR   prints DOCKER_HOST=unix://DIR/docker.sock
#   docker-engine.sh stop DIR
#
# DIR keeps the images for the next time. The stand-ins are Debian from this
# machine's own apt mirror, this machine's Go and this machine's Node.
set -euo pipefail
dir=$2
root=$(cd "$(dirname "$0")/.." && pwd)
export DEBIAN_FRONTEND=noninteractive DOCKER_HOST=unix://$dir/docker.sock

say() { echo "docker-engine: $*" >&2; }

# mirror is where apt gets Debian itself from on this machine, in either format
# of its sources.
mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -v '^ *#' | grep -hoE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' '
}

# image is the base image of the Dockerfile whose name begins so.
image() { sed -nE "s/^FROM ($1:[^ ]+).*/\1/p" "$root/Dockerfile" | head -n 1; }

# has IMAGE WHAT: is the stand-in there, and made of this?
has() { [ "$(docker image inspect --format '{{index .Config.Labels "stand-in"}}' "$1" 2>/dev/null)" = "$2" ]; }

packages() {
  local missing=()
  for p in docker.io iptables debootstrap; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
  done
  [ ${#missing[@]} = 0 ] && return
  say "installing ${missing[*]}"
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

engine() {
  docker info >/dev/null 2>&1 && return
  mkdir -p "$dir/data" "$dir/exec"
  rm -f "$dir/dockerd.pid"
  # The package may have started an engine of the system; ours is apart from it.
  setsid dockerd -H "$DOCKER_HOST" --data-root "$dir/data" --exec-root "$dir/exec" \
    --pidfile "$dir/dockerd.pid" >"$dir/dockerd.log" 2>&1 </dev/null &
  for _ in $(seq 120); do
    docker info >/dev/null 2>&1 && return
    sleep 0.25
  done
  say "dockerd does not answer:"
  tail -n 5 "$dir/dockerd.log" >&2
  return 1
}

base_debian() {
  has "$1" debian && return
  say "making a stand-in for $1"
  local rootfs
  rootfs=$(mktemp -d "$dir/rootfs.XXXX")
  debootstrap --variant=minbase "$(sed -E 's/.*:([a-z]+).*/\1/' <<<"$1")" "$rootfs" "$(mirror)" >"$dir/debootstrap.log"
  rm -rf "$rootfs"/var/cache/apt/archives/*.deb "$rootfs"/var/lib/apt/lists/*
  tar -C "$rootfs" -c . | docker import --change 'CMD ["bash"]' --change 'LABEL stand-in=debian' - "$1" >/dev/null
  rm -rf "$rootfs"
}

# base_golang has the certificates of this machine too: module downloads may pass a
# gateway of its own. They end in the stand-in only, never in a released image.
base_golang() {
  has "$1" "$(go env GOVERSION)" && return
  say "making a stand-in for $1 of $(go env GOVERSION)"
  local ctx
  ctx=$(mktemp -d "$dir/golang.XXXX")
  tar -C "$(dirname "$(go env GOROOT)")" -cf "$ctx/go.tar" "$(basename "$(go env GOROOT)")"
  cp /etc/ssl/certs/ca-certificates.crt "$ctx/ca.crt"
  cat >"$ctx/Dockerfile" <<D
FROM $(image debian)
LABEL stand-in=$(go env GOVERSION)
COPY ca.crt /etc/ssl/certs/ca-certificates.crt
ADD go.tar /usr/local/
ENV GOTOOLCHAIN=local GOPATH=/go GOPROXY=$(go env GOPROXY) GONOSUMDB=$(go env GONOSUMDB) PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /go
D
  docker build -q -t "$1" "$ctx" >/dev/null 2>"$ctx.log" || { cat "$ctx.log" >&2; return 1; }
  rm -rf "$ctx" "$ctx.log"
}

base_node() {
  local bin ctx modules
  bin=$(readlink -f "$(command -v node)")
  has "$1" "$("$bin" --version)" && return
  modules=$(npm root -g)
  say "making a stand-in for $1 of $("$bin" --version)"
  ctx=$(mktemp -d "$dir/node.XXXX")
  mkdir -p "$ctx/local/bin" "$ctx/local/lib/node_modules"
  cp "$bin" "$ctx/local/bin/node"
  cp -r "$modules/npm" "$ctx/local/lib/node_modules/npm"
  printf 'FROM %s\nLABEL stand-in=%s\nCOPY local /usr/local\n' "$(image debian)" "$("$bin" --version)" >"$ctx/Dockerfile"
  docker build -q -t "$1" "$ctx" >/dev/null 2>"$ctx.log" || { cat "$ctx.log" >&2; return 1; }
  rm -rf "$ctx" "$ctx.log"
}

case $1 in
start)
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd)
  export DOCKER_HOST=unix://$dir/docker.sock
  docker buildx version >/dev/null 2>&1 || export DOCKER_BUILDKIT=0
  packages
  engine
  base_debian "$(image debian)"
  base_golang "$(image golang)"
  base_node "$(image node)"
  echo "DOCKER_HOST=$DOCKER_HOST"
  ;;
stop)
  if [ -s "$dir/dockerd.pid" ]; then
    pid=$(cat "$dir/dockerd.pid")
    kill "$pid"
    for _ in $(seq 120); do kill -0 "$pid" 2>/dev/null || break; sleep 0.25; done
  fi
  ;;
*)
  say "start or stop, not $1"
  exit 2
  ;;
esac
