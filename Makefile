# What one does with this repository. "make" or "make help" lists the targets; each works on a fresh
# clone.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
PYTHON   ?= python3
FUZZTIME ?= 1m

# Checked with this version wherever it runs.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Every Go module here, the main one last: the assembly generator and the power-cut file system have
# dependencies that users of tstore need not download.
MODULES := $(sort $(patsubst %/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path './bin/*' -not -path './.venv/*'))) .
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: ## build the command into bin/tstore
	@mkdir -p bin
	$(GO) build -o bin/tstore ./cmd/tstore

.PHONY: demo
demo: build ## put real arrays into a store, show them, get them back, prove that they are the same
	@cmd/tstore/demo.sh

.PHONY: test
test: ## run all tests
	@for m in $(MODULES); do (cd $$m && $(GO) test ./...); done

.PHONY: race
race: ## run the tests with the race detector (needs a C compiler); vec, which starts no goroutines, is left out
	GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(GO) test -race -timeout 30m $$($(GO) list ./... | grep -v /vec$$)

.PHONY: fuzz
fuzz: ## fuzz each target for a while: make fuzz FUZZTIME=20m
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; \
	    $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$p; \
	  done; \
	done

.PHONY: powercut
powercut: ## cut the power 2,000 times on a file system that forgets what was not synced (needs /dev/fuse)
	TSTORE_POWERCUTS=2000 $(GO) test -count=1 -timeout 60m -v -run 'PowerCut|FaultSweep|KillSweep|FailedSync|CutWhile|CheckCanFail|KilledBefore' ./store

.PHONY: crash
crash: ## kill a writing process 1,000 times and check what it had acknowledged
	TSTORE_CRASHES=1000 $(GO) test -count=1 -timeout 60m -v -run 'Crash|Kill' ./store

.PHONY: soak
soak: ## change a store in every way for 10 minutes while four processes check what they see
	TSTORE_SOAK=10m $(GO) test -count=1 -timeout 30m -v -run 'Soak' ./store

.PHONY: damage
damage: ## flip every byte of a small store and of a package, in every way of reading it
	TSTORE_DAMAGE=all TSTORE_EVERY_BYTE=1 $(GO) test -count=1 -timeout 60m -v -run 'Flipped|Truncated' ./store

.PHONY: mutants
mutants: ## make deliberate faults in the store, 46 of them; a test has to notice each (5 to 25 minutes)
	$(GO) run ./store/internal/mutants

.PHONY: large
large: ## go through packages and tensors of more than 4 GiB in every way; they are mostly holes
	TSTORE_LARGE=1 $(GO) test -count=1 -timeout 60m -v -run 'MoreThan4GiB' ./store

.PHONY: bench
bench: ## measure store, packages and files against the disk and memory of this machine: some minutes, 15 GB of disk
	@for d in store package files; do $(GO) run ./bench/$$d; done

BENCHENV := .cache/bench
ARGS     ?= -elems float32 -one -reused
.PHONY: bench-vec
bench-vec: $(BENCHENV)/stamp ## measure kernels and conversions, and SciPy and Arrow C++ on the same arrays; ARGS= for all types, which takes hours
	$(GO) run ./bench/vec -python $(BENCHENV)/bin/python $(ARGS)

$(BENCHENV)/stamp: bench/vec/compare/requirements.txt
	$(PYTHON) -m venv --clear $(BENCHENV)
	$(BENCHENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# The stamp changes with the list of packages, and so does the environment.
VENV := .venv
.PHONY: interop
interop: $(VENV)/stamp ## compare what others and tstore write and read (downloads Python packages once)
	$(GO) run ./codec/internal/interop -python $(VENV)/bin/python
	$(GO) run ./codec/internal/fileinterop -python $(VENV)/bin/python
	$(GO) run ./cmd/tstore/internal/tableinterop -python $(VENV)/bin/python
	$(GO) run ./store/internal/interop -python $(VENV)/bin/python

$(VENV)/stamp: codec/internal/interop/requirements.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: lint
lint: ## gofmt, go vet, staticcheck, go mod tidy
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	@for m in $(MODULES); do (cd $$m && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...); done

.PHONY: cross
cross: ## compile everything, tests included, for every platform
	@for p in $(PLATFORMS); do \
	  echo "$$p"; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) build ./...; \
	  GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0 $(GO) vet ./...; \
	done

.PHONY: deps
deps: ## what comes along with package store must be what .ci/deps-store.txt lists
	@.ci/deps-store

.PHONY: generate
generate: ## make the generated files again: FlatBuffers code, assembly, corpus of messages
	@command -v flatc >/dev/null || { \
	  echo "flatc is missing: installing flatbuffers-compiler with apt-get"; \
	  apt-get update -qq && apt-get install -y -qq flatbuffers-compiler; }
	$(GO) generate ./...
	$(GO) run ./codec/internal/corpus testdata/corpus
	$(GO) run ./store/internal/corpus testdata/corpus
	cd vec/asm && $(GO) run .

.PHONY: ci
ci: ## everything that has to pass before a change is taken
	.ci/run
