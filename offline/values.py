"""The wire's values as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from offline.recording import SECRET, UNKNOWN
from offline.sdk import (
    RESOURCE_SIGNATURE,
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    SIGNATURES,
    UNKNOWN_SENTINEL,
    struct_pb2,
)


def plain_map(struct: struct_pb2.Struct) -> dict[str, Any]:
    """The fields of `struct`, sorted by name."""
    return {key: plain(value) for key, value in sorted(struct.fields.items(), key=itemgetter(0))}


def plain(value: struct_pb2.Value) -> Any:
    """A wire value as JSON: unknowns and secrets marked, whole numbers as ints."""
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        text = value.string_value
        return UNKNOWN if text == UNKNOWN_SENTINEL else text
    if kind == "struct_value":
        return _plain_struct(value.struct_value)
    if kind == "list_value":
        return [plain(item) for item in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    return None


def _plain_struct(struct: struct_pb2.Struct) -> Any:
    if SIGNATURE_KEY not in struct.fields:
        return plain_map(struct)
    signature = struct.fields[SIGNATURE_KEY].string_value
    if signature == SECRET_SIGNATURE:
        return SECRET
    if signature == RESOURCE_SIGNATURE:
        return struct.fields["urn"].string_value
    rest = {key: plain(item) for key, item in sorted(struct.fields.items()) if key != SIGNATURE_KEY}
    return {SIGNATURES.get(signature, "$special"): rest}


def to_struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Plain data as a wire struct."""
    struct = struct_pb2.Struct()
    struct.update(dict(values))
    return struct
