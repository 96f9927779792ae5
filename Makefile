# qos: `make` shows what there is. Nothing here needs more than Go, Node and npm, except
# the browsers and servers of tests (Debian: `make programs`).
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

TOOLS   := bin/tools
BINARY  := bin/qos-collector
AGENT   := bin/qos-agent
GOBUILD := CGO_ENABLED=0 go build -trimpath -ldflags="-s -w"
QOS_DIR ?= .qos
export PATH := $(CURDIR)/$(TOOLS):$(PATH)

.PHONY: help lines run test test-long quick check fmt lint generate check-generated bench bench-store bench-compare bench-client \
	load record-causes screenshots build agent client programs prepared tools fuzz fuzz-doors size clean

help: ## show this help
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and start everything on loopback, with a demo call to look at
	@mkdir -p "$(QOS_DIR)"
	@printf '%s\n' "" \
	  "  demo call   http://localhost:8483   (open it, join; \"second participant\" opens the other side)" \
	  "  dashboard   http://localhost:8481   (the link that is printed below signs you in)" \
	  "  metrics     http://localhost:8482/metrics" \
	  "  management  http://localhost:8485/api/v1/apps   (bearer token in $(abspath $(QOS_DIR))/management-token)" \
	  "  state       $(abspath $(QOS_DIR))" \
	  "  stop with Ctrl-C" ""
	@QOS_DIR="$(QOS_DIR)" exec $(BINARY) --config deploy:run

# The OpenID provider at which tests sign in.
PROVIDER := tests/signin/provider/node_modules
# A WebSocket client of others.
PEERS := tests/peers/node/node_modules
# LiveKit's server, and the participants without a browser of calls through media servers.
GUESTS := $(TOOLS)/livekit-server $(TOOLS)/guest
# Servers of others that are compared.
COMPARED := tests/compare/node/node_modules

# The binaries that tests outside the runner drive.
DRIVEN := QOS_COLLECTOR=$(abspath $(BINARY)) QOS_AGENT=$(abspath $(AGENT))

# The runner compiles every test binary once and runs them side by side. CONTRIBUTING.md has the table of what is where.
RUNNER := bin/test/runner
# The packages and tests to which a run is limited, as in ONLY="tests/e2e/TestSearch internal/call/event", and how often each runs.
ONLY  ?=
COUNT ?= 1

test: programs ## both languages, the race detector, real servers and browsers; ONLY="tests/e2e/TestSearch client" limits it
	@go build -o $(RUNNER) ./tests/runner
	@$(RUNNER) -count $(COUNT) $(ONLY)

test-long: programs ## what repeats `make test` in breadth: campaigns, second browsers, fuzzing
	@go build -o $(RUNNER) ./tests/runner
	@$(RUNNER) -long -count $(COUNT) $(ONLY)

quick: ## a minute of tests: changed packages, then those that import them
	@go build -o $(RUNNER) ./tests/runner
	@$(RUNNER) -quick

# What tests drive, built by the runner after it has checked the machine.
prepared: build agent client/node_modules $(PROVIDER) $(PEERS) $(GUESTS)

# The first build downloads and compiles some 1,000 packages: -v shows that it moves. What
# is cached prints nothing, so that later builds are silent and take seconds.
build: ## the one binary, bin/qos-collector
	@$(GOBUILD) -v -o $(BINARY) ./collector 2>&1 | awk '/^go: downloading/ {d++; if (d % 50 == 0) {print "  downloaded " d " modules"; fflush()}; next} \
	  /^[a-z][a-zA-Z0-9._~\/-]*$$/ {c++; if (c % 50 == 0) {print "  compiled " c " packages"; fflush()}; next} {print}'

agent: ## the token agent, bin/qos-agent
	@$(GOBUILD) -o $(AGENT) ./agent/cmd/qos-agent

