#!/usr/bin/env bash
# Runs an image as the Actions runner runs a container action: its mounts, its
# environment, root, the workspace of another owner, and the Docker socket.
#
#   run-as-action.sh IMAGE WORK [NAME=VALUE...]
#
# WORK/workspace is the checkout. What the action writes is left in
# WORK/_temp/_runner_file_commands (output, summary). NAME=VALUE is an input, or a
# variable of the runner when NAME is in capitals. WORK/event.json is the event, if
# it is there. The exit code is the action's.
set -euo pipefail
image=$1 work=$(cd "$2" && pwd)
shift 2
commands=$work/_temp/_runner_file_commands
mkdir -p "$work"/_temp/{_github_home,_github_workflow} "$commands"
touch "$commands"/{output,summary,env,path,state}
[ ! -f "$work/event.json" ] || cp "$work/event.json" "$work/_temp/_github_workflow/event.json"
# The runner's own account is 1001; the container is root, and git sees a
# repository of somebody else.
chown -R 1001:1001 "$work/workspace" "$work/_temp" 2>/dev/null || true

socket=${DOCKER_HOST:-unix:///var/run/docker.sock}
socket=${socket#unix://}

set -- "$@" \
  HOME=/github/home CI=true GITHUB_ACTIONS=true \
  GITHUB_WORKSPACE=/github/workspace GITHUB_EVENT_PATH=/github/workflow/event.json \
  GITHUB_OUTPUT=/github/file_commands/output GITHUB_STEP_SUMMARY=/github/file_commands/summary \
  GITHUB_ENV=/github/file_commands/env GITHUB_PATH=/github/file_commands/path GITHUB_STATE=/github/file_commands/state \
  RUNNER_TEMP=/github/runner_temp RUNNER_OS=Linux RUNNER_ARCH=X64 RUNNER_TOOL_CACHE=/opt/hostedtoolcache \
  RUNNER_WORKSPACE=/home/runner/work/app
env=()
for pair in "$@"; do
  name=${pair%%=*}
  # The runner makes an input's name upper case and keeps its hyphens.
  case $name in *[a-z]*) pair=INPUT_${name^^}=${pair#*=} ;; esac
  env+=(-e "$pair")
done

exec docker run --rm --workdir /github/workspace "${env[@]}" \
  -v "$socket:/var/run/docker.sock" \
  -v "$work/_temp:/github/runner_temp" \
  -v "$work/_temp/_github_home:/github/home" \
  -v "$work/_temp/_github_workflow:/github/workflow" \
  -v "$commands:/github/file_commands" \
  -v "$work/workspace:/github/workspace" \
  "$image"
