"""What may be in the repository."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.project.checkout import ROOT, committed

# In pieces, so that this file does not find itself.
REGISTRIES = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("sum", "golang", "org"),
        ("repo1", "maven", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
    )
)
# A folder of one person's machine; a folder of that name deeper in a path is none.
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(?:work|root|home|Users|farm)/[\w.]")
LONGEST_MODULE = 350

LEFT_BY_MAKE = (
    ".venv/bin/python",
    ".venv-scan/bin/checkov",
    "policy/.venv/bin/python",
    ".coverage",
    ".coverage.host.1.x",
    ".hypothesis/examples",
    ".import_linter_cache/x.json",
    ".mypy_cache/3.11/x.json",
    ".pytest_cache/v/cache",
    ".ruff_cache/x",
    "__pycache__/__main__.cpython-311.pyc",
    "pathways/__pycache__/tpu.cpython-311.pyc",
)


def test_no_file_names_a_package_registry_or_a_path_of_one_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in committed()
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        if any(host in line for host in REGISTRIES) or MACHINE_PATH.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("cd /" + "work/main", True),
        ("PATH=/" + "root/bin:/usr/bin", True),
        ("open('/" + "home/ada/x')", True),
        ("see https://example.com/" + "home/page", False),
        ("mountPath: /tmp/results", False),
        ("$HOME/" + "work/x", False),
    ],
)
def test_what_counts_as_a_path_of_one_machine(line: str, is_one: bool) -> None:
    assert bool(MACHINE_PATH.search(line)) is is_one


def test_no_module_is_longer_than_a_reader_can_hold() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines())
        for path in committed()
        if path.suffix == ".py"
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


@pytest.mark.parametrize("path", LEFT_BY_MAKE)
def test_what_make_leaves_is_ignored(path: str) -> None:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout: nothing is ignored")
    ignored = subprocess.run(["git", "check-ignore", "--quiet", "--no-index", path], cwd=ROOT, check=False)
    assert ignored.returncode == 0


def test_nothing_committed_is_ignored() -> None:
    names = "\0".join(str(path.relative_to(ROOT)) for path in committed())
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=ROOT,
        input=names,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ignored.stdout == ""
