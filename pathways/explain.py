"""Turns pydantic's findings into the sentences a user can act on."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Discriminator, Tag
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from pathways.errors import RULE, Problem, listed, nearest, shown
from pathways.model import Text

LATER = {
    ("queue",): "Kueue queues come with a later release",
    ("operators", "kueue"): "Kueue comes with a later release, together with `queue`",
    ("workload", "notebook"): "notebooks come with a later release",
}
"""Keys of the contract that this release does not have yet: refused with more than `unknown key`."""


def explain(model: type[BaseModel], errors: list[ErrorDetails]) -> Iterator[Problem]:
    """One problem for each of pydantic's findings on a value of `model`."""
    for error in errors:
        keys, field, owner = locate(model, error["loc"])
        yield _problem(keys, field, owner, error)


def locate(
    model: type[BaseModel], loc: tuple[int | str, ...]
) -> tuple[tuple[str, ...], FieldInfo | None, type[BaseModel] | None]:
    """The keys of a location without pydantic's union tags, its field if it is one, and the model with that field."""
    keys: list[str] = []
    field: FieldInfo | None = None
    current: type[BaseModel] | None = model
    rest = list(loc)
    while rest:
        part = str(rest.pop(0))
        if current is None or (found := field_of(current, part)) is None:
            keys.append(f"[{part}]" if part.isdigit() else part)
            field = None if current is not None else field
            if part == "[key]":
                keys[-2:] = keys[-2:-1]
            continue
        keys.append(part)
        field, owner = found, current
        current = None
        members = members_of(field.annotation, field)
        if len(members) > 1 and rest and str(rest[0]) in members:
            current = members[str(rest.pop(0))]
        elif len(members) == 1:
            current = next(iter(members.values()))
        if not rest:
            return tuple(keys), field, owner
    return tuple(keys), field, current


def field_of(model: type[BaseModel], key: str) -> FieldInfo | None:
    """The field of a model that a key of the file sets, or None."""
    return next((info for name, info in model.model_fields.items() if (info.alias or name) == key), None)


def members_of(annotation: Any, field: FieldInfo | None = None) -> dict[str, type[BaseModel]]:
    """The models an annotation can hold, by pydantic's tag (by name where there is only one)."""
    discriminator = field.discriminator if field else None
    found: dict[str, type[BaseModel]] = {}
    for option in _options(annotation):
        base, tag = option, None
        if get_origin(option) is Annotated:
            base = get_args(option)[0]
            tag = next((each.tag for each in get_args(option)[1:] if isinstance(each, Tag)), None)
        if not (isinstance(base, type) and issubclass(base, BaseModel)):
            continue
        if tag is None and isinstance(discriminator, str):
            tag = get_args(base.model_fields[discriminator].annotation)[0]
        found[tag or base.__name__] = base
    return found


