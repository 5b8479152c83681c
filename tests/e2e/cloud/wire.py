"""Property values between the engine's protocol and Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import json_format, struct_pb2

Props = dict[str, Any]


class Unknown:
    """A value that only an operation not yet done will tell."""

    _instance: Unknown | None = None

    def __new__(cls) -> Unknown:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __copy__(self) -> Unknown:
        return self

    def __deepcopy__(self, memo: object) -> Unknown:
        return self

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN: Final = Unknown()

_SENTINEL = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SENTINELS = frozenset(
    {
        _SENTINEL,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"


def from_struct(message: struct_pb2.Struct) -> Props:
    """The properties of a request: whole numbers as int, secrets opened, unknowns as UNKNOWN, nulls left out."""
    value = _decode(json_format.MessageToDict(message))
    assert isinstance(value, dict)
    return value


def _decode(value: object) -> Any:
    if isinstance(value, str):
        return UNKNOWN if value in _SENTINELS else value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if isinstance(value, dict):
        signature = value.get(_SIGNATURE)
        if signature in (_SECRET, _OUTPUT):
            return _decode(value["value"]) if "value" in value else UNKNOWN
        return {key: _decode(item) for key, item in value.items() if item is not None}
    return value


def _encode(value: object) -> object:
    if isinstance(value, Unknown):
        return _SENTINEL
    if isinstance(value, Mapping):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(item) for item in value]
    return value


def to_struct(props: Mapping[str, Any]) -> struct_pb2.Struct:
    """The properties of an answer."""
    message = struct_pb2.Struct()
    encoded = _encode(props)
    assert isinstance(encoded, dict)
    message.update(encoded)
    return message


def has_unknown(value: object) -> bool:
    """True when the value is unknown or holds an unknown."""
    if isinstance(value, Unknown):
        return True
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    return isinstance(value, list) and any(has_unknown(item) for item in value)
