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
.PHONY: help venv run demo demo-desk quick assets test test-repeat pictures attack lint format seeds soak \
	docs release-hashes bench-engine bench-http bench-eta bench-gate bench-desk bench-console bench-fair clean coverage release \
	test-lowest test-newest test-pythons audit sbom vectors api-types

# What stands after `##` is shown here: the group, what the target does, and after `;` what it needs beside Python and make.
help: ## start: show this
	@echo "Waitroom. Python 3.11, make and git are enough to start; \`make run\` installs the rest into .venv."
	@for group in "start:Start here" "day:Every day" "release:Before a release" "measure:Measure"; do \
		printf '\n%s\n' "$${group#*:}"; \
		awk -F ':.*## ' -v group="$${group%%:*}" '/^[a-z-]+:.*## / { \
			own = match($$2, /^(start|day|release|measure): /) ? substr($$2, 1, RLENGTH - 2) : "day"; \
			if (own == group) printf "  make %-14s %s\n", $$1, substr($$2, RLENGTH > 0 ? RLENGTH + 1 : 1) }' Makefile; \
	done

venv: $(STAMP) ## day: make .venv with everything, again when pyproject.toml or constraints.txt change

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

# The operator page is live by a script in TypeScript. Without npm, or if npm fails, there is the page without it: no reason
# not to start. The packages that it is built from are installed in a folder of their own: here npm would look up the linters
# too, and a newcomer wait for that.
ARE_BUILT := import sys; from waitroom.server.http.assets import are_built; sys.exit(not are_built())
define scripts
	@if $(BIN)/python -c "$(ARE_BUILT)"; then :; \
	elif ! command -v npm >/dev/null; then \
		echo "npm is not installed, so the operator page is not live, but has to be loaded again (Debian: apt install npm)"; \
	else \
		echo "building the scripts of the pages"; \
		{ [ -e node_modules/esbuild ] || { mkdir -p build/pages node_modules \
			&& npm pkg get name dependencies >build/pages/package.json \
			&& npm install --prefix build/pages --no-audit --no-fund --loglevel=error && cp -r build/pages/node_modules/. node_modules; }; } \
		&& npm run --silent assets || echo "they could not be built, so the operator page is not live, but has to be loaded again"; \
	fi
endef

PORT ?= 8080
SITE_PORT ?= 8081

run: $(RUNS) ## start: start a server with a demo room and a crowd, and say where to look (PORT=8080)
	$(scripts)
	$(BIN)/waitroom serve --demo --port $(PORT)

demo: $(STAMP) ## start: put a concert on sale behind a waiting room, with a crowd (PORT=8080 SITE_PORT=8081)
	$(scripts)
	$(BIN)/waitroom demo --port $(PORT) --site-port $(SITE_PORT)

demo-desk: $(STAMP) ## start: show a restaurant's waitlist on a busy evening (PORT=8080)
	$(scripts)
	$(BIN)/waitroom desk demo --port $(PORT)

# Tests wait for servers half of the time, so there are more workers than cores: two, as a rule.
AT_ONCE ?= 3
# With bytecode: each worker and each server that tests start would compile all of it again.
export PYTHONDONTWRITEBYTECODE =
PYTEST := $(BIN)/python -m pytest -q -n $(AT_ONCE) --dist loadfile --no-loadscope-reorder
QUICK := tests/engine tests/estimate tests/planner tests/credentials tests/web \
	tests/models $(addprefix tests/test_,layers.py passes.py settings.py texts.py tickets.py)

quick: $(STAMP) ## day: run the tests that need no web server, for every save: about a minute
	$(PYTEST) $(QUICK) $(PYTEST_ARGS)

coverage: $(STAMP) ## day: run `quick` again with coverage, and hold it to tests/coverage_floor.txt, which only rises
	@rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/coverage run -m pytest -q -n $(AT_ONCE) --dist loadfile --no-loadscope-reorder $(QUICK)
	$(BIN)/coverage combine -q
	@$(BIN)/python -m tests.coverage_floor

assets: ## day: minify the scripts and style sheets of the pages; needs npm, and does nothing without it
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory $(MODULES) && npm run --silent assets; \
	elif [ "$(CI)" = true ]; then \
		echo "npm is missing, and CI must not pass without it" >&2; exit 1; \
	else \
		echo "npm is not installed, so pages are sent as they were written, the operator page without its script (Debian: apt install npm)"; \
	fi

test: $(STAMP) assets ## start: run the tests with small counts, in minutes (PYTEST_ARGS="-k join" for some); what is not installed is skipped
	$(PYTEST) $(PYTEST_ARGS)

# What meets every library of ours at its own work: the quick tests, without those of modules that need none, and some of
# the server, the desk, the gates and the client.
VERSIONS := $(filter-out tests/estimate tests/planner tests/test_layers.py,$(QUICK)) tests/server/test_app.py tests/server/pages tests/server/visitor tests/gates/test_frameworks.py \
	tests/desk/record tests/push tests/client
