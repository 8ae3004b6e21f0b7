# `make demo` and `make test` need only Python 3.11+ and make; each does its own set-up in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP     = $$(cat $(VENV)/.pip 2> /dev/null || echo $(BIN)/python -m pip)
# Tests start hundreds of processes: without cached bytecode, each would compile every module that it imports.
export PYTHONDONTWRITEBYTECODE =

# Attacks whose tests are beside what they attack: forged names, damaged layers, copies over a store, lost files, the
# memory of the cache, the process for slow questions, writes.
ATTACKED := tests/graph/test_forged.py tests/graph/test_layer_damage.py tests/operations/test_install.py \
	tests/serving/test_mapped.py tests/http/test_cache.py tests/http/test_slow.py tests/http/test_writes.py

.DEFAULT_GOAL := help
.PHONY: help demo test lint types tests attack bench faults fuzz trials reproduce docs site screenshots extension package release base lock clean

help:            ## this list
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/: .*##/\t/' | expand -t 12

demo: $(VENV)/.installed          ## related pages on the bundled sample web
	@$(BIN)/cocite demo

test: $(VENV)/.installed-dev      ## lint, types and tests at the same time: five minutes on two cores; `make trials` for the rest
	@$(MAKE) --no-print-directory -j 3 lint types tests

lint: $(VENV)/.installed-dev      ## ruff
	$(BIN)/ruff check src tests bench research extension docs
	$(BIN)/ruff format --check src tests bench research extension docs

types: $(VENV)/.installed-dev     ## mypy, strict
	$(BIN)/mypy

tests: $(VENV)/.installed-dev     ## pytest
	$(BIN)/pytest -n logical --maxprocesses 4 --dist worksteal

bench: $(VENV)/.installed-dev     ## all benchmarks; writes docs/lab/benchmarks.md and the README's figures: an hour and a half, 15 GB under bench/data
	$(PIP) install -q --disable-pip-version-check granian marisa-trie networkit scikit-network
	$(BIN)/python bench/report.py

faults: $(VENV)/.installed-dev    ## kills, power loss, failing calls, full disks, changed bytes; writes docs/lab/faults.md, three hours
	$(BIN)/python -m tests.faults.trials --log docs/lab/faults.md

fuzz: $(VENV)/.installed-dev      ## every reader of strangers' input, requests and kernels, by atheris and fast, a minute each; writes docs/lab/fuzzing.md, what fails into fuzz-found
	$(PIP) install -q --disable-pip-version-check atheris
	$(BIN)/python -m tests.fuzz.all
	$(BIN)/python -m tests.fuzz.all --fast --log docs/lab/fuzzing.md

attack: $(VENV)/.installed-dev    ## every attack on a server and on a store, with an honest client beside it: some ten minutes
	COCITE_LONG=1 $(BIN)/pytest tests/attack $(ATTACKED)

trials: $(VENV)/.installed-dev    ## all tests at full length: Spark, browsers, bounds of all arrays, a fresh installation, known vulnerabilities; writes docs/lab/trials.md, an hour
	$(PIP) install -q --disable-pip-version-check pip-audit
	$(BIN)/python -m tests.trials --log docs/lab/trials.md

reproduce: $(VENV)/.installed     ## docs/lab/reproductions.md: the papers' claims, run again on ../shared/data, half an hour
	$(BIN)/cocite reproduce --data ../shared/data --stores bench/data/judged --write docs/lab/reproductions.md

docs: $(VENV)/.installed-dev      ## the generated pages of docs/: reference, worked examples with drawings, notebook
	$(BIN)/python docs/reference.py docs
	$(BIN)/python -m docs.explanation.worked
	$(BIN)/python docs/notebooks/make.py

screenshots: $(VENV)/.installed-dev  ## docs/images: every view of the web page, wide and narrow, light and dark; needs Chromium
	$(PIP) install -q --disable-pip-version-check pillow
	$(BIN)/python bench/screenshots.py

site: $(VENV)/.installed-dev      ## build/site/: the documentation as a site, with search that works offline
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open build/site/index.html"

extension:       ## dist/cocite-chromium.zip and dist/cocite-firefox.zip: the browser extension
	@$(PYTHON) extension/pack.py dist

package: $(VENV)/.installed-dev   ## dist/: the wheel and the sdist
	$(BIN)/uv build -q --out-dir dist .
	@ls dist/cocite-*

release: $(VENV)/.installed-dev   ## dist/: build, check and install a release in a fresh environment; docs/release.md has the checklist
	$(BIN)/python -m tests.release

base:            ## renew the digest of the image under deploy/Dockerfile; needs Docker with a network
	@PYTHONPATH=src $(PYTHON) -m tests.release base

lock: $(VENV)/.installed-dev      ## choose the development versions anew
	$(BIN)/uv pip compile -q --upgrade pyproject.toml --group dev --no-emit-index-url --no-header --generate-hashes -o requirements-dev.lock

clean:           ## remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "cocite needs Python 3.11 or newer; set PYTHON=/path/to/python3"; exit 1; }
	@# With a pip outside that can install into it, the environment needs none of its own: two seconds less.
	@if $(PYTHON) -m pip --python `command -v $(PYTHON)` --version > /dev/null 2>&1; then \
		$(PYTHON) -m venv --without-pip $(VENV) && echo "$(PYTHON) -m pip --python $(BIN)/python" > $(VENV)/.pip; \
	else \
		$(PYTHON) -m venv $(VENV) && echo "$(BIN)/python -m pip" > $(VENV)/.pip; \
	fi
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.created
	@echo "Installing cocite and its libraries into $(VENV): some 700 MB, a minute or two …"
	$(PIP) install --disable-pip-version-check --no-compile --progress-bar on -e .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml requirements-dev.lock | $(VENV)/.created
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || $(BIN)/python -m ensurepip > /dev/null  # tests install packages
	$(PIP) install -q --disable-pip-version-check --no-compile -r requirements-dev.lock
	$(PIP) install -q --disable-pip-version-check --no-deps -e .
	@touch $@ $(VENV)/.installed