$(TOOLS)/livekit-server: PACKAGE := github.com/livekit/livekit-server/cmd/server
$(TOOLS)/guest: PACKAGE := .
$(TOOLS)/guest: $(wildcard tests/guests/media/*)
$(GUESTS): tests/guests/go.sum $(wildcard tests/guests/*.go)
	@mkdir -p $(TOOLS)
	@cd tests/guests && $(GOBUILD) -o $(abspath $@) $(PACKAGE)
	@touch $@

client: client/node_modules ## build the browser library into client/dist
	@cd client && npm run --silent build

client/node_modules $(PROVIDER) $(PEERS) $(COMPARED): %/node_modules: %/package-lock.json
	@cd $* && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

generate: tools ## everything generated: collector/, component metadata, docs/telemetry.md, dashboards, client/dist
	go generate ./...
	builder --config builder-config.yaml --skip-get-modules --skip-compilation
	gofmt -w collector
	go test ./internal/record/semconv -update >/dev/null || true
	go test ./extensions/dashboardextension/internal/narrative -run TestWordsOfPages -update >/dev/null
	go test ./extensions/dashboardextension/internal/readapi -run TestParametersOfPages -update >/dev/null
	$(MAKE) client

check-generated: ## fail if something generated is not what its source says
	@state() { git status --porcelain; git diff; }; before=$$(state | git hash-object --stdin); \
	$(MAKE) --no-print-directory generate; \
	[ "$$before" = "$$(state | git hash-object --stdin)" ] || { git status --short; echo "generated files were out of date"; exit 1; }

check: fmt lint check-generated test ## what a change must pass: format, lint, generated files, tests

fmt: tools ## format Go
	golangci-lint fmt

lint: tools ## lint Go
	golangci-lint run --allow-parallel-runners
	go vet -tags fuzz $(FUZZED)
	deadcode -f '{{range .Funcs}}{{println $$.Path .Name}}{{end}}' ./collector ./agent/cmd/... | sed '/^$$/d' | LC_ALL=C sort >$(TOOLS)/dead
	sed 's/ *#.*//' tools/deadcode.txt | LC_ALL=C sort | diff - $(TOOLS)/dead
	cd tests/stock && golangci-lint run
	cd tests/lab && golangci-lint run
	cd tests/guests && golangci-lint run

lines: ## count the lines of Go: of the programs, of test support, of tests
	@go test -count=1 -v -run 'TestLines$$' ./tests/house | grep 'lines of Go'

bench: ## hot paths with allocations, each beside a baseline of the same run
	go test -run '^$$' -bench . -benchmem ./protocol/... ./receivers/... ./processors/... ./exporters/... ./extensions/... ./storage/... ./internal/... ./agent/...

bench-store: programs ## the store's figures, written into docs/benchmarks.md; takes half an hour, never in CI
	go run ./storage/benchstore -docs docs/benchmarks.md

bench-compare: build $(COMPARED) ## the collector beside stock components, written into docs/benchmarks.md; takes ten minutes, never in CI
	go build -o bin/compare ./tests/compare
	bin/compare -docs docs/benchmarks.md

load: ## build bin/qos-load, which puts a collector under the load of many pages (docs/sizing.md)
	go build -trimpath -o bin/qos-load ./tests/load

bench-client: programs ## what the library costs the page, against bare getStats(); takes minutes, never in CI
	QOS_REQUIRE=1 CGO_ENABLED=0 go test -trimpath -count=1 -timeout 1h -run TestLibraryCost ./tests/e2e -bench-client -v

# The draw that `make record-causes` records, and its folder in tests/cause/testdata.
INTO  ?= .
SEED  ?= 1
CALLS ?= 60
KINDS ?= .

record-causes: programs build agent $(GUESTS) ## record calls for tests/cause on an otherwise idle machine: INTO=twelfth SEED=0x1234 CALLS=60; continues where it stopped, never in CI
	cd tests/lab && $(DRIVEN) QOS_REQUIRE=1 CGO_ENABLED=0 go test -trimpath -count=1 -timeout 3h -run 'TestRecord$$' -into "$(INTO)" -seed $(SEED) -calls $(CALLS) -kinds '$(KINDS)' -v

screenshots: programs build ## pictures of the pages on a simulated fleet, into docs/images
	@mkdir -p docs/images
	$(DRIVEN) QOS_REQUIRE=1 CGO_ENABLED=0 go test -trimpath -count=1 -run TestScreenshots ./tests/e2e -screenshots $(abspath docs/images) -v

# The time of each fuzz target, and the packages whose targets run.
FUZZTIME := 30s
FUZZED    = $(shell grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u)

# Each package is compiled once, with instrumentation. The binary lists its targets.
fuzz: ## fuzz every target for FUZZTIME=30s
	@mkdir -p bin/fuzz; for pkg in $(FUZZED); do \
	  run="$(CURDIR)/bin/fuzz/$$(tr / _ <<< "$${pkg#./}").test"; \
	  corpus="$$(go env GOCACHE)/fuzz/$$(go list $$pkg)"; \
	  CGO_ENABLED=0 go test -vet=off -trimpath -tags fuzz -c -fuzz . -o "$$run" $$pkg; \
	  for f in $$("$$run" -test.list '^Fuzz'); do echo "$$pkg $$f"; \
	    (cd $$pkg && "$$run" -test.run '^$$' -test.fuzz "^$$f\$$" -test.fuzzminimizetime 5x -test.fuzztime $(FUZZTIME) -test.fuzzcachedir "$$corpus"); done; done

# Packages at the doors that need no collector: frames and the bodies of POSTs, and blobs of the store. Others take
# minutes to compile with instrumentation.
DOORS := ./protocol ./agent ./internal/serve/jsonobject ./extensions/appsextension/internal/app ./storage/internal/chunk ./storage/internal/envelope ./storage/internal/frames

fuzz-doors: ## fuzz what reads bytes from outside for 5 s a target
	@$(MAKE) --no-print-directory fuzz FUZZTIME=5s FUZZED="$(DOORS)"

size: ## weight of the browser library
	@cd client && npm run --silent size

# Programs and the Debian packages that have them. RUNLEVEL=1 keeps packages from starting services of their own.
PROGRAMS := chromium:chromium chromedriver:chromium-driver firefox-esr:firefox-esr ip:iproute2 certutil:libnss3-tools initdb:postgresql \
	sqlite3:sqlite3 nginx:nginx haproxy:haproxy prometheus:prometheus prometheus-alertmanager:prometheus-alertmanager \
	victoria-metrics:victoria-metrics turnserver:coturn janus:janus curl:curl openssl:openssl systemd-analyze:systemd

programs: ## install the browsers and servers of the tests (Debian, root), unless they are there; the tests start their own
	@PATH="$$PATH:/usr/sbin:$$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)"; missing=; \
	for p in $(PROGRAMS); do command -v $${p%%:*} >/dev/null || missing="$$missing $${p##*:}"; done; \
	/usr/bin/python3 -c 'import websockets' 2>/dev/null || missing="$$missing python3-websockets"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing$$missing"; apt-get update -qq; \
	  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; fi

tools: $(TOOLS)/.built ## the pinned developer tools, built into bin/tools

$(TOOLS)/.built: tools/go.mod tools/go.sum
	@mkdir -p $(TOOLS)
	cd tools && go build -o ../$(TOOLS)/ tool
	@touch $@

clean: ## remove what was built and the demo's state
	rm -rf bin .qos client/node_modules $(PROVIDER) $(PEERS) $(COMPARED)
