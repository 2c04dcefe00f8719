# The image of the action, in two targets:
#   slim  the half that never runs code (publish, command): one static binary and
#         the certificates. There is no shell, no git, nothing to run.
#   full  the half that runs tests again: Go, Python, Node, git, a C compiler, and
#         a user of its own for the tests. It is the last one, so the default.
# It needs no BuildKit. The release pins both by digest; see docs/install.md.
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
# VERSION is what "triagebot version" tells; the flags are those of .ci/build.sh,
# so that the binary is the one of the release.
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
      -ldflags "-s -w -buildid= -X main.version=${VERSION}" \
      -o /out/triagebot ./cmd/triagebot \
 && mkdir -m 1777 /out/tmp

FROM scratch AS slim
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/tmp /tmp
COPY --from=build /out/triagebot /usr/local/bin/triagebot
ENV PATH=/usr/local/bin
ENTRYPOINT ["/usr/local/bin/triagebot"]
CMD ["action"]

FROM node:24-bookworm-slim AS node

FROM debian:bookworm-slim AS full
RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates curl g++ gcc git libc6-dev make \
      python3 python3-pip python3-venv \
 && apt-get clean && rm -rf /var/lib/apt/lists/* \
 && ln -s python3 /usr/bin/python
COPY --from=build /usr/local/go /usr/local/go
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
# Tests run as this user. The action itself stays root, as GitHub asks of container
# actions: it has to write the runner's files, which the tests must not.
 && groupadd --gid 10001 triage \
 && useradd --uid 10001 --gid triage --create-home --shell /usr/sbin/nologin triage
COPY --from=build /out/triagebot /usr/local/bin/triagebot
ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8
ENTRYPOINT ["/usr/local/bin/triagebot"]
CMD ["action"]
