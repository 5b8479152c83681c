"""The committed schema facts agree with the provider's schema, and the cloud is a witness of its own."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path

import pytest

from tests.e2e.cloud import extract
from tests.e2e.cloud.facts import Property, Shape, load
from tests.e2e.cloud.services.registry import services

pytestmark = pytest.mark.thorough

CLOUD = Path(extract.__file__).parent
SCHEMA = os.environ.get(extract.SCHEMA_VARIABLE)


@pytest.mark.skipif(not SCHEMA, reason=f"{extract.SCHEMA_VARIABLE} does not name the provider's full schema")
def test_the_committed_facts_are_those_of_the_schema() -> None:
    assert SCHEMA
    full = json.loads(Path(SCHEMA).read_text(encoding="utf-8"))
    assert extract.FACTS_FILE.read_text(encoding="utf-8") == extract.render(extract.extract(full))


def test_every_known_type_is_served_and_the_other_way_round() -> None:
    assert set(services()) == set(load())


def _at(token: str, path: str) -> Property:
    properties = load()[token].properties
    *parents, last = path.split(".")
    for parent in parents:
        properties = properties[parent].properties
    return properties[last]


@pytest.mark.parametrize(
    ("path", "shape", "replaces", "computed"),
    [
        ("placementPolicy", Shape.BLOCK, True, False),
        ("placementPolicy.tpuTopology", Shape.SCALAR, False, False),
        ("placementPolicy.policyName", Shape.SCALAR, True, False),
        ("nodeConfig.spot", Shape.SCALAR, True, False),
        ("nodeConfig.oauthScopes", Shape.SET, True, True),
        ("nodeConfig.taints", Shape.BLOCKS, False, False),
        ("nodeConfig.labels", Shape.MAP, False, True),
        ("nodeLocations", Shape.SET, False, True),
    ],
)
def test_shape_and_flags_of_a_property(path: str, shape: Shape, replaces: bool, computed: bool) -> None:
    prop = _at("gcp:container/nodePool:NodePool", path)
    assert (prop.shape, prop.replaces, prop.computed) == (shape, replaces, computed)


def _imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_the_cloud_imports_nothing_of_the_project() -> None:
    rooms = {"pathways", "components", "offline", "policy"}
    for path in CLOUD.rglob("*.py"):
        assert not {name.split(".")[0] for name in _imports(path)} & rooms, path
