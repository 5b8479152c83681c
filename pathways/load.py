"""From the config of a stack file to `Settings`, or to every fault of it at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar, cast, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pathways.errors import Problem, StackFileError, listed, nearest, shown
from pathways.explain import dotted, explain, locate, members_of
from pathways.rules import RULES
from pathways.settings import OURS, PROJECT_KEY, Settings

M = TypeVar("M", bound=BaseModel)
_OTHERS = ("gcp:", "pulumi:", "kubernetes:")
"""Namespaces that belong to Pulumi and its providers; only `gcp:project` means something to us."""


def decoded(config: Mapping[str, str]) -> dict[str, object]:
    """A config as Pulumi hands it to a program, where maps and lists are JSON text, with those read."""
    sections = {f"{OURS}:{info.alias}" for info in Settings.model_fields.values() if members_of(info.annotation, info)}
    return {key: _read(value) if key in sections else value for key, value in config.items()}


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def load(raw: Mapping[str, object], file: str) -> Settings:
    """Validate the `config` of a stack file, given with its full keys; `file` is how errors call it.

    Raises StackFileError with all faults of the file, those of single values and those between values.
    """
    problems = list(_foreign(raw))
    values = {key: _printable(value) for key, value in _ours(raw).items()}
    empty = set(_empty(Settings, values))
    problems += [_has_no_value(path) for path in sorted(empty)]
    details = _faults(values)
    problems += explain(Settings, details)
    wrong = empty | {locate(Settings, each["loc"])[0] for each in details}
    # What is valid by itself is still held against the rest, so that one run shows every fault.
    settings = _salvage(Settings, values, wrong) if wrong else Settings.model_validate(values)
    problems += _broken(settings, partial=bool(wrong))
    if problems:
        raise StackFileError(file, problems)
    return settings


def _printable(value: object, above: frozenset[int] = frozenset()) -> object:
    """A value whose numbers can be printed: Python prints none of more than 4,300 digits, nor do pydantic's errors.

    `above` are the maps and lists that hold it: one that holds itself is left as it is, as is what is very deep.
    """
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER:
        return "a number too long to print"
    if id(value) in above or len(above) > _DEEPEST:
        return value
    inside = above | {id(value)}
    if isinstance(value, Mapping):
        return {key: _printable(each, inside) for key, each in value.items()}
    return [_printable(each, inside) for each in value] if isinstance(value, list) else value


_LONGEST_NUMBER = 14_000
"""Bits of 4,214 digits."""
_DEEPEST = 64


def _faults(values: Mapping[str, object]) -> list[ErrorDetails]:
    try:
        Settings.model_validate(values)
    except ValidationError as error:
        return error.errors(include_url=False)
    return []


def _ours(raw: Mapping[str, object]) -> dict[str, object]:
    own = {key.removeprefix(f"{OURS}:"): value for key, value in raw.items() if key.startswith(f"{OURS}:")}
    own.pop(PROJECT_KEY, None)  # `pathways:gcp:project` is not the provider's key
    return own | ({PROJECT_KEY: raw[PROJECT_KEY]} if PROJECT_KEY in raw else {})


def _foreign(raw: Mapping[str, object]) -> Iterator[Problem]:
    """Keys that are neither ours nor known to mean anything, since they would be silently ignored."""
    known = [
        PROJECT_KEY,
        *(f"{OURS}:{info.alias}" for info in Settings.model_fields.values() if ":" not in str(info.alias)),
    ]
    for key in raw:
        if key == PROJECT_KEY or key.startswith("pulumi:"):
            continue
        if key.startswith(f"{OURS}:") and key != f"{OURS}:{PROJECT_KEY}":
            continue
        if key.startswith(_OTHERS):
            yield Problem(
                key,
                f"{key} has no effect",
                "the stack configures its providers itself, from gcp:project and pathways:zone",
                f"remove {key}",
            )
            continue
        meant = nearest(key, known) or nearest(f"{OURS}:{key}", known)
        names = listed(name.removeprefix(f"{OURS}:") for name in known[1:])
        rule = f"keys are written {PROJECT_KEY} or {OURS}:NAME with NAME one of {names}"
        yield Problem(shown(key), f"unknown key ({key})", rule, f"did you mean {meant}?" if meant else f"remove {key}")


def _empty(model: type[BaseModel], values: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """The paths of keys without a value (YAML reads a null), where the models would take them for absent."""
    for name, info in model.model_fields.items():
        key = info.alias or name
        value = values.get(key)
        if key in values and value is None and type(None) in get_args(info.annotation):
            yield (key,)
        elif inner := _member(info, value):
            yield from ((key, *path) for path in _empty(inner, cast("Mapping[str, object]", value)))


def _has_no_value(path: tuple[str, ...]) -> Problem:
    return Problem(
        dotted(path),
        "has no value (null)",
        "a key that is written has a value",
        f"write one, or remove {path[-1]}",
    )


def _broken(settings: Settings, *, partial: bool) -> Iterator[Problem]:
    for rule in RULES:
        try:
            yield from rule(settings)
        except AttributeError:
            if not partial:
                raise
            # The rule needs a value that is itself wrong or missing, which has been said already.


def _salvage(model: type[M], values: Mapping[str, object], wrong: set[tuple[str, ...]]) -> M:
    """What of `values` has no fault, as a `model` that lacks the rest (reading that raises AttributeError).

    `wrong` has the paths of the faults, relative to `values`.
    """
    kept: dict[str, Any] = {}
    lost: list[str] = []
    for name, info in model.model_fields.items():
        key = info.alias or name
        below = {path[1:] for path in wrong if path[0] == key}
        value = values.get(key)
        inner = _member(info, value)
        if below and inner and () not in below:
            kept[name] = _salvage(inner, cast("Mapping[str, object]", value), below)
        elif below or (key not in values and info.is_required()):
            lost.append(name)
        elif key in values:
            kept[name] = _adapter(model, name).validate_python(value, strict=True)
    partial = model.model_construct(**kept)
    for name in lost:
        partial.__dict__.pop(name, None)
    return partial


@cache
def _adapter(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    return TypeAdapter(model.model_fields[name].rebuild_annotation())


def _member(info: FieldInfo, value: object) -> type[BaseModel] | None:
    """The model that a map is meant to be, or None."""
    if not isinstance(value, Mapping):
        return None
    members = members_of(info.annotation, info)
    if isinstance(info.discriminator, str):
        named = value.get(info.discriminator)
        return members.get(named) if isinstance(named, str) else None
    return (
        next(iter(members.values()))
        if len(members) == 1
        else members.get("existing" if "existing" in value else "created")
    )
