#!/bin/sh
# Make a virtual environment hold what a make target needs, and do nothing the second time.
#
#   sh scripts/setup.sh runtime   what a preview needs (requirements.txt)
#   sh scripts/setup.sh dev       what tests and checks need on top (requirements-dev.txt)
#   sh scripts/setup.sh scan      Checkov (requirements-scan.txt), in .venv-scan: its pins would hold everybody back
#   sh scripts/setup.sh pack      the policy pack (policy/requirements.txt), in policy/.venv, where the engine looks
#
# PYTHON=python3.12 chooses the interpreter. The stamp of a finished installation is a copy of its requirement file
# inside the environment, so a changed file installs again; a marker stands while one is under way, so an interrupted one is
# started over. Plain POSIX sh, because a bare machine may have nothing newer.
set -eu

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# The oldest Python that the project runs on, as major * 100 + minor.
OLDEST=311

# describe PYTHON MODULE...: print "<number> <version> <full|bare> <path>", bare when it lacks one of the modules.
# Fails when it cannot be run at all: not there, or a version manager's shim without that version.
describe() {
    program=$1
    shift
    "$program" -I -c '
import importlib.util, sys
kind = "full" if all(importlib.util.find_spec(name) for name in sys.argv[1:]) else "bare"
print(sys.version_info[0] * 100 + sys.version_info[1], sys.version.split()[0], kind, sys.executable)
' "$@" 2>/dev/null
}

# Set `python` to the first interpreter that is new enough and can make virtual environments, or say in one sentence
# why there is none.
find_python() {
    old='' bare=''
    for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}; do
        found=$(describe "$candidate" venv ensurepip) || continue
        IFS=' ' read -r number version kind path <<EOF
$found
EOF
        if [ "$number" -lt "$OLDEST" ]; then
            old=${old:-"$version at $path"}
        elif [ "$kind" = bare ]; then
            bare=${bare:-"$version at $path"}
            package=${package:-"python3.${number#3}-venv"}
        else
            python=$path
            return
        fi
    done
    if [ -n "$bare" ]; then
        die "Python $bare cannot make virtual environments (its venv or ensurepip module is missing):" \
            "install it (Debian, Ubuntu: apt-get install $package) and run make again."
    elif [ -n "$old" ]; then
        die "Python 3.11 or newer is needed, and the one found is $old:" \
            "install a newer one, or name it with make PYTHON=/path/to/python3.12."
    fi
    die "Python 3.11 or newer is needed, and no ${PYTHON:-python3} could be run:" \
        "install it, or name it with make PYTHON=/path/to/python3.12."
}

# True when $venv is whole, has pip, is new enough, and is of the version that PYTHON (when given) has.
venv_fits() {
    [ ! -e "$venv/.installing" ] || return 1
    have=$(describe "$venv/bin/python" pip) || return 1
    case $have in *' bare '*) return 1 ;; esac
    [ "${have%% *}" -ge "$OLDEST" ] || return 1
    [ -n "${PYTHON:-}" ] || return 0
    wanted=$(describe "$PYTHON") || return 1
    [ "${wanted%% *}" = "${have%% *}" ]
}

make_venv() {
    find_python
    rm -rf "$venv"
    say "Making $venv with Python $version ($python)"
    mkdir "$venv"
    : >"$venv/.installing"
    "$python" -I -m venv "$venv" >&2 ||
        die "$python could not make $venv (its message is above): repair it, or name another with make PYTHON=…"
    rm "$venv/.installing"
}

# Without compiling: of the provider SDKs' thousands of modules a run imports some hundred, and compiles those itself.
install() {
    say "Installing $requirements into $venv ($effort with a fast connection, once)"
    : >"$venv/.installing"
    "$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
        --require-hashes --requirement "$requirements" >&2 ||
        die "The installation of $requirements did not finish (pip's message is above): run make again."
    for name in $covers; do cp "$name" "$venv/.installed-${name##*/}"; done
    rm "$venv/.installing"
}

# Run the program once, so that what it imports is compiled before tests start it side by side. Whether it works is
# for the tests to say.
warm_up() {
    (unset PYTHONDONTWRITEBYTECODE && .venv/bin/python -m offline show --all >/dev/null 2>&1) || :
}

installed() { [ ! -e "$venv/.installing" ] && cmp -s "$requirements" "$venv/.installed-${requirements##*/}"; }

cd "$(dirname "$0")/.."
venv=.venv
case ${1:-} in
    runtime) requirements=requirements.txt covers=requirements.txt effort='about half a minute' ;;
    dev) requirements=requirements-dev.txt covers='requirements.txt requirements-dev.txt' effort='about a minute' ;;
    scan) requirements=requirements-scan.txt covers=$requirements effort='about a minute' venv=.venv-scan ;;
    pack) requirements=policy/requirements.txt covers=$requirements effort='about half a minute' venv=policy/.venv ;;
    *) say 'usage: sh scripts/setup.sh runtime|dev|scan|pack'; exit 2 ;;
esac

# The common case starts no process but cmp.
if [ -z "${PYTHON:-}" ] && [ -x "$venv/bin/python" ] && installed; then exit 0; fi
venv_fits || make_venv
if ! installed; then
    install
    [ "$1" != dev ] || warm_up
fi
