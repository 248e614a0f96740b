# Everything a contributor needs; `make` alone lists it. Only Python 3.11 and make must be there.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp
RUNS := $(VENV)/.runs
MODULES := node_modules/.stamp
, := ,
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help venv run demo demo-desk quick assets test test-repeat attack lint format seeds soak \
	release-hashes bench-engine bench-http bench-eta bench-gate bench-desk bench-console clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

venv: $(STAMP) ## make .venv with everything, again when pyproject.toml or constraints.txt change

# The stamps come last, so that an installation that broke off is done again.
define install
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$(1)]'
endef

$(STAMP): pyproject.toml constraints.txt
	$(call install,dev)
	@touch $(STAMP) $(RUNS)

# Only what the server needs: a newcomer should not wait for linters and browsers' drivers.
$(RUNS): pyproject.toml constraints.txt
	$(call install,server$(,)embedded)
	@touch $(RUNS)

PORT ?= 8080
SITE_PORT ?= 8081

run: $(RUNS) ## start the server with a demo room and a crowd, and say where to look (PORT=8080)
	$(BIN)/waitroom serve --demo --port $(PORT)

demo: $(STAMP) ## put a concert on sale behind a waiting room, with a crowd (PORT=8080 SITE_PORT=8081)
	$(BIN)/waitroom demo --port $(PORT) --site-port $(SITE_PORT)

demo-desk: $(STAMP) ## show a restaurant's waitlist on a busy evening (PORT=8080)
	$(BIN)/waitroom desk demo --port $(PORT)

# Tests wait for servers half of the time, so there are more workers than cores: two, as a rule.
AT_ONCE ?= 3
# With bytecode: each worker and each server that tests start would compile all of it again.
export PYTHONDONTWRITEBYTECODE =
PYTEST := $(BIN)/python -m pytest -q -n $(AT_ONCE) --dist loadfile --no-loadscope-reorder
QUICK := tests/engine tests/estimate tests/planner tests/credentials tests/web \
	$(addprefix tests/test_,layers.py models.py passes.py settings.py tickets.py)

quick: $(STAMP) ## run the tests that need no web server: for every save
	$(PYTEST) $(QUICK) $(PYTEST_ARGS)

assets: ## minify the scripts and style sheets of the pages, where npm is installed; a release needs it
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory $(MODULES) && npm run --silent assets; \
	elif [ "$(CI)" = true ]; then \
		echo "npm is missing, and CI must not pass without it" >&2; exit 1; \
	else \
		echo "npm is not installed, so pages are sent as they were written, the operator page without its script (Debian: apt install npm)"; \
	fi

test: $(STAMP) assets ## run the tests with small counts (PYTEST_ARGS="-k join" for some)
	$(PYTEST) $(PYTEST_ARGS)

N ?= 5
test-repeat: $(STAMP) assets ## run the tests N=5 times in random order beside busy loops, and list what failed
	$(BIN)/python -m tests.repeat $(N) $(PYTEST) $(PYTEST_ARGS)

attack: $(STAMP) ## run the tests that attack it, and say how many attacks were tried and held
	$(PYTEST) -m attack $(PYTEST_ARGS)

lint: $(STAMP) ## check style and types; Lua and JavaScript where luacheck and npm are installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if command -v luacheck >/dev/null; then \
		rm -rf build/lua && $(BIN)/python -c "from pathlib import Path; \
			from waitroom.engine.scripts import write_out; write_out(Path('build/lua'))" \
			&& luacheck -q build/lua; \
	elif [ "$(CI)" = true ]; then \
		echo "luacheck is missing, and CI must not pass without it" >&2; exit 1; \
	else \
		echo "luacheck is not installed, so Lua was not checked (Debian: apt install lua-check)"; \
	fi
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory $(MODULES) && npm run --silent lint; \
	elif [ "$(CI)" = true ]; then \
		echo "npm is missing, and CI must not pass without it" >&2; exit 1; \
	else \
		echo "npm is not installed, so JavaScript was not checked (Debian: apt install npm)"; \
	fi

$(MODULES): package.json examples/node/package.json
	npm install --no-audit --no-fund --loglevel=error
	@touch $(MODULES)

release-hashes: $(STAMP) ## write the requirements of a release with hashes, from what pip downloads
	$(BIN)/python -m tests.release

format: $(STAMP) ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

seeds: $(STAMP) ## show which requirements of the seed documents are proven
	$(BIN)/python -m tests.seeds

soak: $(STAMP) assets ## run the tests with the largest counts: hours, not minutes
	SOAK=1 $(BIN)/python -m pytest -q --timeout 0 $(PYTEST_ARGS)

bench-engine: $(STAMP) ## measure the engine (FULL=1: a million waiting; MILLIONS=10: ten)
	FULL="$(FULL)" MILLIONS="$(MILLIONS)" $(BIN)/python -m bench.engine

bench-http: $(STAMP) ## measure the server beside three others, with wrk (FULL=1: a million waiting)
	FULL="$(FULL)" $(BIN)/python -m bench.http

bench-gate: $(STAMP) ## measure what a gate costs a site, with wrk
	$(BIN)/python -m bench.gate

bench-eta: $(STAMP) ## measure the estimates against waits that came true (FULL=1, WRITE=1: docs)
	FULL="$(FULL)" WRITE="$(WRITE)" SALT="$(SALT)" $(BIN)/python -m bench.eta

bench-desk: $(STAMP) ## measure the desk beside a COUNT query per guest, on PostgreSQL if it is there
	$(BIN)/python -m bench.desk

bench-console: $(STAMP) ## measure the operator page beside full polling load, with wrk (FULL=1: a million waiting)
	FULL="$(FULL)" $(BIN)/python -m bench.console

clean: ## remove what was made, the data folder .waitroom excepted
	rm -rf $(VENV) node_modules build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		src/waitroom/server/static_built
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +
