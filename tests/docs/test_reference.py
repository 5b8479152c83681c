"""docs/stack-file.md and stacks/schema.json are what `make schema` would write."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from offline import cli
from offline.reference import reference, write
from pathways.rules import RULES
from pathways.schema import schema, schema_text
from pathways.tpu import GENERATIONS
from tests.docs.pages import keys
from tests.project.checkout import ROOT


@pytest.mark.parametrize(("path", "made"), [("docs/stack-file.md", reference), ("stacks/schema.json", schema_text)])
def test_a_generated_file_is_fresh(path: str, made: object) -> None:
    assert callable(made)
    assert (ROOT / path).read_text("utf-8") == made(), f"{path} is stale: run make schema"


def test_write_makes_both_files_in_a_project(tmp_path: Path) -> None:
    written = write(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in written] == ["stacks/schema.json", "docs/stack-file.md"]
    assert written[0].read_text("utf-8") == schema_text()
    assert written[1].read_text("utf-8") == reference()


@cache
def text() -> str:
    """The reference, made once."""
    return reference()


def test_every_key_has_a_row_with_a_meaning() -> None:
    rows: dict[str, set[str]] = {}
    section = ""
    for line in text().splitlines():
        if heading := re.match(r"#{2,5} (?:`([\w.]+)`)?", line):
            section = heading[1] or ""
        elif row := re.match(r"\| `([\w:]+)` \| (.+) \| (.+) \| (.+) \| (\S.*) \|$", line):
            rows.setdefault(f"{section}.{row[1]}".removeprefix("."), set()).add(row[5])
    documented = {path.removeprefix("pathways:") for path in rows}
    assert keys(schema()) - documented == set()


@pytest.mark.parametrize(
    "row",
    [
        "| `type` | `spot` | **required** | `spot` | Kind of capacity. |",
        "| `count` | whole number, 1 to 1024 | **required** | `2` |",
        "| `maxRestarts` | whole number, 0 to 1000 | `0` | `3` |",
        "| `hostNetwork` | `true` or `false` | `false` | `true` |",
        "| `endpoint` | one of `dns`, `private`, `authorized` | `dns` | `dns` |",
        (
            "| `capacity` | a map, one of: `type: on-demand`, `type: spot`, `type: reservation`, `type: flex-start` "
            "| `type: on-demand` |"
        ),
        "| `pathways:cluster` | a map, one of: created, `existing` | created |",
        (
            "| `pathways:team` | text: a team is a DNS label: lower-case letters, digits and -, starting with a "
            "letter, at most 16 characters | **required** | `vision` |"
        ),
    ],
)
def test_a_row_says_type_rule_default_and_example(row: str) -> None:
    assert f"\n{row}" in text()


def test_the_forms_of_a_union_stand_apart() -> None:
    headings = [line for line in text().splitlines() if line.startswith("#")]
    for form in ("`workload`, `mode: batch`", "`workload`, `mode: interactive`"):
        assert f"### {form}" in headings
    for name in ("scratch", "cluster", "network"):
        assert {f"### `{name}`, created", f"### `{name}`, `existing`"} <= set(headings)


def test_rules_between_values_and_generations_are_listed() -> None:
    assert [rule.__name__ for rule in RULES if not rule.__doc__ or f"\n- {rule.__doc__.strip()}\n" not in text()] == []
    assert [name for name in GENERATIONS if f"\n| `{name}` | " not in text()] == []


def test_no_row_has_a_stray_bar_or_python_word() -> None:
    for line in text().splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in (4, 6), line
        assert not re.search(r"\b(None|PydanticUndefined|NoneType)\b", line), line


def test_the_command_line_prints_either_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["schema"]) == 0
    assert capsys.readouterr().out == schema_text()
    assert cli.main(["schema", "--reference"]) == 0
    assert capsys.readouterr().out == reference()
    with pytest.raises(SystemExit, match="2"):
        cli.main(["schema", "--reference", "--write"])
