from __future__ import annotations

import pytest

from pathways.errors import Problem, StackFileError, listed, nearest, printable, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("abc", "abc"),
        ("", '""'),
        (" a", '" a"'),
        (True, "true"),
        (None, "null"),
        (1.5, "1.5"),
        ({"a": [1]}, '{"a": [1]}'),
        ("x" * 81, "x" * 79 + "…"),
        ({(1, 2): 3}, "a dict"),
    ],
)
def test_shown(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_number_too_long_to_print_is_shown_by_its_kind() -> None:
    assert shown(10**5000) == "a int"


@pytest.mark.parametrize(
    ("text", "line"), [("a\nb", "a\\nb"), ("\r\x1b[0m", "\\r\\x1b[0m"), ("a\u2028b", "a\\u2028b"), ("é × ≤", "é × ≤")]
)
def test_printable(text: str, line: str) -> None:
    assert printable(text) == line
    assert printable(text).isprintable()


@pytest.mark.parametrize(
    ("value", "meant"),
    [("topolgy", "topology"), ("Topology", "topology"), (" count ", "count"), ("xyz", None), ("", None)],
)
def test_nearest(value: str, meant: str | None) -> None:
    assert nearest(value, ["topology", "count"]) == meant


def test_a_fault_is_said_once_and_in_order() -> None:
    first, second = Problem("b", "what", "rule", "fix"), Problem("a", "what", "rule", "fix")
    error = StackFileError("f.yaml", [first, second, first])
    assert error.lines == ("f.yaml: b: what; rule; fix", "f.yaml: a: what; rule; fix")
    assert str(error) == "\n".join(error.lines)
    assert listed([1, "a"]) == "1, a"
