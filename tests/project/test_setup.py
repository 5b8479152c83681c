"""The set-up of a bare machine: which Python it takes, what it installs when, and what it says where it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.project.machine import Machine

TOO_OLD = "Python 3.11 or newer is needed, and the one found is 3.9.18 at "
NO_VENV = "cannot make virtual environments (its venv or ensurepip module is missing)"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.bare(tmp_path)


def refusal(machine: Machine, **environment: str) -> str:
    """What a set-up that cannot begin says: one sentence, and nothing is left."""
    done = machine.setup(**environment)
    assert (done.returncode, done.stdout, machine.left) == (1, "", set())
    (line,) = done.stderr.splitlines()
    return line


def test_no_python(machine: Machine) -> None:
    assert refusal(machine) == (
        "Python 3.11 or newer is needed, and no python3 could be run: "
        "install it, or name it with make PYTHON=/path/to/python3.12."
    )


def test_an_old_python(machine: Machine) -> None:
    machine.add_python("python3", "3.9.18")
    assert refusal(machine).startswith(TOO_OLD)


def test_a_python_without_venv(machine: Machine) -> None:
    machine.add_python("python3", "3.11.2", whole=False)
    sentence = refusal(machine)
    assert NO_VENV in sentence
    assert "python3.11-venv" in sentence


def test_the_python_that_was_named_is_the_only_one_tried(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    machine.add_python("python3.9", "3.9.18")
    assert refusal(machine, PYTHON="python3.9").startswith(TOO_OLD)
    assert "no python3.14 could be run" in refusal(machine, PYTHON="python3.14")


@pytest.mark.parametrize("first", ["old", "bare", "shim"])
def test_a_python_that_will_not_do_is_passed_over(machine: Machine, first: str) -> None:
    match first:
        case "old":
            machine.add_python("python3", "3.9.18")
        case "bare":
            machine.add_python("python3", "3.11.2", whole=False)
        case _:
            machine.add_shim("python3")
    machine.add_python("python3.12", "3.12.1")
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert "Making .venv with Python 3.12.1" in done.stderr


def test_the_question_to_an_interpreter_is_one_that_python_answers(machine: Machine) -> None:
    machine.add_this_python("python3")
    done = machine.setup()
    assert done.returncode == 0, done.stderr
    assert f"Making .venv with Python {sys.version.split()[0]} (" in done.stderr


def test_a_second_run_installs_nothing_and_says_nothing(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    first, second = machine.setup(), machine.setup()
    assert (first.returncode, first.stdout, len(first.stderr.splitlines())) == (0, "", 3)  # making, installing, pip's
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    assert machine.installations == ["requirements.txt"]
    assert machine.left == {".venv"}


def test_only_hashed_packages_are_installed(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    machine.setup()
    assert "--require-hashes" in machine.log.read_text()


def test_tests_need_more_than_a_preview_and_cover_it(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    for kind in ("runtime", "dev", "runtime", "dev"):
        assert machine.setup(kind).returncode == 0
    assert machine.installations == ["requirements.txt", "requirements-dev.txt"]


def test_a_changed_requirement_file_is_installed(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    machine.setup()
    with (machine.checkout / "requirements.txt").open("a") as file:
        file.write("# changed\n")
    machine.setup()
    assert machine.installations == ["requirements.txt"] * 2


def test_an_installation_that_failed_is_started_over(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    machine.pip_exits(1)
    failed = machine.setup()
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == (
        "The installation of requirements.txt did not finish (pip's message is above): run make again."
    )
    assert machine.left == {".venv"}
    machine.pip_exits(0)
    again = machine.setup()
    assert again.returncode == 0
    assert "Making .venv" in again.stderr
    assert machine.setup().stderr == ""


def test_a_failed_addition_does_not_leave_the_preview_believing(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    machine.setup("runtime")
    machine.pip_exits(1)
    assert machine.setup("dev").returncode == 1
    machine.pip_exits(0)
    assert "Making .venv" in machine.setup("runtime").stderr


def test_a_venv_that_cannot_be_made(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1", venv_fails=True)
    assert "could not make .venv" in machine.setup().stderr.splitlines()[-1]
    machine.add_python("python3", "3.12.1")
    assert machine.setup().returncode == 0


def test_a_venv_of_another_python_than_the_named_one_is_made_anew(machine: Machine) -> None:
    machine.add_python("python3", "3.11.2")
    machine.add_python("python3.12", "3.12.1")
    machine.setup()
    assert "Making .venv with Python 3.12.1" in machine.setup(PYTHON="python3.12").stderr
    assert machine.setup(PYTHON="python3.12").stderr == ""
    assert machine.setup().stderr == ""


def test_an_old_python_that_was_named_does_not_cost_the_venv(machine: Machine) -> None:
    machine.add_python("python3", "3.11.2")
    machine.add_python("python3.9", "3.9.18")
    machine.setup()
    assert machine.setup(PYTHON="python3.9").returncode == 1
    assert machine.setup().stderr == ""


@pytest.mark.parametrize(
    ("words", "runs", "installs"),
    [
        (["preview"], "run: -m offline show --all", "requirements.txt"),
        (["preview", "STACK=vision-dev"], "run: -m offline show vision-dev", "requirements.txt"),
        (["policy"], "run: -m policy --all", "requirements.txt"),
        (["policy", "STACK=vision-dev"], "run: -m policy vision-dev", "requirements.txt"),
        (["test"], "run: -m pytest --ignore=tests/e2e", "requirements-dev.txt"),
        (["check"], "run: -m ruff check", "requirements-dev.txt"),
    ],
)
def test_one_command_on_a_bare_machine(machine: Machine, words: list[str], runs: str, installs: str) -> None:
    machine.add_python("python3", "3.12.1")
    done = machine.run("make", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith(runs)
    assert machine.installations == [installs]


def test_a_scan_has_an_environment_of_its_own(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    done = machine.run("make", "scan")
    assert (done.returncode, done.stdout) == (0, "run: -m policy.scan --all\n"), done.stderr
    assert machine.installations == ["requirements.txt", "requirements-scan.txt"]
    assert machine.left == {".venv", ".venv-scan"}
    assert machine.run("make", "scan").stderr == ""


def test_the_policy_pack_has_its_environment_where_the_engine_looks(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    assert machine.setup("pack").returncode == 0
    assert machine.setup("pack").stderr == ""
    assert machine.installations == ["policy/requirements.txt"]
    assert (machine.checkout / "policy" / ".venv" / "bin" / "python").exists()
    assert machine.left == set()


def test_a_run_of_make_compiles_what_it_imports(machine: Machine) -> None:
    machine.add_python("python3", "3.12.1")
    (machine.programs / "inner-python3").write_text(
        (machine.programs / "inner-python3").read_text().replace('"run: $*"', '"[$PYTHONDONTWRITEBYTECODE]"')
    )
    assert machine.run("make", "preview", PYTHONDONTWRITEBYTECODE="1").stdout == "[]\n"


def test_make_alone_names_every_target(machine: Machine) -> None:
    done = machine.run("make")
    named = {line.split()[0] for line in done.stdout.splitlines()[1:]}
    phony = next(
        line for line in (machine.checkout / "Makefile").read_text().splitlines() if line.startswith(".PHONY:")
    )
    assert named == set(phony.split()[1:]) - {"runtime", "dev"}
    assert machine.left == set()


def test_a_wrong_kind_of_setup(machine: Machine) -> None:
    assert machine.setup("all").returncode == 2
