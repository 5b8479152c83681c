"""The JSON Schema of a stack file, from the settings models."""

from __future__ import annotations

import json
from typing import Any

from pathways.settings import OURS, PROJECT_KEY, Settings
from pathways.tpu import GENERATIONS, Generation

_OTHER_KEYS = {
    "environment": "Pulumi ESC environments (Pulumi Cloud only).",
    "secretsprovider": "Written by Pulumi: where the stack's secrets are encrypted.",
    "encryptedkey": "Written by Pulumi.",
    "encryptionsalt": "Written by Pulumi.",
}

_ENDPOINT_NETWORKS = [
    {
        "if": {"properties": {"endpoint": {"const": "authorized"}}, "required": ["endpoint"]},
        "then": {"required": ["authorizedNetworks"]},
        "else": {
            "if": {"properties": {"endpoint": {"const": "private"}}, "required": ["endpoint"]},
            "else": {"properties": {"authorizedNetworks": {"maxItems": 0}}},
        },
    }
]


def schema() -> dict[str, Any]:
    """The schema of a whole `Pulumi.<stack>.yaml`, every key with a description and an example."""
    config = Settings.model_json_schema(by_alias=True)
    definitions = {name: _plain(each) for name, each in config.pop("$defs").items()}
    definitions["Slices"]["allOf"] = [_of_generation(generation) for generation in GENERATIONS.values()]
    definitions["CreatedCluster"]["allOf"] = _ENDPOINT_NETWORKS
    properties = {_full(key): _plain(each) for key, each in config["properties"].items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Pathways stack",
        "description": "One team's Pathways on GKE: which TPUs, and what runs on them.",
        "type": "object",
        "additionalProperties": False,
        "required": ["config"],
        "properties": {
            "config": {
                "type": "object",
                "description": "What the stack is; keys of ours stand under `pathways:`.",
                "additionalProperties": False,
                "required": [_full(key) for key in config["required"]],
                "properties": properties,
                "patternProperties": {"^pulumi:": {"description": "Pulumi's own settings."}},
            },
            **{key: {"description": text} for key, text in _OTHER_KEYS.items()},
        },
        "$defs": definitions,
    }


def schema_text() -> str:
    """The schema as text, the way `stacks/schema.json` keeps it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def _of_generation(generation: Generation) -> dict[str, Any]:
    """What naming a generation says about machine and topology."""
    shapes = {"enum": list(generation.topologies)} if generation.topologies else {"pattern": r"^\d+x\d+x\d+$"}
    machines = {"enum": [machine.name for machine in generation.machines]}
    return {
        "if": {"properties": {"tpu": {"const": generation.name}}, "required": ["tpu"]},
        "then": {"properties": {"topology": shapes, "machineType": machines}},
    }


def _full(key: str) -> str:
    return key if key == PROJECT_KEY else f"{OURS}:{key}"


def _plain(schema: Any) -> Any:
    """A copy without pydantic's `title` of every key, which repeats the key, and with patterns that match in full."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    nullable = kept.get("anyOf")
    if isinstance(nullable, list) and {"type": "null"} in nullable and len(nullable) == 2:
        # An absent key is how a stack file says "no value"; a written null is refused like any other wrong type.
        (only,) = (each for each in nullable if each != {"type": "null"})
        kept = {**{key: value for key, value in kept.items() if key != "anyOf"}, **only}
    if kept.get("default", 0) is None or isinstance(kept.get("default"), dict):
        # Nothing is the default of an optional key; a section's defaults stand at its own keys.
        kept.pop("default")
    return {key: _plain(value) for key, value in kept.items()}