OF_VERSIONS = $(BIN)/python -m tests.versions $(1) -q -n $(AT_ONCE) --dist loadfile --no-loadscope-reorder $(VERSIONS) $(PYTEST_ARGS)

test-lowest: $(STAMP) ## release: test with the lowest versions that pyproject.toml allows, and that these can be installed
	$(call OF_VERSIONS,lowest)

test-newest: $(STAMP) ## release: test with the newest versions that there are
	$(call OF_VERSIONS,newest)

test-pythons: $(STAMP) ## release: test on each other Python that we support and that is installed here
	$(call OF_VERSIONS,pythons)

N ?= 5
test-repeat: $(STAMP) assets ## release: run the tests N=5 times in random order beside busy loops, and list what failed; hours
	$(BIN)/python -m tests.repeat $(N) $(PYTEST) $(PYTEST_ARGS)

attack: $(STAMP) ## day: run the tests that attack it, and say how many attacks were tried and held
	$(PYTEST) -m attack $(PYTEST_ARGS)

lint: $(STAMP) ## day: check style and types; Lua and JavaScript too where luacheck and npm are installed
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

$(MODULES): package.json packages/gate/package.json examples/node/package.json
	npm install --no-audit --no-fund --loglevel=error
	@touch $(MODULES)

docs: $(STAMP) $(MODULES) ## day: build the documentation site, strictly, and say where it is; needs npm
	$(BIN)/sphinx-build -q -n -W --keep-going -d build/doctrees -b html docs build/docs
	@echo "the documentation is at build/docs/index.html"

pictures: $(STAMP) assets ## release: take every picture of the docs anew, from real servers; needs Chromium
	WAITROOM_SCREENSHOTS=1 CI=true $(BIN)/python -m pytest -q tests/browser
	$(BIN)/python -m tests.browser.first_minute

release: $(STAMP) assets ## release: check that this tree can be released, build it into dist/, and say how to tag it; needs npm
	@$(BIN)/python -m tests.release_check

release-hashes: $(STAMP) ## release: write the requirements of the image with hashes, after constraints.txt changed; needs the network
	$(BIN)/python -m tests.release

audit: $(STAMP) ## release: ask for known vulnerabilities of what constraints.txt pins, and say if nobody could be asked
	$(BIN)/python -m tests.supply audit

sbom: $(STAMP) assets ## release: list what a release contains: build/sbom.json, CycloneDX; needs npm
	$(BIN)/python -m tests.supply sbom

vectors: $(STAMP) ## day: write the test vectors of a gate's contract, for gates in every language
	$(BIN)/python -m tests.contract

api-types: $(STAMP) $(MODULES) ## day: write the TypeScript types of the HTTP API, from its OpenAPI document; needs npm
	@mkdir -p build
	$(BIN)/python -m tests.support.openapi | node packages/client/api.mjs > build/api.ts && mv build/api.ts packages/client/src/api.ts

format: $(STAMP) ## day: put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

seeds: $(STAMP) ## day: show which requirements of the seed documents are proven
	$(BIN)/python -m tests.seeds

soak: $(STAMP) assets ## release: run the tests with the largest counts; hours
	SOAK=1 $(BIN)/python -m pytest -q --timeout 0 $(PYTEST_ARGS)

bench-engine: $(STAMP) ## measure: the engine (FULL=1: a million waiting; MILLIONS=10: ten)
	FULL="$(FULL)" MILLIONS="$(MILLIONS)" $(BIN)/python -m bench.engine

bench-http: $(STAMP) ## measure: the server beside three others (FULL=1: a million waiting); needs wrk
	FULL="$(FULL)" $(BIN)/python -m bench.http

bench-gate: $(STAMP) ## measure: what a gate costs a site; needs wrk
	$(BIN)/python -m bench.gate

bench-eta: $(STAMP) ## measure: the estimates against waits that came true, in drawn rooms (FULL=1, LARGE=1, WRITE=1: docs, KEEP= and FROM=folder)
	FULL="$(FULL)" MOST="$(MOST)" LARGE="$(LARGE)" WRITE="$(WRITE)" SALT="$(SALT)" KEEP="$(KEEP)" FROM="$(FROM)" $(BIN)/python -m bench.eta

bench-desk: $(STAMP) ## measure: the desk beside a COUNT query per guest, on PostgreSQL too if it is there
	$(BIN)/python -m bench.desk

bench-fair: $(STAMP) ## measure: what fair entry costs visitors, attackers and the server; needs wrk and Chromium
	$(BIN)/python -m bench.fair

bench-console: $(STAMP) ## measure: the operator page beside full polling load (FULL=1: a million waiting); needs wrk
	FULL="$(FULL)" $(BIN)/python -m bench.console

clean: ## day: remove what was made, the data folder .waitroom excepted
	rm -rf $(VENV) node_modules build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis \
		src/waitroom/server/static_built packages/*/types packages/*/dist
	find src tests bench examples -name __pycache__ -type d -prune -exec rm -rf {} +
