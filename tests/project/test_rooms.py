"""The house: what each room may hold, where the import contracts cannot say it."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
import yaml

from pathways.settings.stack import Settings
from tests.project.checkout import ROOT, committed

TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
ARITHMETIC = (ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)


def modules(room: str) -> list[tuple[str, ast.Module]]:
    paths = sorted((ROOT / room).rglob("*.py"))
    assert paths, room
    return [(str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8"))) for path in paths]


def test_the_import_contracts_know_every_room() -> None:
    rooms = {path.relative_to(ROOT).parts[0] for path in committed() if path.name == "__init__.py"}
    assert set(TOOLS["importlinter"]["root_packages"]) == rooms


def is_arithmetic(node: ast.AST) -> bool:
    """Whether this computes; `folder / "name"` joins a path."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ARITHMETIC):
        return False
    text = isinstance(node.right, ast.JoinedStr) or isinstance(getattr(node.right, "value", None), str)
    return not (isinstance(node.op, ast.Div) and text)


def test_no_component_does_arithmetic() -> None:
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, tree in modules("components")
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and is_arithmetic(node)
    ]
    assert found == []


def test_no_component_reads_the_configuration() -> None:
    found = [
        f"{name}:{node.lineno}"
        for name, tree in modules("components")
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr == "Config" and ast.unparse(node.value) == "pulumi")
        or (isinstance(node, ast.ImportFrom) and node.module == "pulumi" and "Config" in {a.name for a in node.names})
    ]
    assert found == []


def google_modules(tree: ast.Module) -> set[str]:
    """The modules of the Google SDK that a component names."""
    found: set[str] = set()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "pulumi_gcp":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pulumi_gcp."):
            found.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {alias.asname or alias.name for alias in node.names if alias.name == "pulumi_gcp"}
    return found | {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names
    }


def test_the_type_checker_follows_every_google_module_in_use() -> None:
    """One that it skips would be Any without a word."""
    (followed,) = (
        {name.removeprefix("pulumi_gcp").strip(".*") for name in override["module"]}
        for override in TOOLS["mypy"]["overrides"]
        if override.get("follow_imports") == "normal"
    )
    rooms = [*modules("components"), *modules("bootstrap")]
    used = {module for _, tree in rooms for module in google_modules(tree)}
    used -= {"Provider", "ProviderArgs"}  # of the module `provider`
    assert used <= followed
    assert followed - used <= {"", "provider"}


@pytest.fixture(scope="module")
def project() -> dict[str, object]:
    loaded: dict[str, object] = yaml.safe_load((ROOT / "Pulumi.yaml").read_text("utf-8"))
    return loaded


def test_a_forgotten_provider_fails(project: dict[str, dict[str, dict[str, object]]]) -> None:
    assert project["config"]["pulumi:disable-default-providers"] == {"value": ["gcp", "kubernetes"]}


def test_the_project_declares_the_required_keys_and_no_other(
    project: dict[str, dict[str, dict[str, object]]],
) -> None:
    declared = {key for key in project["config"] if ":" not in key}
    required = {field.alias or name for name, field in Settings.model_fields.items() if field.is_required()}
    assert declared == required - {"project", "gcp:project"}
    assert all(project["config"][key].keys() == {"type", "description"} for key in declared)


def test_the_stack_files_are_where_the_project_says(project: dict[str, str]) -> None:
    stacks = {path for path in committed() if path.match("Pulumi.*.yaml")} - {ROOT / "Pulumi.yaml"}
    # Those of tests and of the bootstrap stack belong to projects of their own.
    own = {path for path in stacks if not {"tests", "bootstrap"} & set(path.relative_to(ROOT).parts)}
    assert own
    assert {path.parent for path in own} == {ROOT / Path(project["stackConfigDir"])}
