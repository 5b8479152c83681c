"""The programs of the suite are pinned, found where they are, built once, and named when they cannot be had."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.tools import build
from tests.e2e.tools.__main__ import main
from tests.e2e.tools.programs import BY_NAME, PROGRAMS, Program

GREETER = 'package main\n\nimport "fmt"\n\nvar Version = "none"\n\nfunc main() { fmt.Println("greeter", Version) }\n'
needs_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go is not on PATH, so nothing can be built here.")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own, and no user's programs beside it."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PATHWAYS_E2E_CACHE", str(folder))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    return folder


@pytest.fixture
def greeter(tmp_path: Path) -> Program:
    """A program of one file that builds in a second."""
    recipe = tmp_path / "recipe"
    (recipe / "chart").mkdir(parents=True)
    (recipe / "chart" / "values.yaml").write_text("a: 1\n")
    (recipe / "go.mod").write_text("module e2e.test/greeter\n\ngo 1.21\n")
    (recipe / "main.go").write_text(GREETER)
    return Program(
        "greeter",
        recipe=str(recipe),
        module="e2e.test/greeter",
        package=".",
        needed_by="the test of greeting",
        stamps=("main.Version",),
        released_as="v1.2.3",
        folders=("chart",),
        version_command=("version",),
    )


@pytest.fixture
def on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Put a script that prints something first on the PATH."""

    def write(name: str, prints: str) -> Path:
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\necho '{prints}'\n")
        file.chmod(0o755)
        monkeypatch.setenv("PATH", str(file.parent), prepend=":")
        return file

    return write


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_every_program_is_pinned_with_checksums(program: Program) -> None:
    assert re.fullmatch(r"v?\d+\.\d+\.\d+", program.version)
    sums = (program.recipe_folder / "go.sum").read_text().splitlines()
    pinned = re.search(
        rf"{re.escape(program.module)} (v\S+)", (program.recipe_folder / "go.mod").read_text().split("require", 1)[1]
    )
    assert pinned is not None
    assert any(line.startswith(f"{program.module} {pinned[1]} h1:") for line in sums)


def test_the_previous_jobset_is_older_than_the_current_one() -> None:
    def numbers(name: str) -> tuple[int, ...]:
        return tuple(int(part) for part in BY_NAME[name].version.lstrip("v").split("."))

    assert numbers("jobset-previous") < numbers("jobset")


@needs_go
def test_a_missing_program_is_built_once_and_then_found(greeter: Program, cache: Path) -> None:
    said: list[str] = []
    assert build.find(greeter) is None
    first = build.ensure([greeter], said.append)["greeter"]
    assert first.folder == cache / f"greeter-v1.2.3-{build.go_platform()}"
    assert (first.folder / "chart" / "values.yaml").read_text() == "a: 1\n"
    assert re.search(r"built in \d+ s", said[-1])
    built_at = first.binary.stat().st_mtime_ns
    assert build.ensure([greeter], said.append)["greeter"].binary.stat().st_mtime_ns == built_at
    assert said[-1] == f"greeter v1.2.3: {first.binary}"


@needs_go
def test_the_binary_reports_the_pinned_version(greeter: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = build.ensure([greeter], lambda _: None)["greeter"]
    monkeypatch.setenv("PATH", str(tool.folder), prepend=":")
    assert build.find(replace(greeter, recipe="nowhere")) == replace(tool, program=replace(greeter, recipe="nowhere"))


@needs_go
def test_a_changed_recipe_is_built_again_under_the_same_version(greeter: Program) -> None:
    build.ensure([greeter], lambda _: None)
    (greeter.recipe_folder / "main.go").write_text(GREETER.replace("greeter", "welcome"))
    assert build.find(greeter) is None
    assert b"welcome" in build.ensure([greeter], lambda _: None)["greeter"].binary.read_bytes()


@needs_go
def test_a_failed_build_shows_the_compilers_words_and_leaves_nothing(greeter: Program, cache: Path) -> None:
    (greeter.recipe_folder / "main.go").write_text("package main\n\nfunc main() { undefinedThing() }\n")
    with pytest.raises(build.ToolError, match="undefinedThing"):
        build.ensure([greeter], lambda _: None)
    assert [entry.name for entry in cache.iterdir() if entry.is_dir()] == []
    assert build.find(greeter) is None


@needs_go
def test_a_recipe_without_its_checksums_is_refused_not_completed(greeter: Program) -> None:
    (greeter.recipe_folder / "main.go").write_text(
        'package main\n\nimport _ "golang.org/x/mod/semver"\n\nfunc main() {}\n'
    )
    with pytest.raises(build.ToolError, match=r"golang\.org/x/mod"):
        build.ensure([greeter], lambda _: None)
    assert not (greeter.recipe_folder / "go.sum").exists()


@pytest.mark.parametrize(
    ("name", "prints", "used"),
    [
        ("pulumi", "v3.276.0", True),
        ("pulumi", "v3.275.9", False),
        ("kube-apiserver", "Kubernetes v1.35.4", True),
        ("kube-apiserver", "Kubernetes v1.35.40", False),
        ("etcd", "etcd Version: 3.6.5", True),
        ("helm", "v3.18.6+gb76a950", True),
    ],
)
def test_the_users_own_program_is_used_in_the_pinned_version_only(
    on_path: Callable[[str, str], Path], name: str, prints: str, used: bool
) -> None:
    file = on_path(name, prints)
    tool = build.find(BY_NAME[name])
    assert (tool.binary if tool else None) == (file if used else None)


def test_the_users_own_provider_plugin_is_used(tmp_path: Path) -> None:
    program = BY_NAME["pulumi-resource-kubernetes"]
    plugin = tmp_path / "pulumi" / "plugins" / f"resource-kubernetes-v{program.version}" / program.binary_name
    assert build.find(program) is None
    plugin.parent.mkdir(parents=True)
    plugin.touch(mode=0o755)
    assert build.find(program) == build.Tool(program, plugin, plugin.parent)


def test_without_go_one_sentence_says_what_is_missing_and_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["kueue", "lws"]) == 0
    said = capsys.readouterr().out.strip()
    assert said.startswith("Go is not on PATH, so ")
    assert "kueue, lws cannot be built" in said
    assert "every test of the queue" in said
    assert "pulumi" not in said
    assert "\n" not in said
    assert said.count(". ") == 0


def test_an_unknown_program_is_a_wrong_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["kubelet"])
    assert ended.value.code == 2
    assert "no such program: kubelet" in capsys.readouterr().err


def test_tests_that_share_a_world_run_in_one_process(request: pytest.FixtureRequest) -> None:
    """The scheduler reads the groups from the node ids; a pytest that it does not know loses them without a word."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith("@test_00_tools")
