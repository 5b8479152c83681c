"""What every section shares: the strict model, text with a rule, lists, durations and quantities."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from types import ModuleType
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, core_schema

from pathways.errors import shown, violation

T = TypeVar("T")


class Section(BaseModel):
    """A part of the stack file: unknown keys are errors, nothing is coerced, nothing can be changed afterwards."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        hide_input_in_errors=True,
        serialize_by_alias=True,
        defer_build=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe each key by the docstring below its field.

        Pydantic can do so itself, but then it reads the source of every model at import, which no other command needs.
        """
        found = handler(schema)
        properties = handler.resolve_ref_schema(found).get("properties", {})
        for name, text in docstrings(cls).items():
            properties[cls.model_fields[name].alias or name]["description"] = text
        return found


@cache
def _classes(module: ModuleType) -> Mapping[str, ast.ClassDef]:
    """The classes of a module by name, parsed once: `inspect` would parse all of it again for each class."""
    source = ast.parse(inspect.getsource(module))
    return {each.name: each for each in source.body if isinstance(each, ast.ClassDef)}


@cache
def docstrings(section: type[Section]) -> Mapping[str, str]:
    """The docstring below each field of a section, by the field's name; read from its source, once."""
    found: dict[str, str] = {}
    for model in reversed(section.__mro__):
        if issubclass(model, Section) and model is not Section:
            for field, text in pairwise(_classes(cast("ModuleType", inspect.getmodule(model)))[model.__name__].body):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                        found[name] = inspect.cleandoc(words)
    return found


def default(section: type[Section], **values: Any) -> Any:
    """The default of a field that holds a section: made when it is needed, since making a validator takes its time."""
    return Field(default_factory=partial(section.model_construct, **values))


@dataclass(frozen=True)
class Text:
    """Text that has to match `pattern` in full; `rule` says so in words and `example` is a right value."""

    pattern: str
    rule: str
    example: str
    max_length: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Check the text after pydantic has seen that it is one."""
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Say the same in JSON Schema."""
        limits = {"maxLength": self.max_length} if self.max_length else {}
        return {**handler(schema), "pattern": f"^(?:{self.pattern})$", "examples": [self.example], **limits}

    def matches(self, value: str) -> bool:
        """Whether the text is allowed; digits and letters are those of ASCII."""
        short_enough = self.max_length is None or len(value) <= self.max_length
        return short_enough and re.fullmatch(self.pattern, value, re.ASCII) is not None

    def _check(self, value: str | None) -> str | None:
        if value is None:
            return None  # of an optional field; `load` says that it has no value
        if self.max_length and len(value) > self.max_length:
            raise violation(
                f"{shown(value)} has {len(value)} characters",
                f"at most {self.max_length} fit, and {self.rule}",
                f"write for example {self.example}",
            )
        if self.matches(value):
            return value
        trimmed = value.strip()
        for candidate in (trimmed, trimmed.lower(), trimmed.lower().replace("_", "-")):
            if self.matches(candidate):
                raise violation(f"{shown(value)} is not allowed", self.rule, f"write {candidate}")
        raise violation(f"{shown(value)} is not allowed", self.rule, f"write for example {self.example}")


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Items = Annotated[tuple[T, ...], BeforeValidator(_as_tuple)]
"""A YAML list, kept as a tuple so that the settings stay frozen."""

Word = Annotated[str, Text(r"[^\0]*", "text of a command line or a variable holds no NUL", "--steps=1000")]
"""Text that a process can be started with."""
DNS_LABEL = r"[a-z]([a-z0-9-]*[a-z0-9])?"
ENV_NAME = r"[A-Za-z_][A-Za-z0-9_]*"

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

Duration = Annotated[
    str,
    Text(
        r"([1-9]\d{0,6}s|[1-9]\d{0,4}[mh]|[1-9]\d{0,3}d)",
        "a duration is a whole number from 1 and its unit, s, m, h or d, without blanks, of at most 9999d",
        "24h",
    ),
]


def seconds(duration: str) -> int:
    """The seconds in a `Duration`."""
    return int(duration[:-1]) * _SECONDS[duration[-1]]


_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS = {**_BINARY, **_DECIMAL}

_LEAST_MEMORY = 16 * 2**20


def _check_memory(value: str) -> str:
    if memory_bytes(value) >= _LEAST_MEMORY:
        return value
    raise violation(f"{value} is too little", "no container starts with less than 16Mi", "write for example 100G")


Memory = Annotated[
    str,
    Text(
        r"[1-9]\d{0,11}(Ki|Mi|Gi|Ti|k|M|G|T)",
        "an amount of memory is a whole number from 1 and its unit (Ki, Mi, Gi, Ti, k, M, G, T), without blanks",
        "100G",
    ),
    AfterValidator(_check_memory),
]


def memory_bytes(quantity: str) -> int:
    """The bytes in a `Memory` quantity, whose unit is kept as Kubernetes reads it (G = 10^9, Gi = 2^30)."""
    number = re.match(r"\d+", quantity)
    assert number is not None, quantity  # noqa: S101
    return int(number.group()) * _UNITS[quantity[number.end() :]]


_MOST_CORES = 1000


def _check_cpu(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST_CORES:
        return value
    if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{0,5}m", value):
        return value
    raise violation(
        f"{shown(value)} is not a CPU quantity",
        f"CPU is a whole number of cores up to {_MOST_CORES}, or thousandths of a core such as 500m",
        "write for example 24",
    )


Cpu = Annotated[
    int | str,
    BeforeValidator(_check_cpu),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": _MOST_CORES},
                {"type": "string", "pattern": r"^[1-9]\d{0,5}m$"},
            ],
            "examples": [24, "500m"],
        }
    ),
]


def milli_cpu(quantity: int | str) -> int:
    """The thousandths of a core in a `Cpu` quantity."""
    return quantity * 1000 if isinstance(quantity, int) else int(quantity.removesuffix("m"))


EnvValues = dict[Annotated[str, Text(ENV_NAME, "a variable's name is letters, digits and _", "LOG_LEVEL")], Word]
