"""A machine made of a folder of programs, and a copy of the checkout's make files on it.

Nothing is installed from anywhere: the machine's Pythons answer the set-up's question as told, and what they make as
`.venv/bin/python` writes down what it is asked to do.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.project.checkout import ROOT

PROGRAMS = ("sh", "cat", "chmod", "cmp", "cp", "dirname", "echo", "make", "mkdir", "mktemp", "rm", "sed", "touch")

REQUIREMENTS = ("requirements.txt", "requirements-dev.txt", "requirements-scan.txt", "policy/requirements.txt")

PYTHON = """#!/bin/sh
case "$*" in
*" -c "*) {answer}; exit ;;
*" -m venv "*)
    for place in "$@"; do :; done  # the last argument
    mkdir -p "$place/bin"; cp '{inner}' "$place/bin/python"; exit {venv_fails:d} ;;
esac
exit 99
"""
# pip's exit code is read from a file beside the log, so that a test can make it fail.
INNER = """#!/bin/sh
case "$*" in
*" -c "*) echo '{answer}'; exit ;;
*" -m pip "*) echo "$*" >>'{log}'; echo "noise of pip" ; exit "$(cat '{log}.exit')" ;;
*) echo "run: $*" ;;
esac
"""


@dataclass(frozen=True)
class Machine:
    """A bare machine with a checkout at `checkout` and its programs in `programs`."""

    checkout: Path
    programs: Path
    log: Path

    @classmethod
    def bare(cls, folder: Path) -> Machine:
        """A machine without any Python."""
        machine = cls(folder / "checkout", folder / "bin", folder / "pip.log")
        machine.programs.mkdir()
        for program in PROGRAMS:
            found = shutil.which(program)
            assert found, program
            (machine.programs / program).symlink_to(found)
        for name in ("Makefile", "scripts/setup.sh", *REQUIREMENTS):
            (machine.checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, machine.checkout / name)
        machine.pip_exits(0)
        return machine

    def pip_exits(self, code: int) -> None:
        """Let pip end with this code from now on."""
        Path(f"{self.log}.exit").write_text(str(code))

    def add_python(self, name: str, version: str, *, whole: bool = True, venv_fails: bool = False) -> None:
        """Add an interpreter; one that is not whole lacks venv or ensurepip."""
        major, minor = version.split(".")[:2]
        number = int(major) * 100 + int(minor)
        inner = self.programs / f"inner-{name}"
        self._write(inner, INNER.format(answer=f"{number} {version} full .venv/bin/python", log=self.log))
        answer = f"echo '{number} {version} {'full' if whole else 'bare'} {self.programs / name}'"
        self._write(self.programs / name, PYTHON.format(answer=answer, inner=inner, venv_fails=venv_fails))

    def add_this_python(self, name: str) -> None:
        """Add an interpreter whose answer is that of the Python running the test."""
        self.add_python(name, "3.11.0")
        answer = f"'{sys.executable}' \"$@\" | sed 's|{sys.executable}|{self.programs / name}|'"
        inner = self.programs / f"inner-{name}"
        self._write(self.programs / name, PYTHON.format(answer=answer, inner=inner, venv_fails=False))

    def add_shim(self, name: str) -> None:
        """Add what a version manager leaves for a Python that is not there."""
        self._write(self.programs / name, "#!/bin/sh\necho 'not installed' >&2\nexit 127\n")

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the checkout with nothing but the machine's programs."""
        return subprocess.run(
            command,
            cwd=self.checkout,
            env={"PATH": str(self.programs), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def setup(self, kind: str = "runtime", **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the set-up."""
        return self.run("sh", "scripts/setup.sh", kind, **environment)

    @property
    def installations(self) -> list[str]:
        """The requirement file of each pip call so far."""
        return [line.split()[-1] for line in self.log.read_text().splitlines()] if self.log.exists() else []

    @property
    def left(self) -> set[str]:
        """What lies in the checkout beside its own files."""
        own = {"Makefile", "scripts", "policy", *REQUIREMENTS}
        return {path.name for path in self.checkout.iterdir()} - own

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)
