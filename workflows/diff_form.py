"""A comparison from its stable JSON form (`offline.diff.form`), checked field by field.

The text of a comment is made from this by the base branch's renderer, which escapes every value; so a pull request
can say what it likes in a file and still not put markup of its own into a comment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from offline.diff.model import Amount, Change, Diff, Finding, Impact, Kind, Obstacle, Operation, PathChange, Step
from offline.diff.paths import Item, Path, Segment

_IMPACTS = {impact.word: impact for impact in Impact}
_PARTS = re.compile(
    r'\["(?P<quoted>.*?)"\]|\[(?P<number>\d{1,9})\]|\[(?P<item>[^\]]*)\]|\.?(?P<name>[^.\[]+)', re.DOTALL
)


def load(form: Mapping[str, Any]) -> Diff:
    """The comparison in `form`.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is none.
    """
    return Diff(
        project=_string(form["project"]),
        stack=_string(form["stack"]),
        base=_string(form["base"]),
        changes=tuple(_change(raw) for raw in form["changes"]),
        same=_whole(form["summary"]["same"]),
        totals={_string(key): _amount(raw) for key, raw in form["totals"].items()},
        obstacles=tuple(
            Obstacle(_string(raw["urn"]), _rule(raw["rule"]), _string(raw["sentence"])) for raw in form["obstacles"]
        ),
        findings=tuple(map(_finding, form["policy"])),
        notes=tuple(map(_string, form["notes"])),
        steps=tuple(Step(_string(raw["operation"]), _string(raw["urn"])) for raw in form["steps"]),
    )


def _change(raw: Mapping[str, Any]) -> Change:
    return Change(
        urn=_string(raw["urn"]),
        type=_string(raw["type"]),
        name=_string(raw["name"]),
        label=_string(raw["label"]),
        custom=_flag(raw["custom"]),
        operation=Operation(raw["operation"]),
        impact=_IMPACTS[raw["impact"]],
        sentence=_string(raw["sentence"]),
        old_urn=_maybe(raw.get("oldUrn")),
        because=tuple(map(_string, raw.get("because", ()))),
        paths=tuple(_path_change(each) for each in raw["paths"]),
        delete_before_replace=_flag(raw.get("deleteBeforeReplace", False)),
        goes_with=_maybe(raw.get("goesWith")),
        kept=_flag(raw.get("kept", False)),
        source=_maybe(raw.get("source")),
    )


def _finding(raw: Mapping[str, Any]) -> Finding:
    return Finding(
        urn=_string(raw["urn"]),
        name=_string(raw["name"]),
        rule=_rule(raw["rule"]),
        level=_rule(raw["level"]),
        detail=_string(raw["detail"]),
        sentence=_string(raw["sentence"]),
        fix=_string(raw["fix"]),
        waived=_maybe(raw["waived"]),
        new=_flag(raw["new"]),
    )


def _path_change(raw: Mapping[str, Any]) -> PathChange:
    return PathChange(
        path=path(_string(raw["path"])),
        kind=Kind(raw["kind"]),
        old=raw["old"],
        new=raw["new"],
        replaces=_flag(raw["replaces"]),
    )


def path(text: str) -> Path:
    """The path that `offline.diff.paths.written` writes as `text`."""
    found: list[Segment] = []
    for part in _PARTS.finditer(text):
        if part["number"] is not None:
            found.append(int(part["number"]))
        elif part["item"] is not None:
            found.append(Item(part["item"], 0))
        else:
            found.append(part["quoted"] if part["quoted"] is not None else part["name"])
    return tuple(found)


def _amount(raw: Mapping[str, Any]) -> Amount:
    return Amount(*(None if raw[side] is None else _whole(raw[side]) for side in ("old", "new")))


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _rule(value: object) -> str:
    """The name of a rule."""
    if not re.fullmatch(r"[a-z-]{1,40}", _string(value)):
        raise ValueError
    return _string(value)


def _maybe(value: object) -> str | None:
    return None if value is None else _string(value)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value
