"""The requirement files: exact, hashed, and one the part of the other."""

from __future__ import annotations

import re
from importlib.metadata import requires

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.checkout import ROOT

LOCKED = ("requirements.txt", "requirements-dev.txt", "requirements-scan.txt", "policy/requirements.txt")
PINNED = re.compile(r"(?P<pin>[\w.-]+(?:\[[\w,.-]+\])?==[\w.!+]+(?: ; [^#]+?)?)(?: --hash=sha256:[0-9a-f]{64})+")


def logical_lines(name: str) -> list[str]:
    """The lines of a requirement file, continued ones joined, without comments."""
    text = re.sub(r"\s*\\\n\s*", " ", (ROOT / name).read_text("utf-8"))
    return [line for raw in text.splitlines() if (line := re.sub(r"(^|\s)#.*", "", raw).strip())]


def pins(name: str) -> dict[str, Requirement]:
    """The pins of a locked file by package."""
    found = [PINNED.fullmatch(line) for line in logical_lines(name)]
    requirements = [Requirement(match["pin"]) for match in found if match]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def wanted(name: str) -> list[Requirement]:
    """What an .in file asks for itself."""
    return [Requirement(line) for line in logical_lines(name) if not line.startswith("-r ")]


def version(requirement: Requirement) -> str:
    (specifier,) = requirement.specifier
    return specifier.version


@pytest.mark.parametrize("name", LOCKED)
def test_every_line_is_an_exact_version_with_hashes(name: str) -> None:
    assert [line for line in logical_lines(name) if not PINNED.fullmatch(line)] == []
    requirements = [Requirement(match["pin"]) for line in logical_lines(name) if (match := PINNED.fullmatch(line))]
    assert requirements
    # A package may have a line for each Python, if each says for which it is.
    plain = [canonicalize_name(requirement.name) for requirement in requirements if requirement.marker is None]
    assert len(set(plain)) == len(plain)


@pytest.mark.parametrize("name", LOCKED)
def test_no_line_holds_an_address(name: str) -> None:
    assert "://" not in (ROOT / name).read_text("utf-8")


@pytest.mark.parametrize(
    ("source", "locked"),
    [
        ("requirements.in", LOCKED[0]),
        ("requirements.in", LOCKED[1]),
        ("requirements-dev.in", LOCKED[1]),
        ("requirements-scan.in", LOCKED[2]),
        ("policy/requirements.in", LOCKED[3]),
    ],
)
def test_what_is_asked_for_is_locked(source: str, locked: str) -> None:
    have = pins(locked)
    for requirement in wanted(source):
        pin = have[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version(pin)), f"{source} asks for {requirement}, {locked} has {pin}"
        assert requirement.extras <= pin.extras, f"{source} asks for {requirement}, {locked} has {pin}"


def test_what_a_package_asks_for_with_an_extra_is_locked_with_it() -> None:
    # pip takes `coverage[toml]` for another package than a locked `coverage`, one whose newest release will do, and
    # refuses that for want of hashes: an installation that worked until the release breaks.
    have = pins("requirements-dev.txt")
    here = [name for name, pin in have.items() if pin.marker is None or pin.marker.evaluate()]
    needed = [Requirement(line) for name in here for line in requires(name) or ()]
    needed = [each for each in needed if each.extras and (each.marker is None or each.marker.evaluate({"extra": ""}))]
    assert [str(each) for each in needed if each.extras - have[canonicalize_name(each.name)].extras] == []
    assert needed


def test_tests_run_on_the_versions_that_a_preview_runs_on() -> None:
    runtime, dev = pins("requirements.txt"), pins("requirements-dev.txt")
    assert {name: str(dev.get(name)) for name in runtime} == {name: str(pin) for name, pin in runtime.items()}


def test_the_pulumi_packages_are_pinned_by_hand() -> None:
    exact = {requirement.name for requirement in wanted("requirements.in") if "==" in str(requirement.specifier)}
    assert exact == {"pulumi", "pulumi-gcp", "pulumi-kubernetes"}


def test_the_policy_pack_runs_on_the_projects_sdk() -> None:
    assert str(pins("policy/requirements.txt")["pulumi"]) == str(pins("requirements.txt")["pulumi"])
