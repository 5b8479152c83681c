"""The facts table of the Google provider: what its schema says of the types this project creates.

`facts.json` is extracted by `scripts/provider_facts.py` from the schema that a program linked with the provider prints;
the script and a test check it against such a schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("facts.json")


@dataclass(frozen=True, slots=True)
class Facts:
    """What matters of one type to a comparison: dotted paths without positions.

    Attributes:
        replaces: values, lists and maps whose change replaces the resource.
        replaces_whole: blocks that do so when they are added or removed; a change inside is judged by itself.
        sets: lists whose order does not count.
        server_set: what the cloud fills in when it is left out: leaving it out is no change.
        suppressed: references that are equal if they name the same thing.
        caseless: text whose case does not count.
        labels: whether the provider's default labels land on it.
    """

    replaces: frozenset[str] = frozenset()
    replaces_whole: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()
    server_set: frozenset[str] = frozenset()
    suppressed: frozenset[str] = frozenset()
    caseless: frozenset[str] = frozenset()
    labels: bool = False


@cache
def facts() -> Mapping[str, Facts]:
    """The table by type token."""
    types = json.loads(TABLE.read_text(encoding="utf-8"))["types"]
    return {
        token: Facts(
            replaces=frozenset(raw.get("replaces", ())),
            replaces_whole=frozenset(raw.get("replacesWhole", ())),
            sets=frozenset(raw.get("sets", ())),
            server_set=frozenset(raw.get("serverSet", ())),
            suppressed=frozenset(raw.get("suppressed", ())),
            caseless=frozenset(raw.get("caseless", ())),
            labels=raw.get("labels", False),
        )
        for token, raw in types.items()
    }
