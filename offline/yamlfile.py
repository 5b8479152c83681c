"""YAML as the engine reads it (Go's `yaml.v3`), refusing duplicate keys.

PyYAML follows YAML 1.1, where `no` is false, `1:30` is ninety and `2026-01-01` a date. The engine follows 1.2 with a
few leftovers of 1.1: only true and false are booleans, and `0777` is octal as `0o777` is. It does know timestamps, but
hands them to a program as text (RFC 3339); here they stay the text that the file has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml

from offline.errors import OfflineError
from offline.text import shortened

N = TypeVar("N", int, float)
_DEEPEST = 64
_LONGEST = 100_000
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's is ten times as fast
_INT = re.compile(r"[-+]?(0[bB][01][01_]*|0[oO]?[0-7][0-7_]*|0[xX][0-9a-fA-F][0-9a-fA-F_]*|[1-9][0-9_]*|0)$")
_FLOAT = re.compile(r"[-+]?(\.[0-9][0-9_]*|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?$")
_SPECIAL_FLOAT = re.compile(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$")
_BOOL = re.compile(r"(true|True|TRUE|false|False|FALSE)$")
_NULL = re.compile(r"(~|null|Null|NULL|)$")
_MERGE = re.compile(r"<<$")


class _EngineLoader(_BASE):  # type: ignore[misc]
    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own


def _construct_int(loader: Any, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node).replace("_", "").lower()
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.lstrip("+"))
    base = {"0b": 2, "0o": 8, "0x": 16}.get(digits[:2])
    if base is not None:
        return sign * _number(node, lambda: int(digits[2:], base))
    return sign * _number(node, lambda: int(digits, 8 if digits.startswith("0") and len(digits) > 1 else 10))


def _construct_float(loader: Any, node: yaml.ScalarNode) -> float:
    text = loader.construct_scalar(node).replace("_", "").lower()
    return _number(node, lambda: float(text.replace(".inf", "inf").replace(".nan", "nan")))


def _number(node: yaml.ScalarNode, read: Callable[[], N]) -> N:
    """What `read` makes of a number; none of more than 4,300 digits, which Python could not print either."""
    try:
        value = read()
        str(value)  # raises where it cannot be
        return value
    except ValueError:
        kind = "a whole number" if node.tag.endswith(":int") else "a number"
        message = f"{shortened(node.value)} is not {kind} that can be read"
        raise yaml.constructor.ConstructorError(None, None, message, node.start_mark) from None


def _construct_bool(loader: Any, node: yaml.ScalarNode) -> bool:
    text = loader.construct_scalar(node)
    if not _BOOL.match(text):
        message = f"{shortened(text)} is neither true nor false"
        raise yaml.constructor.ConstructorError(None, None, message, node.start_mark)
    return bool(text.lower() == "true")


def _construct_text(loader: Any, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


def _install() -> None:
    # The order is PyYAML's: for each first character, the first pattern that matches wins.
    for tag, pattern, first in (
        ("bool", _BOOL, "tTfF"),
        ("int", _INT, "-+0123456789"),
        ("float", _FLOAT, "-+.0123456789"),
        ("float", _SPECIAL_FLOAT, "-+."),
        ("merge", _MERGE, "<"),
        ("null", _NULL, ["~", "n", "N", ""]),
    ):
        _EngineLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", pattern, list(first))
    _EngineLoader.add_constructor("tag:yaml.org,2002:bool", _construct_bool)
    _EngineLoader.add_constructor("tag:yaml.org,2002:int", _construct_int)
    _EngineLoader.add_constructor("tag:yaml.org,2002:float", _construct_float)
    _EngineLoader.add_constructor("tag:yaml.org,2002:timestamp", _construct_text)


_install()


def read_yaml(path: Path, label: str) -> object:
    """Parse the YAML file at `path`; messages call it `label`.

    Raises:
        OfflineError: it cannot be read, is not UTF-8 or not YAML, or says a key twice.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OfflineError(
            f"{label}: byte {error.start}: not UTF-8 text (0x{error.object[error.start]:02x}); "
            "a stack file is UTF-8; save it as UTF-8"
        ) from None
    except IsADirectoryError:
        raise OfflineError(f"{label}: a directory; a file is wanted; write the path of a YAML file in it") from None
    except FileNotFoundError:
        raise OfflineError(f"{label}: no such file; write the path of a file that exists") from None
    except OSError as error:
        raise OfflineError(f"{label}: cannot be read ({error.strerror}); make it readable") from None
    return parse_yaml(text, label)


