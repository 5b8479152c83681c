"""The command as a user runs it, on a git repository with a program of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from offline.cli import main

PROGRAM = """
import pulumi
from shop import shelves

for name, size in pulumi.Config().require_object("shelves").items():
    shelves.add(name, size)
"""
SHELVES = """
import pulumi

class Provider(pulumi.ProviderResource):
    pass

class Shelf(pulumi.CustomResource):
    def __init__(self, name, size):
        super().__init__("test:index:Shelf", name, {"size": size, "key": pulumi.Output.secret("hidden")})

def add(name, size):
    if size < 0:
        raise pulumi.RunError("shelves: a size is not negative; write 0 or more")
    if size == 13:
        raise ValueError("thirteen")
    Shelf(name, size)
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed project with a stack of two shelves; the current directory is in it."""
    project = tmp_path / "repository" / "project"
    (project / "shop").mkdir(parents=True)
    (project / "stacks").mkdir()
    (project / "Pulumi.yaml").write_text("name: shop\nruntime: python\nstackConfigDir: stacks\n")
    (project / "__main__.py").write_text(PROGRAM)
    (project / "shop" / "shelves.py").write_text(SHELVES)
    write(project, "a: 1, b: 2")
    git(project, "init", "--quiet", "--initial-branch=main", "..")
    commit(project)
    monkeypatch.chdir(project)
    return project


def write(project: Path, shelves: str, stack: str = "dev") -> None:
    (project / "stacks" / f"Pulumi.{stack}.yaml").write_text(f"config:\n  shop:shelves: {{{shelves}}}\n")


def git(project: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(project), *who, *arguments], check=True, capture_output=True)


def commit(project: Path) -> None:
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=x")


def diff(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["diff", "dev", *arguments])
    return status, *capsys.readouterr()


def test_nothing_changed(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = diff(capsys, "--base", "HEAD", "--exit-code")
    assert status == 0
    assert out.startswith("dev  no change\n")


def test_a_change_in_code_only_is_no_change(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "shop" / "shelves.py").write_text(
        "# Tidier.\n" + SHELVES.replace("Shelf(name, size)", "Shelf(name, size=size)")
    )
    status, out, _ = diff(capsys, "--base", "HEAD", "--exit-code", "--json")
    assert (status, json.loads(out)["changes"]) == (0, [])


def test_a_git_ref_is_the_program_and_the_stack_file_of_then(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(shop, "a: 1, b: 3, c: 4")
    (shop / "shop" / "shelves.py").write_text(SHELVES.replace('"size": size', '"size": size, "colour": "red"'))
    before = {path: path.read_bytes() for path in shop.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    status, out, _ = diff(capsys, "--base", "main", "--json", "--exit-code")
    assert status == 2
    found = json.loads(out)
    assert found["summary"] == {"create": 1, "update": 2, "replace": 0, "delete": 0, "same": 0}
    paths = {change["name"]: [path["path"] for path in change["paths"]] for change in found["changes"]}
    assert paths == {"a": ["colour"], "b": ["colour", "size"], "c": []}
    assert {change["source"] for change in found["changes"]} == {"shop/shelves.py:16"}
    assert "hidden" not in out
    assert {path: path.read_bytes() for path in before} == before


def test_a_directory_and_a_saved_plan_are_bases_too(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(shop, "worktree", "add", "--quiet", str(tmp_path / "other"))
    main(["show", "dev", "--json"])
    saved = tmp_path / "plan.json"
    saved.write_text(capsys.readouterr().out)
    write(shop, "a: 1")
    for base in (tmp_path / "other" / "project", saved):
        status, out, _ = diff(capsys, "--base", str(base), "--json", "--exit-code")
        assert status == 2
        assert [(change["name"], change["operation"]) for change in json.loads(out)["changes"]] == [("b", "delete")]


def test_a_new_stack_is_all_create_and_one_that_is_gone_all_delete(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(shop, "x: 1", stack="new")
    assert main(["diff", "new", "--base", "HEAD", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"]["create"] == 1
    (shop / "stacks" / "Pulumi.dev.yaml").unlink()
    for stack in ("dev", "stacks/Pulumi.dev.yaml"):
        assert main(["diff", stack, "--base", "HEAD", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["summary"]["delete"] == 2


def test_a_project_that_was_not_there_makes_all_create(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(shop, "rm", "-r", "--quiet", "--cached", ".")
    git(shop, "commit", "--quiet", "--allow-empty", "--message=empty")
    status, out, _ = diff(capsys, "--base", "HEAD", "--json")
    assert status == 0
    assert json.loads(out)["summary"]["create"] == 2


@pytest.mark.parametrize(
    ("base", "head", "error"),
    [
        ("a: -1", "a: 1", "--base HEAD: the base cannot be planned"),
        ("a: -1", "a: 1", "  shelves: a size is not negative; write 0 or more"),
        ("a: 13", "a: 1", "  its program fails: ValueError: thirteen"),
        ("a: 1", "a: -1", "shelves: a size is not negative; write 0 or more"),
    ],
)
def test_a_side_that_refuses_its_file_is_an_error(
    shop: Path, capsys: pytest.CaptureFixture[str], base: str, head: str, error: str
) -> None:
    write(shop, base)
    commit(shop)
    write(shop, head)
    status, out, err = diff(capsys, "--base", "HEAD")
    assert (status, out) == (1, "")
    assert any(line.startswith(error) for line in err.splitlines())


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["dev", "--base", "nowhere"], "--base nowhere: no such base"),
        (["dev", "--base", "--output=x"], "--base --output=x: no such base"),
        (["dev", "--base", "Pulumi.yaml"], "--base Pulumi.yaml: not a saved plan"),
        (["missing", "--base", "HEAD"], "stacks/Pulumi.missing.yaml: no such stack file"),
        (["./none.yaml", "--base", "HEAD"], "./none.yaml: no such stack file"),
    ],
)
def test_what_is_not_there_is_an_error(
    shop: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], error: str
) -> None:
    name, option, value = arguments
    status = main(["diff", name, f"{option}={value}"])
    out, err = capsys.readouterr()
    assert (status, out) == (1, "")
    assert err.startswith(error)


def test_a_saved_plan_of_another_stack_is_an_error(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "plan.json"
    saved.write_text(json.dumps({"project": "shop", "stack": "prod", "resources": [], "outputs": {}}))
    status, _, err = diff(capsys, "--base", str(saved))
    assert status == 1
    assert err.startswith(f"--base {saved}: a plan of another stack (prod)")


def test_details_need_a_directory(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = diff(capsys, "--base", "HEAD", "--details", "nowhere/x.md")
    assert (status, out) == (1, "")
    assert err.startswith("--details nowhere/x.md: cannot be written")


def test_details_go_to_a_file(shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(shop, "a: 2, b: 2")
    details = tmp_path / "details.md"
    status, out, _ = diff(capsys, "--base", "HEAD", "--markdown", "--details", str(details))
    assert status == 0
    assert "<details>" in out
    assert "`size`: `1` → `2`" in details.read_text()
