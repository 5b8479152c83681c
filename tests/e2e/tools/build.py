"""Build the programs into a cache outside the checkout, and find them there.

One folder per program, version and platform; a folder appears only when it is complete, so an interrupted build
leaves nothing half-done behind.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.tools.programs import PROGRAMS, Program

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_DIGEST_FILE = "recipe.sha256"
_PLUGIN = "pulumi-resource-kubernetes"


class ToolError(Exception):
    """A program cannot be had; the message is for the person who runs the suite."""


@dataclass(frozen=True)
class Tool:
    """A program that is there.

    Attributes:
        program: What it is.
        binary: The executable.
        folder: Its folder in the cache with the module's kept folders, or the folder it was found in.
    """

    program: Program
    binary: Path
    folder: Path


def cache_folder() -> Path:
    """Where the programs are kept: `$PATHWAYS_E2E_CACHE`, else `pathways-e2e` under the user's cache folder."""
    chosen = os.environ.get("PATHWAYS_E2E_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pathways-e2e"


def go_platform() -> str:
    """This machine in Go's words, such as `linux-amd64`."""
    machine = platform.machine().lower()
    return f"{platform.system().lower()}-{_MACHINES.get(machine, machine)}"


def find(program: Program) -> Tool | None:
    """The program from the user's own installation, else from the cache; None if it has to be built."""
    return _installed(program) or _cached(program)


def missing(programs: Iterable[Program] = PROGRAMS) -> list[Program]:
    """The programs that would have to be built."""
    return [program for program in programs if find(program) is None]


def ensure(programs: Iterable[Program] = PROGRAMS, say: Callable[[str], None] = print) -> dict[str, Tool]:
    """Build what is missing and return every program by name.

    Args:
        programs: What is wanted, in the order of building.
        say: Takes one line for each step.

    Raises:
        ToolError: A build failed (with the compiler's last lines).
    """
    tools: dict[str, Tool] = {}
    cache_folder().mkdir(parents=True, exist_ok=True)
    for program in programs:
        tool = find(program)
        if tool is not None:
            say(f"{program.name} {program.version}: {tool.binary}")
        else:
            with _lock(program):  # a second run that starts now waits for this one's result
                tool = _cached(program) or _build(program, say)
        tools[program.name] = tool
    return tools


def without_go(programs: Iterable[Program]) -> str:
    """One sentence: what cannot be built without Go, and which tests are left out for it."""
    programs = list(programs)
    names = ", ".join(program.name for program in programs)
    tests = "; ".join(dict.fromkeys(program.needed_by for program in programs))
    return f"Go is not on PATH, so {names} cannot be built; left out: {tests}."


def _installed(program: Program) -> Tool | None:
    """The user's own program, if it is this version: a kept folder of the module is only in our cache."""
    candidate = _plugin_of_user(program) if program.name == _PLUGIN else _on_path(program)
    return None if candidate is None else Tool(program, candidate, candidate.parent)


def _on_path(program: Program) -> Path | None:
    found = shutil.which(program.binary_name) if program.version_command else None
    if found is None:
        return None
    try:
        run = subprocess.run([found, *program.version_command], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = run.stdout.replace("+", " ").split()
    return Path(found) if {program.version, program.version.removeprefix("v")} & set(words) else None


def _plugin_of_user(program: Program) -> Path | None:
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    binary = home / "plugins" / f"resource-kubernetes-v{program.version}" / program.binary_name
    return binary if os.access(binary, os.X_OK) else None


def _folder(program: Program) -> Path:
    return cache_folder() / f"{program.binary_name}-{program.version}-{go_platform()}"


def _cached(program: Program) -> Tool | None:
    folder = _folder(program)
    digest = folder / _DIGEST_FILE
    if not digest.is_file() or digest.read_text() != _digest(program):
        return None
    return Tool(program, folder / program.binary_name, folder)


def _digest(program: Program) -> str:
    """Fingerprint of all that decides the result, so that a changed recipe is built again under the same version."""
    parts = [file.read_bytes() for file in sorted(program.recipe_folder.rglob("*")) if file.is_file()]
    parts += [repr((program.package, program.linker_flags, program.folders)).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _build(program: Program, say: Callable[[str], None]) -> Tool:
    say(f"{program.name} {program.version}: building (minutes when the Go build cache is cold) …")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=f".{program.name}-") as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        overlay = Path(scratch) / "overlay.json"
        module = Path(_go(program, "list", "-m", "-f", "{{.Dir}}", program.module, download=program.module))
        overlay.write_text(json.dumps({"Replace": _overlay(program, module)}))
        flags = ["-buildvcs=false", "-overlay", str(overlay), "-ldflags", program.linker_flags]
        _go(program, "build", *flags, "-o", str(made / program.binary_name), program.package)
        for kept in program.folders:
            shutil.copytree(module / kept, made / kept)
        _writable(made)
        (made / _DIGEST_FILE).write_text(_digest(program))
        folder = _folder(program)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    say(f"{program.name} {program.version}: built in {time.monotonic() - start:.0f} s -> {folder}")
    return Tool(program, folder / program.binary_name, folder)


def _overlay(program: Program, module: Path) -> dict[str, str]:
    """Files of the module shown to the compiler beside the recipe's main package; nothing is written there."""
    return {str(program.recipe_folder / name): str(module / source) for name, source in program.embeds}


def _go(program: Program, *arguments: str, download: str | None = None) -> str:
    """Run the go command in the recipe and return what it prints.

    Raises:
        ToolError: It failed; the message carries its last lines.
    """
    if download is not None:
        _go(program, "mod", "download", download)
    command = ["go", *arguments]
    # The checksums decide: a recipe that would have to change is an error, not an edit.
    environment = os.environ | {"GOFLAGS": f"{os.environ.get('GOFLAGS', '')} -mod=readonly".strip(), "GOWORK": "off"}
    run = subprocess.run(
        command, cwd=program.recipe_folder, capture_output=True, text=True, check=False, env=environment
    )
    if run.returncode != 0:
        last = "\n".join(run.stderr.splitlines()[-15:])
        message = f"{program.name}: `{' '.join(command)}` failed in {program.recipe_folder}:\n{last}"
        raise ToolError(message)
    return run.stdout.strip()


def _writable(folder: Path) -> None:
    """The module cache is read-only; a copy that cannot be deleted would be a nuisance."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


@contextmanager
def _lock(program: Program) -> Iterator[None]:
    with (cache_folder() / f".{program.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