def parse_yaml(text: str, label: str) -> object:
    """Parse YAML `text`; messages call its file `label`.

    Raises:
        OfflineError: it is not YAML, or says a key twice.
    """
    try:
        loader = _EngineLoader(text)
        root = loader.get_single_node()
        faults = [] if root is None else list(_Walk(label).faults(root))
        document = None if root is None or faults else loader.construct_document(root)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise OfflineError(_syntax_error(error, label)) from None
    if faults:
        raise OfflineError(*faults)
    return document


@dataclass
class _Walk:
    """One look at each node of a document: keys that stand twice in their map, and what no configuration can mean."""

    label: str
    sizes: dict[int, int] = field(default_factory=dict)

    def faults(self, root: yaml.Node) -> Iterator[str]:
        """An error for each key that stands twice in its map.

        Raises:
            OfflineError: an anchor holds itself, or the document is too deep or, with its aliases written out, too
                long.
            yaml.YAMLError: a key is not plain text.
        """
        return self._walk(root, (), frozenset())

    def _walk(self, node: yaml.Node, path: tuple[str, ...], above: frozenset[int]) -> Iterator[str]:
        if id(node) in above:
            raise self._refused(path, "an anchor contains itself", "aliases may not loop", "write the value out")
        if len(path) > _DEEPEST:
            rule = f"a value is nested at most {_DEEPEST} deep"
            raise self._refused(path[:3], "nested too deep", rule, "write what the key takes")
        if id(node) in self.sizes:
            return  # what many aliases name is looked at once
        if isinstance(node, yaml.MappingNode):
            yield from _repeated(node, path, self.label)
        below = _below(node)
        for name, value in below:
            yield from self._walk(value, (*path, name), above | {id(node)})
        self.sizes[id(node)] = 1 + sum(self.sizes[id(value)] for _, value in below)
        if self.sizes[id(node)] > _LONGEST:
            rule = f"a file has at most {_LONGEST:,} values, those that aliases repeat counted each time"
            raise self._refused(path, "has too many values", rule, "write less")

    def _refused(self, path: tuple[str, ...], what: str, rule: str, fix: str) -> OfflineError:
        return OfflineError(f"{self.label}: {'.'.join(path) or 'the file'}: {what}; {rule}; {fix}")


def _repeated(node: yaml.MappingNode, path: tuple[str, ...], label: str) -> Iterator[str]:
    first_line: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is not plain text", key.start_mark)
        if key.value not in first_line:
            first_line[key.value] = line
            continue
        first, where = first_line[key.value], ".".join((*path, key.value))
        lines = f"line {line}" if first == line else f"lines {first} and {line}"
        yield f"{label}: {where}: written twice ({lines}); a key stands once in its map; keep one of the two"


def _below(node: yaml.Node) -> list[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        return [(key.value, value) for key, value in node.value]
    return [(str(i), item) for i, item in enumerate(node.value)] if isinstance(node, yaml.SequenceNode) else []


def _syntax_error(error: Exception, label: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    where = f"line {mark.line + 1}" if mark else "the file"
    detail = " ".join(str(problem).split())
    return f"{label}: {where}: not valid YAML ({detail}); maps are `key: value`, indented by spaces; correct the line"
