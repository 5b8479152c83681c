"""YAML is read as the engine reads it, and duplicates are refused."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from offline.errors import OfflineError
from offline.yamlfile import parse_yaml, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("", None),
        ("nULL", "nULL"),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("1_000", 1000),
        ("0", 0),
        ("0777", 511),
        ("0o777", 511),
        ("0b101", 5),
        ("-0x1F", -31),
        ("08", 8.0),
        ("1:30", "1:30"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1.30", 1.3),
        (".inf", float("inf")),
        ("1.2.3", "1.2.3"),
        (".", "."),
        ("-", "-"),
        ("0x", "0x"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ('"12"', "12"),
        ("'true'", "true"),
        ("!!str 12", "12"),
        ("4x4", "4x4"),
    ],
)
def test_a_plain_scalar_means_what_it_means_to_the_engine(text: str, value: object) -> None:
    document: Any = parse_yaml(f"- {text}\n" if text != "-" else '["-"]', "f")
    assert document == [value]
    assert type(document[0]) is type(value)


def test_anchors_and_merges_work() -> None:
    document = parse_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: *a\n", "f")
    assert document == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 1, "y": 2}}


# Nine lines that stand for ten million values.
BOMB = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in pairwise("abcdefgh")
)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\nb: 2\na: 3\n", ["f: a: written twice (lines 1 and 3); a key stands once in its map"]),
        (
            "m:\n  k: 1\n  k: 2\n  k: 3\n",
            ["f: m.k: written twice (lines 2 and 3)", "f: m.k: written twice (lines 2 and 4)"],
        ),
        ("m: {k: 1, 'k': 2}", ["f: m.k: written twice (line 1)"]),
        ("a: [{x: 1}, {y: 1, y: 2}]\n", ["f: a.1.y: written twice (line 1)"]),
        ("a: &a {x: 1, x: 2}\nb: *a\n", ["f: a.x: written twice (line 1)"]),
        ("a: 1\n\tb: 2\n", ["f: line 2: not valid YAML ("]),
        ("a: [1, 2\nb: 3\n", ["f: line 2: not valid YAML ("]),
        ("a: b: c\n", ["f: line 1: not valid YAML (mapping values are not allowed in this context)"]),
        ("a: *nowhere\n", ["f: line 1: not valid YAML (found undefined alias"]),
        ("a: &a [*a]\n", ["f: a.0: an anchor contains itself"]),
        ("a: !!bool maybe\n", ["f: line 1: not valid YAML (maybe is neither true nor false)"]),
        ("a: 1\nb: !!int abc\n", ["f: line 2: not valid YAML (abc is not a whole number that can be read)"]),
        ("a: !!float abc\n", ["f: line 1: not valid YAML (abc is not a number that can be read)"]),
        (f"a: 0x{'f' * 5000}\n", ["f: line 1: not valid YAML (0xffff"]),
        (f"a: {'9' * 5000}\n", ["f: line 1: not valid YAML (9999"]),
        (f"a: {'[' * 80}{']' * 80}\n", ["f: a.0.0: nested too deep; a value is nested at most 64 deep"]),
        (BOMB, ["f: f: has too many values; a file has at most 100,000 values"]),
        ("a: !!python/object:os.system {}\n", ["f: line 1: not valid YAML (could not determine a constructor"]),
        ("a: 1\n---\nb: 2\n", ["f: line 2: not valid YAML ("]),
        ("? [1, 2]\n: 3\n", ["f: line 1: not valid YAML (a key is not plain text)"]),
        ("a: \x00\n", ["f: the file: not valid YAML ("]),
    ],
)
def test_a_fault_is_one_line_with_its_place(text: str, lines: list[str]) -> None:
    with pytest.raises(OfflineError) as raised:
        parse_yaml(text, "f")
    assert len(raised.value.lines) == len(lines)
    for found, expected in zip(raised.value.lines, lines, strict=True):
        assert found.startswith(expected)
        assert "\n" not in found


def test_deep_nesting_is_a_sentence_not_a_traceback() -> None:
    with pytest.raises(OfflineError, match="not valid YAML"):
        parse_yaml("[" * 100_000, "f")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_bytes(b"a: \xff\n"), "f: byte 3: not UTF-8 text (0xff)"),
        (lambda path: path.mkdir(), "f: a directory"),
        (lambda _: None, "f: no such file"),
    ],
)
def test_an_unreadable_file_is_one_sentence(tmp_path: Path, make: Any, sentence: str) -> None:
    make(tmp_path / "file")
    with pytest.raises(OfflineError) as raised:
        read_yaml(tmp_path / "file", "f")
    assert raised.value.lines[0].startswith(sentence)
    assert len(raised.value.lines) == 1


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfconfig: 1\n")
    assert read_yaml(tmp_path / "file", "f") == {"config": 1}
