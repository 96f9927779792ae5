# qos: `make` shows what there is. Nothing here needs more than Go, Node and npm, except
# the browsers for `make e2e` (Debian: `make browsers`).
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

TOOLS   := bin/tools
BINARY  := bin/qos-collector
AGENT   := bin/qos-agent
GOBUILD := CGO_ENABLED=0 go build -trimpath -ldflags="-s -w"
QOS_DIR ?= .qos
export PATH := $(CURDIR)/$(TOOLS):$(PATH)

.PHONY: help run test test-go test-go-plain test-go-race test-client e2e check fmt lint generate check-generated bench \
	bench-store bench-client load record-causes screenshots build agent client browsers servers tools stock recipes fuzz fuzz-doors size clean

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
# Servers of others that are compared.
COMPARED := tests/compare/node/node_modules

# The binaries that the tests drive, as they ship: built once for all packages.
DRIVEN := QOS_COLLECTOR=$(abspath $(BINARY)) QOS_AGENT=$(abspath $(AGENT))

# TypeScript beside Go, of which much is waiting. The browsers have the machine to themselves.
test: ## everything: both languages, race detector, real browsers
	@$(MAKE) --no-print-directory browsers
	@$(MAKE) --no-print-directory -j3 test-client test-go
	@$(MAKE) --no-print-directory e2e

test-go: test-go-plain test-go-race stock fuzz-doors ## Go tests and seconds of fuzzing, all but the tests of tests/e2e

test-go-plain test-go-race: export QOS_E2E := $(if $(CI),required,$(QOS_E2E))
test-go-plain test-go-race: export QOS_POSTGRES := $(if $(CI),required,$(QOS_POSTGRES))
test-go-plain test-go-race recipes: export QOS_MOUNT := $(if $(CI),required,$(QOS_MOUNT))
test-go-plain test-go-race: export QOS_NGINX := $(if $(CI),required,$(QOS_NGINX))
test-go-plain test-go-race: export QOS_PROXIES := $(if $(CI),required,$(QOS_PROXIES))
test-go-plain test-go-race: export QOS_COTURN := $(if $(CI),required,$(QOS_COTURN))
test-go-plain test-go-race: export QOS_OIDC := $(if $(CI),required,$(QOS_OIDC))
test-go-plain test-go-race: export QOS_PEERS := $(if $(CI),required,$(QOS_PEERS))
test-go-plain test-go-race stock recipes: export QOS_PROMETHEUS := $(if $(CI),required,$(QOS_PROMETHEUS))

# The race detector makes SQLite some 20 times slower: the stores' tests of one goroutine run without it, and
# so do recorded calls, the day of a fleet and statistics. Those are built as the binary is, from packages that are
# compiled already, and the linter vets.
test-go-plain: servers build agent
	$(DRIVEN) CGO_ENABLED=0 go test -vet=off -trimpath -timeout 30m ./storage/postgres ./tests/monitoring ./storage/sqlite ./tests/consistency ./tests/cause ./tests/contrast ./internal/contrast

# Four packages at once: many wait for servers and disks. The longest begin.
test-go-race: servers build agent $(PROVIDER) $(PEERS)
	$(DRIVEN) go test -vet=off -race -p 4 -timeout 30m ./storage/postgres ./tests/webhook ./tests/timeseries ./storage/sqlite $$(go list ./... | grep -vE '/tests/(e2e|cause|contrast|monitoring|timeseries|webhook)$$|/internal/contrast$$|/storage/(postgres|sqlite)$$')

test-client: client/node_modules ## TypeScript: format, types, unit tests, size, dist in sync
	@cd client && npm run --silent check

# How often `make e2e` runs the browser tests.
COUNT := 1

# Apart from the rest, so that compilers do not starve the browsers, and without the race
# detector: it drives the binary as it ships.
e2e: browsers servers build agent client/node_modules ## real browsers against the real binary; COUNT=10 runs them ten times
	CGO_ENABLED=0 go test -trimpath -c -o bin/e2e.test ./tests/e2e
	@$(DRIVEN) QOS_E2E=$(if $(CI),required,$(QOS_E2E)) QOS_POSTGRES=$(if $(CI),required,$(QOS_POSTGRES)) tests/e2e/run $(abspath bin/e2e.test) $(COUNT)

# The first build downloads and compiles some 1,000 packages: -v shows that it moves. What
# is cached prints nothing, so that later builds are silent and take seconds.
build: ## the one binary, bin/qos-collector
	@$(GOBUILD) -v -o $(BINARY) ./collector 2>&1 | awk '/^go: downloading/ {d++; if (d % 50 == 0) {print "  downloaded " d " modules"; fflush()}; next} \
	  /^[a-z][a-zA-Z0-9._~\/-]*$$/ {c++; if (c % 50 == 0) {print "  compiled " c " packages"; fflush()}; next} {print}'

agent: ## the token agent, bin/qos-agent
	@$(GOBUILD) -o $(AGENT) ./agent/cmd/qos-agent

client: client/node_modules ## build the browser library into client/dist
	@cd client && npm run --silent build

client/node_modules $(PROVIDER) $(PEERS) $(COMPARED): %/node_modules: %/package-lock.json
	@cd $* && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

generate: tools ## everything generated: collector/, component metadata, docs/telemetry.md, dashboards, client/dist
	go generate ./...
	builder --config builder-config.yaml --skip-get-modules --skip-compilation
	gofmt -w collector
	go test ./internal/semconv -update >/dev/null || true
	$(MAKE) client

