"""Few rows of values that hold every pair of values of any two parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

Row = dict[str, str]
_Pair = tuple[tuple[str, str], tuple[str, str]]


def pairwise(parameters: Mapping[str, Sequence[str]]) -> list[Row]:
    """Rows that together hold each pair at least once; the same rows every time.

    Greedy: each row starts from a pair that is still missing and takes, parameter by parameter, the value that brings
    the most missing pairs.
    """
    names = list(parameters)
    missing = {((a, x), (b, y)): None for a, b in combinations(names, 2) for x in parameters[a] for y in parameters[b]}
    rows: list[Row] = []
    while missing:
        row: Row = dict(next(iter(missing)))
        for name in names:
            if name not in row:
                row[name] = max(parameters[name], key=lambda value: _gain(missing, row, name, value))
        rows.append({name: row[name] for name in names})
        for pair in pairs_of(rows[-1]):
            missing.pop(pair, None)
    return rows


def pairs_of(row: Mapping[str, str]) -> Iterator[_Pair]:
    """Every pair of a row, in the order of its parameters."""
    return combinations(row.items(), 2)


def _gain(missing: Mapping[_Pair, None], row: Row, name: str, value: str) -> int:
    one = (name, value)
    return sum((one, other) in missing or (other, one) in missing for other in row.items())
