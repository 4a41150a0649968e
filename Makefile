# `make demo` and `make test` need Python >= 3.11 (with venv and headers), make and a C++17 compiler;
# everything else goes into .venv here. `make help` lists the targets.
#
#   PYTHON=python3.12   the interpreter that .venv is made with (default: the first fit one on PATH)
#   CXX=clang++         the compiler
#   ARGS="-k csr -x"    more arguments for pytest or for `rarefy demo`
#   JOBS=4              test processes (default: one a core, at most 4)

VENV := .venv
PY := $(VENV)/bin/python
# Folders are listed too: their time changes when a file is added or removed.
# So are packages: the installation knows only those that it was made with.
SOURCES := CMakeLists.txt $(shell find csrc -not -path 'csrc/tests*' -not -path 'csrc/fuzz*') \
	$(shell find src/rarefy -name __init__.py)
CPP := $(shell find csrc -name '*.h' -o -name '*.cc')
JOBS ?= auto
ARGS ?=
export PYTHON
ifneq ($(origin CXX),default)
export CXX
endif

# A .venv that was moved with its folder, or whose Python is gone, would run the wrong code.
ifneq ($(shell test -x $(PY) && cat $(VENV)/.tools 2>/dev/null),$(CURDIR))
$(VENV)/.tools: moved
endif
ifneq ($(shell test -x $(PY) && cat $(VENV)/.build 2>/dev/null),$(CURDIR))
$(VENV)/.build: moved
endif

.PHONY: help demo test bench lint format build clean moved

help:
	@echo "make demo    train on a planted click log and show how close it came (under two minutes)"
	@echo "make test    all tests                 make bench    kernel benchmarks"
	@echo "make lint    formatting and types      make format   apply the formatting"
	@echo "make build   the C++ module only       make clean    remove .venv and what was built"

demo: build
	@$(VENV)/bin/rarefy demo $(ARGS)

test: build
	@$(PY) -m pytest -n $(JOBS) --maxprocesses=4 --dist=worksteal $(ARGS)

bench: build
	@$(PY) -m pytest benchmarks -p no:xdist --benchmark-only --benchmark-disable-gc \
	  --benchmark-columns=min,median,rounds --benchmark-sort=fullname $(ARGS)

lint: $(VENV)/.tools
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m pyright
	@$(VENV)/bin/clang-format --dry-run -Werror $(CPP)

format: $(VENV)/.tools
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .
	@$(VENV)/bin/clang-format -i $(CPP)

build: $(VENV)/.build

$(VENV)/.tools: pyproject.toml tools/setup.sh
	@tools/setup.sh tools

$(VENV)/.build: $(VENV)/.tools $(SOURCES)
	@tools/setup.sh build

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .hypothesis .benchmarks demo-run
	find src tests benchmarks tutorials -name __pycache__ -type d -prune -exec rm -rf {} +