def _options(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Annotated and any(
        isinstance(each, Discriminator) for each in get_args(annotation)[1:]
    ):
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return list(get_args(annotation))
    return [annotation]


def _problem(
    keys: tuple[str, ...], field: FieldInfo | None, owner: type[BaseModel] | None, error: ErrorDetails
) -> Problem:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    key = dotted(keys)
    name = keys[-1] if keys else key
    if kind == RULE:
        return Problem(key, str(context["what"]), str(context["rule"]), str(context["fix"]))
    if kind == "missing":
        return Problem(key, "is missing", "the key is required", f"write {name}: {_example(field)}")
    if kind == "extra_forbidden":
        return _unknown_key(keys, owner)
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _wrong_member(key, field, value)
    if kind == "literal_error":
        options = [str(each) for each in get_args(_literal(field))] if field else []
        return _not_one_of(key, value, options or [str(context.get("expected", ""))])
    if kind in ("greater_than_equal", "less_than_equal"):
        return _out_of_range(key, value, field, context)
    if kind in ("too_short", "too_long"):
        most = f" and at most {context['max_length']}" if "max_length" in context else ""
        limits = f"at least {context.get('min_length', 0)} items{most}"
        return Problem(
            key, f"has {context.get('actual_length')} items", f"the list has {limits}", "add or remove items"
        )
    return _wrong_type(key, kind, value, field)


def dotted(keys: tuple[str, ...]) -> str:
    """Keys as a path: `workload.command[0]`."""
    return ".".join(keys).replace(".[", "[") or "config"


def _unknown_key(keys: tuple[str, ...], owner: type[BaseModel] | None) -> Problem:
    name = keys[-1]
    if keys in LATER:
        return Problem(dotted(keys), f"{name} is not supported yet", LATER[keys], f"remove {name}")
    known = [info.alias or field for field, info in owner.model_fields.items()] if owner else []
    meant = nearest(name, known)
    fix = f"did you mean {meant}?" if meant else f"remove it or write one of {listed(known)}"
    return Problem(dotted(keys), f"unknown key ({name})", f"the keys here are {listed(known)}", fix)


def _wrong_member(key: str, field: FieldInfo | None, value: Any) -> Problem:
    tag = field.discriminator if field and isinstance(field.discriminator, str) else "type"
    options = list(members_of(field.annotation, field)) if field else []
    key = f"{key}.{tag}"
    if not isinstance(value, Mapping) or tag not in value:
        return Problem(
            key, "is missing", f"{tag} is one of {listed(options)}", f"write {tag}: {options[0] if options else '…'}"
        )
    written = value[tag]
    if written == "serving":
        return Problem(
            key,
            "serving is not supported yet",
            f"{tag} is one of {listed(options)}",
            f"write one of {listed(options)}; serving comes with a later release",
        )
    return _not_one_of(key, written, options)


def _not_one_of(key: str, value: Any, options: list[str]) -> Problem:
    rule = f"it is one of {listed(options)}"
    meant = nearest(value, options) if isinstance(value, str) else None
    return Problem(
        key, f"{shown(value)} is not a choice", rule, f"write {meant}" if meant else f"write one of {listed(options)}"
    )


def _literal(field: FieldInfo | None) -> Any:
    annotation = field.annotation if field else None
    items = [each for each in _options(annotation) if each is not type(None)]
    inner = items[0] if items else None
    if get_origin(inner) is tuple:
        inner = get_args(inner)[0]
    return inner


def _out_of_range(key: str, value: Any, field: FieldInfo | None, context: Mapping[str, Any]) -> Problem:
    least = next((each.ge for each in (field.metadata if field else ()) if hasattr(each, "ge")), None)
    most = next((each.le for each in (field.metadata if field else ()) if hasattr(each, "le")), None)
    rule = (
        f"it is a whole number from {least} to {most}"
        if least is not None and most is not None
        else f"it is at least {context.get('ge', least)}"
    )
    if "le" in context and least is None:
        rule = f"it is at most {context['le']}"
    nearest_value = context.get("ge", context.get("le"))
    return Problem(key, f"{shown(value)} is out of range", rule, f"write for example {_example(field, nearest_value)}")


_WANTED = {
    "string_type": ("text", "write it as text, in quotes if it looks like something else"),
    "int_type": ("a whole number", "write the number without quotes and without a point"),
    "int_from_float": ("a whole number", "write the number without a point"),
    "bool_type": ("true or false", "write true or false, without quotes"),
    "tuple_type": ("a list", "write it as [a, b]"),
    "invalid_key": ("text as a key", "write the key in quotes, or remove it"),
    "dict_type": ("a map", "write it as {KEY: value}"),
    "model_type": ("a map", "write its keys indented below it"),
    "model_attributes_type": ("a map", "write its keys indented below it"),
}


def _wrong_type(key: str, kind: str, value: Any, field: FieldInfo | None) -> Problem:
    wanted, fix = _WANTED.get(kind, ("another kind of value", "see the reference of the stack file"))
    if kind == "string_type":
        fix = _as_text(value, field)
    elif kind == "int_type" and isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        fix = f"write {int(value)}, without quotes"
    elif kind == "bool_type" and isinstance(value, str) and value.strip().lower() in ("true", "false"):
        fix = f"write {value.strip().lower()}, without quotes"
    elif kind == "int_type" and isinstance(value, float) and value.is_integer():
        fix = f"write {int(value)}"
    elif field and field.examples:
        fix = f"{fix}, for example {_example(field)}"
    return Problem(
        key, f"{_kind_of(value)} ({shown(value)}) stands where {wanted} is wanted", f"the key takes {wanted}", fix
    )


def _as_text(value: Any, field: FieldInfo | None) -> str:
    """How to write a value as text.

    A number is only offered in quotes where it is allowed and certain: YAML drops the zero of 1.30.
    """
    rules = _text_rules(field) if field else None
    if rules is None:
        return f'write it in quotes: "{shown(value)}"' if type(value) is int else "write it as text, in quotes"
    if type(value) is int and rules and all(each.matches(shown(value)) for each in rules):
        return f'write it in quotes: "{shown(value)}"'
    return f'write it as text, for example "{_example(field)}"'


def _text_rules(field: FieldInfo) -> list[Text] | None:
    """The rules of the text a field takes; None if it takes something else, such as a list of texts."""
    (kind, *others) = [each for each in _options(field.annotation) if each is not type(None)]
    base, *inner = get_args(kind) if get_origin(kind) is Annotated else (kind,)
    if base is not str or others:
        return None
    return [each for each in (*field.metadata, *inner) if isinstance(each, Text)]


def _kind_of(value: Any) -> str:
    kinds = {
        bool: "true or false",
        str: "text",
        int: "a number",
        float: "a number",
        list: "a list",
        tuple: "a list",
        dict: "a map",
    }
    return "nothing" if value is None else kinds.get(type(value), f"a {type(value).__name__}")


def _example(field: FieldInfo | None, fallback: Any = "…") -> str:
    if field is None:
        return str(fallback)
    if field.examples:
        return shown(field.examples[0])
    rules = _text_rules(field)
    return rules[0].example if rules else str(fallback)
