#!/bin/sh
# Resolve requirements*.in into requirements*.txt: exact versions with hashes, for every Python from 3.11 on and
# every platform (markers where they differ), without the address of any registry. Keeps the versions that are
# pinned already; `sh scripts/lock.sh --upgrade` takes the newest that the .in files allow. Extras stay in the pins:
# without them pip takes `coverage[toml]` for one that has none, as soon as a newer release than the pinned one is out.
set -eu

cd "$(dirname "$0")/.."
UV=0.13.9

# The resolver is no part of the project: it lives as long as this run does.
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

.venv/bin/python -m venv "$tools"
"$tools/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile "uv==$UV"

compile() {
    "$tools/bin/uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
        --no-strip-extras --no-header --no-emit-index-url --no-emit-find-links --annotation-style line "$@"
}
compile requirements.in --output-file requirements.txt "$@"
compile requirements-dev.in --constraints requirements.txt --output-file requirements-dev.txt "$@"
# Environments of their own: what these pin is not what the project runs on.
compile requirements-scan.in --output-file requirements-scan.txt "$@"
compile policy/requirements.in --output-file policy/requirements.txt "$@"
