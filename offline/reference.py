"""The reference of the stack file as Markdown, from its JSON Schema and the models behind it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from pathways.containers import MANAGED_ENV, MANAGED_FLAGS
from pathways.explain import members_of
from pathways.model import Text
from pathways.rules import RULES
from pathways.schema import schema, schema_text
from pathways.settings import OURS, Settings
from pathways.tpu import GENERATIONS, Generation

Schema = Mapping[str, Any]

_HEAD = """\
# The stack file

<!-- Written by `make schema` from the settings models; change those, not this file. -->

A stack file is `stacks/Pulumi.<stack>.yaml`. Keys are camelCase and stand under `pathways:`; only `gcp:project` is the
provider's own. An unknown key is an error, and so is a number in quotes, a boolean as text or a wrong case: nothing is
coerced. [stacks/schema.json](../stacks/schema.json) says the same to an editor.

A key without a default is either **required** or, marked –, simply absent. Which machine types and topologies go with
which generation stands under [TPU generations](#tpu-generations).
"""
_TABLE = ("Key", "Type and rule", "Default", "Example", "What it is")
_LITERALS = {"string": "text", "integer": "whole number", "boolean": "`true` or `false`"}
_CONTAINERS = {"resource_manager": "resourceManager", "proxy": "proxy", "worker": "worker", "user": "workload"}


@dataclass(frozen=True)
class Facts:
    """What a JSON Schema does not say about a key: its rule in words, and which member of a union is its default."""

    rule: str | None
    default_member: str | None


def write(directory: Path) -> tuple[Path, ...]:
    """Write `stacks/schema.json` and `docs/stack-file.md` of the project in `directory`; returns their paths."""
    texts = {directory / "stacks" / "schema.json": schema_text(), directory / "docs" / "stack-file.md": reference()}
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tuple(texts)


def reference() -> str:
    """`docs/stack-file.md`: every key with type, rule, default, example and meaning, then the rules between values."""
    whole = schema()
    config, definitions = whole["properties"]["config"], whole["$defs"]
    facts = dict(_facts(Settings))
    pages = _Pages(definitions, facts)
    top = {**config, "properties": config["properties"]}
    parts = [_HEAD, *pages.section("", "All of it", top, "Settings", 2), *_rules(), *_generations(), *_managed()]
    return "\n".join(parts)


@dataclass(frozen=True)
class _Pages:
    """Renders the sections of a schema, each under the path by which a stack file reaches it."""

    definitions: Mapping[str, Schema]
    facts: Mapping[tuple[str, str], Facts]

    def section(self, path: str, title: str, node: Schema, model: str, level: int) -> Iterator[str]:
        """One table of keys, then the sections below it."""
        yield f"{'#' * min(level, 5)} {title}\n"
        if path:
            yield f"{node['description']}\n"
        required = node.get("required", ())
        keys: Mapping[str, Schema] = node["properties"]
        rows = [self._row(key, each, key in required, self._fact(model, key)) for key, each in keys.items()]
        yield _table(_TABLE, rows)
        for key, each in keys.items():
            bare = key.removeprefix(f"{OURS}:")
            yield from self._below(f"{path}.{bare}" if path else bare, each, level + 1)

    def _below(self, path: str, node: Schema, level: int) -> Iterator[str]:
        """The section of a key whose value is a map of ours, or those of each form that it can have."""
        if "$ref" in node:
            name = _name(node)
            yield from self.section(path, f"`{path}`", self.definitions[name], name, level)
        for option in node.get("oneOf", ()):
            name = _name(option)
            title = f"`{path}`, {self._form(node, name)}"
            yield from self.section(path, title, self.definitions[name], name, level)

    def _fact(self, model: str, key: str) -> Facts:
        return self.facts[model, key.removeprefix(f"{OURS}:")]

    def _row(self, key: str, node: Schema, required: bool, facts: Facts) -> tuple[str, ...]:
        default = f"`{_value(node['default'])}`" if "default" in node else "–"
        if facts.default_member and "oneOf" in node:
            default = self._form(node, facts.default_member)
        elif node.get("$ref"):
            default = "see below" if facts.default_member else "–"
        examples = node.get("examples", [node["const"]] if "const" in node else [])
        example = f"`{_value(examples[0])}`" if examples else "–"
        kind = self._kind(node, facts)
        return (f"`{key}`", kind, "**required**" if required else default, example, str(node.get("description", "")))

    def _kind(self, node: Schema, facts: Facts) -> str:
        """Type and rule of a value in words."""
        if "$ref" in node:
            return "a map, see below"
        if "oneOf" in node:
            return "a map, one of: " + ", ".join(self._form(node, _name(option)) for option in node["oneOf"])
        if "const" in node:
            return f"`{node['const']}`"
        if "enum" in node:
            return "one of " + ", ".join(f"`{each}`" for each in node["enum"])
        if "anyOf" in node:
            return ", or ".join(self._kind(each, Facts(None, None)) for each in node["anyOf"])
        return ", ".join([self._plain(node, facts.rule) + (f": {facts.rule}" if facts.rule else ""), *_limits(node)])

    def _plain(self, node: Schema, rule: str | None) -> str:
        kind = str(node["type"])
        if kind == "array":
            return f"list, each {self._kind(node['items'], Facts(None, None))}"
        if kind == "object":
            return "map of text to text"
        if kind == "string" and "examples" in node and "pattern" in node and rule is None:
            return f"text like `{node['examples'][0]}`"
        if kind == "string" and "pattern" in node and rule is None:
            return f"text that matches `{node['pattern']}`"
        return _LITERALS[kind]

    def _form(self, union: Schema, name: str) -> str:
        """How a member of a union is told from the others, as a stack file shows it."""
        tag = union.get("discriminator", {}).get("propertyName")
        if tag:
            return f"`{tag}: {self.definitions[name]['properties'][tag]['const']}`"
        return "`existing`" if "existing" in self.definitions[name]["properties"] else "created"


def _facts(model: type[BaseModel]) -> Iterator[tuple[tuple[str, str], Facts]]:
    """What the models know of each key that the schema lacks, by (name of the model, key)."""
    for name, info in model.model_fields.items():
        default = info.get_default(call_default_factory=True)
        member = type(default).__name__ if isinstance(default, BaseModel) else None
        rule = next((text.rule for text in _texts(info.metadata, info.annotation)), None)
        yield (model.__name__, info.alias or name), Facts(rule, member)
        for inner in members_of(info.annotation, info).values():
            yield from _facts(inner)


def _texts(metadata: Sequence[Any], annotation: Any) -> Iterator[Text]:
    """The rules in words on an annotation, `Annotated[str, Text(…)] | None` included."""
    yield from (each for each in metadata if isinstance(each, Text))
    for argument in get_args(annotation):
        yield from (each for each in getattr(argument, "__metadata__", ()) if isinstance(each, Text))


def _limits(node: Schema) -> Iterator[str]:
    least, most = node.get("minimum"), node.get("maximum")
    if least is not None:
        yield f"{least} to {most}" if most is not None else f"{least} or more"
    if node.get("type") == "string" and "maxLength" in node:
        yield f"at most {node['maxLength']} characters"


def _name(node: Schema) -> str:
    return str(node["$ref"]).rpartition("/")[2]


def _value(value: Any) -> str:
    """A value as it could stand in a stack file, on one line: JSON, but text bare where YAML reads it as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _rules() -> Iterator[str]:
    yield "## Rules between values\n"
    yield "Each is checked before any resource is registered; all faults of a file are reported at once.\n"
    yield "\n".join(f"- {(rule.__doc__ or '').strip()}" for rule in RULES) + "\n"


def _generations() -> Iterator[str]:
    yield "## TPU generations\n"
    yield "The first machine with 4 chips is the default of `slices.machineType`.\n"
    columns = ("`tpu`", "Machines", "`topology`", "Flex-start", "Seen in")
    yield _table(columns, [_generation(each) for each in GENERATIONS.values()])


def _generation(generation: Generation) -> tuple[str, ...]:
    machines = []
    for machine in generation.machines:
        only = f" (only {', '.join(machine.only_topologies)})" if machine.only_topologies else ""
        machines.append(f"`{machine.name}`: {machine.chips} chip{'s' * (machine.chips > 1)}{only}")
    shapes = ", ".join(generation.topologies) or (
        "2x2x1, 2x2x2, 2x2x4, 2x4x4; larger ones AxBxC with A ≤ B ≤ C in multiples of 4 and at most "
        f"{generation.max_cubes} cubes of 4x4x4"
    )
    zones = ", ".join(generation.zones_seen)
    return (f"`{generation.name}`", "<br>".join(machines), shapes, "yes" if generation.flex_start else "no", zones)


def _managed() -> Iterator[str]:
    yield "## What the stack sets itself\n"
    yield "`runtime.flags`, `runtime.env` and `workload.env` may add to these, not redefine them.\n"
    rows = [
        (f"`{key}`", _codes(f"--{flag}" for flag in sorted(MANAGED_FLAGS.get(role, ()))), _codes(MANAGED_ENV[role]))
        for role, key in _CONTAINERS.items()
    ]
    yield _table(("Container", "Flags", "Variables"), rows)


def _codes(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names) or "–"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"
