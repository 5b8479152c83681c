# Needs a POSIX shell, make (GNU 3.81 or newer) and Python 3.11 or newer; each target installs the rest by itself
# into .venv, once. PYTHON=python3.12 chooses the interpreter.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help preview policy scan test thorough check format e2e proof bench schema lock clean runtime dev

# Packages are installed uncompiled (scripts/setup.sh): without this each run would compile them anew.
unexport PYTHONDONTWRITEBYTECODE

python := .venv/bin/python
pytest = $(python) -m pytest --ignore=tests/e2e --numprocesses=auto --maxprocesses=8 --dist=worksteal

help: ## this list
	@echo 'usage: make TARGET'
	@sed -n 's/^\([a-z0-9]*\):[^#]*## /\1	/p' Makefile | while IFS='	' read -r name text; do \
		printf '  %-8s  %s\n' "$$name" "$$text"; done

preview: runtime ## the plan of every stack file, without an account (STACK=vision-dev for one)
	@$(python) -m offline show $(if $(STACK),$(STACK),--all)

policy: runtime ## hold every stack against the rules of policy/ (STACK=vision-dev for one)
	@$(python) -m policy $(if $(STACK),$(STACK),--all)

scan: runtime ## Checkov over every stack's plan and Kubernetes objects (STACK=vision-dev for one)
	@sh scripts/setup.sh scan
	@$(python) -m policy.scan $(if $(STACK),$(STACK),--all)

test: dev ## the test suite (ARGS='-k name' goes to pytest)
	@$(pytest) -m 'not thorough' $(ARGS)

thorough: dev ## the rest of it: every stack there can be, every change, and the simulated Google Cloud
	@$(pytest) -m thorough $(ARGS)

check: dev ## lint, format, types, the rooms' import contracts, and the workflows
	@$(python) -m ruff check
	@$(python) -m ruff format --check
	@$(python) -m mypy
	@$(python) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()'
	@$(python) -m pytest -q tests/workflows/test_files.py -k linters

format: dev ## write what lint and format can mend themselves
	@$(python) -m ruff check --fix --quiet
	@$(python) -m ruff format --quiet

e2e: dev ## the real-engine suite: Pulumi's engine and a Kubernetes control plane on this machine
	@$(python) -m tests.e2e.tools
	@$(python) -m pytest tests/e2e --numprocesses=3 --dist=loadgroup --no-loadscope-reorder $(ARGS)

proof: dev ## the real-engine suite, and docs/proof.md written anew from what it showed
	@$(python) -m tests.e2e.tools
	@report=$$(mktemp) && $(python) -m pytest tests/e2e --numprocesses=3 --dist=loadgroup --no-loadscope-reorder --junitxml=$$report $(ARGS); \
	status=$$?; $(python) -m tests.e2e.proof $$report; rm -f $$report; exit $$status

bench: dev ## the speed of the recorder and of the command line
	@$(python) -m tests.bench

schema: runtime ## write anew what is made from code: stacks/schema.json, docs/stack-file.md, the rules in docs/policy.md
	@$(python) -m offline schema --write
	@$(python) -m policy --write

lock: runtime ## renew requirements*.txt from requirements*.in (ARGS=--upgrade for the newest versions)
	@sh scripts/lock.sh $(ARGS)

clean: ## remove the virtual environments and all caches
	@rm -rf .venv .venv-scan policy/.venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage .coverage.*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

runtime dev:
	@sh scripts/setup.sh $@
