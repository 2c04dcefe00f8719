# make demo and make test are all the set-up there is: Go, git and make are enough.
GO      ?= go
NICE    ?=
SAMPLES ?= 1
# TESTFLAGS are added to make test: -json for CI, which reads the events.
TESTFLAGS ?=
SIM     ?= 72000
FUZZ    ?= 20s
BENCH   ?=
BIN     := bin/triagebot

.PHONY: build demo test lint bench bench-go bench-scripts bench-costs sweep-bench fuzz truth sim update refresh-openapi node-env python-env lint-actions act container release-dry clean

build: ## build bin/triagebot
	CGO_ENABLED=0 $(GO) build -o $(BIN) ./cmd/triagebot

demo: build ## triage a small real repository in a temporary folder
	$(BIN) demo

test: ## all tests but the slow truth runs
	$(GO) test -timeout 25m $(TESTFLAGS) ./...

lint: ## gofmt, vet, staticcheck, the shape of the project
	@bad=$$(gofmt -l $$(git ls-files '*.go' | grep -v /testdata/)); if [ -n "$$bad" ]; then echo "gofmt would change:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod tidy -diff
	$(GO) test -count=1 -run 'TestImports|TestPackages|TestFunctions|TestExported' .

# The runners of JavaScript that tests start. A node_modules that the environment names is taken instead.
NODEENV := bin/nodeenv
NODEPIN := internal/framework/jstest/testdata/npm
ifndef TRIAGEBOT_TEST_NODE_MODULES
test truth bench-scripts bench-costs: node-env
test truth bench-scripts bench-costs: export TRIAGEBOT_TEST_NODE_MODULES = $(shell test -d $(NODEENV)/node_modules && echo $(CURDIR)/$(NODEENV)/node_modules)
endif

node-env: ## install the pinned vitest, jest, mocha and loaders of TypeScript below bin
	@if cmp -s $(NODEPIN)/package-lock.json $(NODEENV)/installed; then exit 0; fi; \
	if ! command -v npm >/dev/null; then echo "node-env: npm is not on the PATH, so tests that run JavaScript are skipped: install Node 20 or newer"; exit 0; fi; \
	rm -rf $(NODEENV); mkdir -p $(NODEENV); cp $(NODEPIN)/package.json $(NODEPIN)/package-lock.json $(NODEENV)/; \
	if npm ci --prefix $(NODEENV) --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund; then cp $(NODEPIN)/package-lock.json $(NODEENV)/installed; \
	else rm -rf $(NODEENV); echo "node-env: npm ci failed, so tests that run JavaScript are skipped: see above, then make node-env"; fi

# The pytest that tests start. An interpreter that the environment names is taken instead.
PYENV := bin/pyenv
ifndef TRIAGEBOT_TEST_PYTHON
test truth bench-scripts bench-costs: python-env
test truth bench-scripts bench-costs: export TRIAGEBOT_TEST_PYTHON = $(shell test -x $(PYENV)/bin/python3 && echo $(CURDIR)/$(PYENV)/bin/python3)
endif

python-env: ## install the pinned pytest and its plugins below bin; PYTHON names the interpreter
	@PYTHON=$(PYTHON) .ci/python-env $(PYENV) internal/framework/pytest/testdata/requirements.txt

# Which suites sweep-bench sweeps, and for how long at most.
SUITES ?= python,go
sweep-bench: python-env ## what a sweep costs beside the plain suite, and how right it is; docs/sweep.md has the numbers
	TRIAGEBOT_SWEEP_BENCH=$(SUITES) TRIAGEBOT_TEST_PYTHON=$${TRIAGEBOT_TEST_PYTHON:-$(CURDIR)/$(PYENV)/bin/python3} \
	$(GO) test -count=1 -timeout 60m ./cmd/triagebot -run TestSweepBench -v

# ONLY is a regular expression on the names of the samples; $$ is its end.
ONLY ?=
truth: build ## every sample repository, SAMPLES times each; ONLY chooses among them
	$(GO) test -count=1 -timeout 300m ./internal/sampletest -run TestTruth -truth=$(SAMPLES) -sample '$(ONLY)' -v

sim: ## the simulation of the error promises at full size
	$(GO) test -count=1 -timeout 60m ./internal/classify -run 'TestSimulation|TestARegressionIsExcused' -sim $(SIM) -update -v

bench: ## measures all of docs/benchmarks*.md, page after page; BENCH=-bench-write writes the pages
	$(MAKE) bench-go
	$(MAKE) bench-scripts
	$(MAKE) bench-costs

bench-go: ## measures docs/benchmarks.md, Go
	$(GO) test -count=1 -timeout 60m ./internal/bench -run '^TestBench$$' -bench-table $(BENCH) -v

bench-scripts: ## measures docs/benchmarks-scripts.md, what the engines of Python and Node find
	$(GO) test -count=1 -timeout 90m ./internal/bench -run '^TestBenchScripts$$' -bench-table $(BENCH) -v

bench-costs: ## measures docs/benchmarks-costs.md, what they and their trials cost
	$(GO) test -count=1 -timeout 30m ./internal/bench -run '^TestBenchScriptCosts$$' -bench-table $(BENCH) -v

.PHONY: scaling
scaling: ## what a sweep costs, and the error of the model in docs/scaling.md; some minutes
	$(GO) test -count=1 -timeout 60m ./internal/bench -run '^TestScaling$$' -scaling -v

fuzz: ## each fuzz target for FUZZ
	@set -e; for p in $$($(GO) list ./internal/...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) $$p; done; done

refresh-openapi: ## cut GitHub's API description and payloads anew for the fake GitHub; needs Node 20 and npm
	node internal/gh/ghtest/refresh/refresh.mjs

# Programs for the tests of workflows, pinned here and built below bin.
ACTIONLINT := actionlint@v1.7.12
ACT        := act@v0.2.89

bin/actionlint@%:
	GOBIN=$(CURDIR)/bin $(GO) install github.com/rhysd/actionlint/cmd/actionlint@$* && mv bin/actionlint $@

bin/act@%:
	GOBIN=$(CURDIR)/bin $(GO) install github.com/nektos/act@$* && mv bin/act $@

lint-actions: bin/$(ACTIONLINT) ## actionlint on all workflows, shellcheck on all scripts
	BIN=bin/$(ACTIONLINT) .ci/actionlint

act: bin/$(ACT) ## play the example workflows for real, against a fake GitHub
	$(GO) test -count=1 -timeout 15m ./internal/actiontest -run '^TestPlay' -act $(CURDIR)/bin/$(ACT) -v

container: ## build the image, and run it as the Actions runner does
	.ci/container

release-dry: ## the files of a release, built twice and compared; VERSION names it
	.ci/release-dry $(VERSION)

clean:
	rm -rf bin dist
