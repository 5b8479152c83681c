from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from offline.diff.facts import TABLE, facts
from offline.stackfile import known_stacks
from scripts.provider_facts import VARIABLE, differences, extract
from tests.offline.diff.recordings import PROJECT, recorded

PART: dict[str, Any] = {
    "spot": {"type": "bool", "optional": True, "replaces": True},
    "zones": {"type": "set", "optional": True, "computed": True},
    "block": {
        "type": "list",
        "optional": True,
        "replaces": True,
        "properties": {"name": {"type": "string", "required": True, "normalised": True}},
    },
    "etag": {"type": "string", "computed": True},
}


def test_the_table_has_every_google_type_that_a_stack_creates() -> None:
    created = {resource.type for stack in known_stacks(PROJECT) for resource in recorded(stack).resources}
    assert {type_ for type_ in created if type_.startswith("gcp:")} <= facts().keys()


def test_extraction_reads_the_flags_of_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripts.provider_facts.TYPES", ("gcp:a/b:C",))
    schema = {"source": "made", "resources": {"gcp:a/b:C": {"properties": PART}}}
    assert extract(schema) == {
        "gcp:a/b:C": {
            "replaces": ["spot"],
            "replacesWhole": ["block"],
            "sets": ["zones"],
            "serverSet": ["zones"],
            "caseless": ["block.name"],
        }
    }
    table = {"types": {"gcp:a/b:C": {"replaces": ["gone"], "replacesWhole": ["block"], "sets": ["zones"]}}}
    assert [re.sub(r"^gcp:a/b:C: ", "", line) for line in differences(schema, table)] == [
        "caseless: block.name: the schema has it, the table does not",
        "replaces: spot: the schema has it, the table does not",
        "replaces: gone: the table has it, the schema does not",
        "serverSet: zones: the schema has it, the table does not",
    ]


@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no provider schema to compare with")
def test_the_table_agrees_with_the_schema_of_the_provider() -> None:
    schema = json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8"))
    assert differences(schema, json.loads(TABLE.read_text(encoding="utf-8"))) == []