check-generated: ## fail if something generated is not what its source says
	@state() { git status --porcelain; git diff; }; before=$$(state | git hash-object --stdin); \
	$(MAKE) --no-print-directory generate; \
	[ "$$before" = "$$(state | git hash-object --stdin)" ] || { git status --short; echo "generated files were out of date"; exit 1; }

check: fmt lint check-generated test ## what a change must pass: format, lint, generated files, tests

fmt: tools ## format Go
	golangci-lint fmt

lint: tools ## lint Go
	golangci-lint run
	go vet -tags fuzz $(FUZZED)
	cd tests/stock && golangci-lint run

bench: ## hot paths with allocations, each beside a baseline of the same run
	go test -run '^$$' -bench . -benchmem ./protocol/... ./receivers/... ./processors/... ./exporters/... ./extensions/... ./storage/... ./internal/... ./agent/...

bench-store: servers ## the store's figures, written into docs/benchmarks.md; takes half an hour, never in CI
	go run ./storage/benchstore -docs docs/benchmarks.md

bench-compare: build $(COMPARED) ## the collector beside stock components, written into docs/benchmarks.md; takes ten minutes, never in CI
	go build -o bin/compare ./tests/compare
	bin/compare -docs docs/benchmarks.md

load: ## build bin/qos-load, which puts a collector under the load of many pages (docs/sizing.md)
	go build -trimpath -o bin/qos-load ./tests/load

bench-client: browsers ## what the library costs the page, against bare getStats(); takes minutes, never in CI
	QOS_E2E=required CGO_ENABLED=0 go test -trimpath -count=1 -timeout 1h -run TestLibraryCost ./tests/e2e -bench-client -v

record-causes: browsers build agent ## record the calls of the eleventh draw that have no trace yet, on an otherwise idle machine; continues where it stopped, never in CI
	$(DRIVEN) QOS_E2E=required CGO_ENABLED=0 go test -trimpath -count=1 -timeout 3h -run TestRecordEleventh ./tests/e2e -record-drawn -v

screenshots: browsers build ## pictures of the pages on a simulated fleet, into docs/images
	@mkdir -p docs/images
	$(DRIVEN) QOS_E2E=required CGO_ENABLED=0 go test -trimpath -count=1 -run TestScreenshots ./tests/e2e -screenshots $(abspath docs/images) -v

stock: servers ## tests beside exporters of the ecosystem that the distribution leaves out; a module of their own
	cd tests/stock && go test -vet=off ./...

recipes: servers build ## run the configurations of the READMEs and the commands of docs/api.md unchanged, with the stores that they name
	$(DRIVEN) go test -vet=off -count=1 -v ./tests/recipes

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
DOORS := ./protocol ./agent ./extensions/appsextension/internal/app ./storage/internal/chunk ./storage/internal/envelope ./storage/internal/frames

fuzz-doors: ## fuzz what reads bytes from outside for 2 s a target
	@$(MAKE) --no-print-directory fuzz FUZZTIME=2s FUZZED="$(DOORS)"

size: ## weight of the browser library
	@cd client && npm run --silent size

browsers: ## install Chromium and Firefox (Debian, root), unless they are there
	@for c in chromium chromedriver firefox-esr ip certutil; do command -v $$c >/dev/null || missing=1; done; \
	if [ -n "$${missing:-}" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing Chromium and Firefox"; apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	      chromium chromium-driver firefox-esr iproute2 libnss3-tools >/dev/null; \
	  else echo "Chromium, chromedriver, Firefox or certutil is missing: the browser tests will be skipped"; fi; fi

# RUNLEVEL=1 keeps the packages from starting services of their own.
servers: ## install PostgreSQL, SQLite's shell, nginx, haproxy, Prometheus, Alertmanager, VictoriaMetrics, coturn and Python's websockets (Debian, root), unless they are there; the tests start their own
	@if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || ! command -v sqlite3 >/dev/null || \
	    ! PATH="$$PATH:/usr/sbin" command -v nginx >/dev/null || ! PATH="$$PATH:/usr/sbin" command -v haproxy >/dev/null || ! command -v prometheus >/dev/null || \
	    ! command -v prometheus-alertmanager >/dev/null || ! command -v victoria-metrics >/dev/null || \
	    ! command -v turnserver >/dev/null || ! /usr/bin/python3 -c 'import websockets' 2>/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing PostgreSQL, sqlite3, nginx, haproxy, Prometheus, Alertmanager, VictoriaMetrics, coturn and python3-websockets"; apt-get update -qq; \
	    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	      postgresql sqlite3 nginx haproxy prometheus prometheus-alertmanager victoria-metrics coturn python3-websockets >/dev/null; \
	  else echo "PostgreSQL, sqlite3, nginx, haproxy, Prometheus, Alertmanager, VictoriaMetrics, coturn or python3-websockets is missing: tests that need them will be skipped"; fi; fi

tools: $(TOOLS)/.built ## the pinned developer tools, built into bin/tools

$(TOOLS)/.built: tools/go.mod tools/go.sum
	@mkdir -p $(TOOLS)
	cd tools && go build -o ../$(TOOLS)/ tool
	@touch $@

clean: ## remove what was built and the demo's state
	rm -rf bin .qos client/node_modules $(PROVIDER) $(PEERS) $(COMPARED)
