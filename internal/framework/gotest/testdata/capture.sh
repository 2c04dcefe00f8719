#!/bin/sh
# Captures what go test and the report writers print for the module in lab/.
# Usage: GOTESTSUM=... GO_JUNIT_REPORT_V1=... GO_JUNIT_REPORT_V2=... ./capture.sh
# See README.md for the versions. Every command is expected to fail.
here=$(cd "$(dirname "$0")" && pwd)
out=$here/capture
lab=/tmp/lab
rm -rf "$lab" && cp -r "$here/lab" "$lab" && cd "$lab" || exit 1
rm -rf "$out" && mkdir -p "$out/framed"

go test -timeout 3s ./... >"$out/plain.log" 2>&1
go test -timeout 3s -v ./... >"$out/verbose.log" 2>&1
go test -timeout 3s -json ./... >"$out/events.json" 2>&1
go test -race ./race ./racesub >"$out/race-plain.log" 2>&1
go test -race -v ./race ./racesub >"$out/race-verbose.log" 2>&1
go test -race -json ./race ./racesub >"$out/race-events.json" 2>&1
go test -shuffle=1 ./shuffled >"$out/shuffle.log" 2>&1
"$GOTESTSUM" --format standard-quiet --junitfile "$out/gotestsum.xml" --jsonfile "$out/gotestsum.json" -- -timeout 3s ./... >"$out/gotestsum.log" 2>&1
"$GO_JUNIT_REPORT_V1" <"$out/verbose.log" >"$out/gojunitreport-v1.xml"
"$GO_JUNIT_REPORT_V2" <"$out/verbose.log" >"$out/gojunitreport-v2.xml"

# Our own framing, as Adapter.Command asks for it; the exit code is in the name.
for dir in */; do
	pkg=${dir%/}
	race=
	case $pkg in race | racesub) race=-race ;; esac
	go test -c $race -o "$lab/bin/$pkg" "./$pkg" >/dev/null 2>&1
	[ -x "$lab/bin/$pkg" ] || continue
	(cd "$pkg" && GORACE=atexit_sleep_ms=0 "$lab/bin/$pkg" -test.v=test2json -test.paniconexit0 -test.count=1 -test.timeout=2s) >"$out/framed/$pkg.txt" 2>&1
	mv "$out/framed/$pkg.txt" "$out/framed/$pkg.exit$?.txt"
done
