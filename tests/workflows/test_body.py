from __future__ import annotations

import json
import re
from typing import Any

import pytest

from offline.diff.form import form
from offline.diff.markdown import comment
from offline.diff.model import Diff, Impact, Operation
from offline.diff.paths import written
from tests.workflows.samples import BUCKET, CLUSTER, POOL, SUBNET, WHOLE, change, diff, planned
from workflows.body import MARKER, MOST_CHARACTERS, body, fenced
from workflows.diff_form import load, path
from workflows.pieces import (
    LONGEST_TEXT,
    Outcome,
    Planned,
    diff_file,
    engine_file,
    parse,
    read,
    refused_file,
    scope_file,
)

RUN = "https://github.example/acme/pathways/actions/runs/55"


def rendered(*files: Any, scope: list[str] | None = None) -> str:
    texts = [each[1] if isinstance(each, tuple) else json.dumps(each) for each in files]
    if scope is not None:
        texts.append(scope_file(scope)[1])
    return body(read(text.encode() for text in texts), run=RUN)


def test_a_comparison_survives_its_form() -> None:
    again = load(json.loads(json.dumps(form(WHOLE))))
    assert form(again) == form(WHOLE)
    assert comment(again) == comment(WHOLE)


@pytest.mark.parametrize(
    "text",
    ["a", "a.b", 'a["x/y"].z', "a[0].b[12]", "containers[main].image", '["quoted first"]', "a[with-dash][3]", "$x.y-z"],
)
def test_a_path_is_written_as_it_was(text: str) -> None:
    assert written(path(text)) == text


def removed(form: dict[str, Any], place: list[Any]) -> dict[str, Any]:
    node: Any = form
    for key in place[:-1]:
        node = node[key]
    del node[place[-1]]
    return form


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (["stack"], "other"),
        (["stack"], 1),
        (["impact"], None),
        (["changes"], {"a": 1}),
        (["changes", 0, "operation"], "explode"),
        (["changes", 0, "impact"], "none at all"),
        (["changes", 0, "impact"], ["none"]),
        (["changes", 0, "sentence"], ["x"]),
        (["changes", 0, "custom"], "yes"),
        (["changes", 0, "paths", 0, "kind"], "x"),
        (["changes", 0, "paths", 0, "path"], 7),
        (["changes", 0, "because"], [1]),
        (["changes", 0, "source"], {"x": 1}),
        (["summary", "same"], True),
        (["summary"], None),
        (["totals", "chips", "new"], "48"),
        (["notes"], 3),
        (["steps"], "x"),
    ],
)
def test_a_form_with_a_wrong_field_is_no_piece(place: list[Any], value: Any) -> None:
    piece = json.loads(json.dumps(planned(WHOLE)))
    assert isinstance(parse(json.dumps(piece).encode()), Planned)
    node = piece["diff"]
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value
    expected = Planned if place == ["impact"] else type(None)  # the worst impact is counted anew, not believed
    assert isinstance(parse(json.dumps(piece).encode()), expected)


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"\xff",
        b"[]",
        b"3",
        b"null",
        b"[" * 100_000,
        b'{"kind": "other"}',
        b'{"kind": ["scope"]}',
        b'{"kind": "scope"}',
        b'{"kind": "scope", "stacks": ["a", "../b"]}',
        b'{"kind": "scope", "stacks": ["--help"]}',
        json.dumps({"kind": "scope", "stacks": [f"s{n}" for n in range(257)]}).encode(),
        b'{"kind": "diff", "stack": "a|b", "errors": []}',
        b'{"kind": "diff", "stack": "a", "errors": [1]}',
        b'{"kind": "engine", "stack": "a", "outcome": "fine", "text": ""}',
        b'{"kind": "engine", "stack": "a", "outcome": "done", "text": 1}',
    ],
)
def test_what_is_no_piece_is_counted_and_passed_over(document: bytes) -> None:
    found = read([document, scope_file(["a"])[1].encode()])
    assert found.unreadable == 1
    assert found.scope.stacks == ("a",)
    assert "1 file of the run could not be read" in body(found, run=RUN)


def test_one_stack_is_its_section_and_little_more() -> None:
    text = rendered(planned(diff("vision-dev", change())), scope=["vision-dev"])
    assert text.startswith(f"{MARKER}\n")
    assert comment(diff("vision-dev", change())) in text
    assert "| stack |" not in text
    assert RUN in text


def test_several_stacks_have_a_table_worst_first() -> None:
    files = [
        planned(diff("a-dev")),
        planned(diff("b-dev", change(BUCKET, Operation.DELETE, impact=Impact.DESTROYS_DATA))),
        planned(diff("c-dev", change(SUBNET, Operation.UPDATE, impact=Impact.IN_PLACE))),
        refused_file("d-dev", ["stacks/Pulumi.d-dev.yaml: pathways:zone: …"]),
    ]
    text = rendered(*files, scope=["a-dev", "b-dev", "c-dev", "d-dev", "e-dev"])
    rows = re.findall(r"^\| (\w-dev) \| (.*) \|$", text, re.MULTILINE)
    assert rows == [
        ("d-dev", "**cannot be planned** |  |  |  | "),
        ("e-dev", "**no result** |  |  |  | "),
        ("b-dev", "**destroys-data** |  |  |  | 1"),
        ("c-dev", "in-place |  | 1 |  | "),
        ("a-dev", "none |  |  |  | "),
    ]
    for stack in ("a-dev", "b-dev", "c-dev", "d-dev", "e-dev"):
        assert f"### `{stack}`: " in text


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ([change(CLUSTER)], "> **vision-dev**: 1 cluster replaced"),
        ([change(BUCKET, Operation.DELETE)], "> **vision-dev**: 1 bucket deleted"),
        ([change(), change(name="b"), change(CLUSTER)], "> **vision-dev**: 2 node pools replaced, 1 cluster replaced"),
        ([change(POOL, Operation.CREATE), change(CLUSTER, Operation.UPDATE), change(SUBNET)], None),
    ],
)
def test_the_loss_of_a_cluster_pool_or_bucket_is_loud(changes: list[Any], line: str | None) -> None:
    text = rendered(planned(diff("vision-dev", *changes)), scope=["vision-dev"])
    assert (f"> [!CAUTION]\n{line}\n" in text) if line else ("[!CAUTION]" not in text)


def test_no_stack_is_said_in_one_line() -> None:
    assert "No stack is affected by this change." in rendered(scope=[])


def test_a_stack_that_the_scope_does_not_name_is_not_shown() -> None:
    assert "other" not in rendered(planned(diff("other")), scope=["vision-dev"])


def test_without_a_scope_the_pieces_are_shown() -> None:
    assert "### `vision-dev`" in rendered(planned(diff("vision-dev")))


def test_the_engine_stands_beside_it() -> None:
    files = [planned(diff("vision-dev")), engine_file("vision-dev", Outcome.DONE, "\x1b[1m + create\x1b[0m pool\n")]
    text = rendered(*files, scope=["vision-dev"])
    assert "<summary>The engine's own preview</summary>\n\n```text\n + create pool\n```\n</details>" in text
    assert text.index("### `vision-dev`") < text.index("own preview")


@pytest.mark.parametrize(
    ("outcome", "said"), [(Outcome.FAILED, "<b>failed</b>"), (Outcome.UNKNOWN_STACK, "does not know this stack yet")]
)
def test_the_engine_says_how_it_ended(outcome: Outcome, said: str) -> None:
    assert said in rendered(engine_file("vision-dev", outcome, "x"), scope=["vision-dev"])


HOSTILE = "</details> <img src=x> @ada [link](https://evil.example) `x` | #1 <!-- pathways-preview --> ![i](https://e.example/i.png)"


@pytest.mark.parametrize("place", ["sentence", "label", "source", "because", "notes", "obstacle", "base", "path"])
def test_no_text_of_a_pull_request_becomes_markup(place: str) -> None:
    hostile = diff("vision-dev", change(), notes=())
    raw = form(hostile)
    match place:
        case "notes":
            raw["notes"] = [HOSTILE]
        case "base":
            raw["base"] = HOSTILE
        case "obstacle":
            raw["obstacles"] = [{"urn": HOSTILE, "rule": "protected", "sentence": HOSTILE}]
        case "because":
            raw["changes"][0]["because"] = [HOSTILE]
        case "path":
            raw["changes"][0]["paths"] = [
                {"path": HOSTILE, "kind": "add", "old": None, "new": HOSTILE, "replaces": False}
            ]
        case _:
            raw["changes"][0][place] = HOSTILE
    text = rendered({"kind": "diff", "stack": "vision-dev", "diff": raw}, scope=["vision-dev"])
    outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    assert "<img" not in outside
    assert "](https://evil" not in outside
    assert "@ada" not in outside
    assert text.count(MARKER) == 1 or MARKER not in outside.removeprefix(MARKER)
    assert outside.count("<details>") == outside.count("</details>")


def test_an_obstacle_s_rule_cannot_be_markup() -> None:
    raw = form(diff("vision-dev", change()))
    raw["obstacles"] = [{"urn": "u", "rule": "x** <img src=x> @ada", "sentence": "s"}]
    assert parse(json.dumps({"kind": "diff", "stack": "vision-dev", "diff": raw}).encode()) is None


@pytest.mark.parametrize(
    "text",
    [
        "```\n<img src=x>\n```",
        "~~~\n@ada",
        "`" * 50 + "\n</details>",
        "a\rb",
        "\x1b]8;;https://evil\x1b\\x\x1b]8;;\x1b\\",
        "\u202edrah",
    ],
)
def test_nothing_gets_out_of_a_code_block(text: str) -> None:
    block = fenced(text)
    fence = block.splitlines()[0].removesuffix("text")
    inner = block.split("\n", 1)[1].rsplit("\n", 1)[0]
    assert block.endswith(f"\n{fence}")
    assert fence not in inner
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]", inner)


def test_errors_of_a_stack_file_stand_in_a_block() -> None:
    text = rendered(refused_file("vision-dev", ["a: `b` @ada", *["x"] * 90]), scope=["vision-dev"])
    assert "### `vision-dev`: cannot be planned\n\n```text\na: `b` @ada\nx\n" in text
    assert text.count("\nx") == 19


def test_a_large_change_stays_below_the_limit_and_says_what_is_missing() -> None:
    names = [f"s{number:03}" for number in range(200)]
    many = [change(name=f"n{number}", sentence=f"{chr(97 + number % 26)} sentence {'x' * 300}") for number in range(50)]
    files = [planned(diff(name, *many)) for name in names]
    engines = [engine_file(name, Outcome.DONE, "y" * 2 * LONGEST_TEXT) for name in names]
    text = rendered(*files, *engines, scope=names)
    assert len(text) <= MOST_CHARACTERS
    assert "Not shown for want of room: " in text
    shown = set(re.findall(r"### `(s\d+)`", text))
    assert shown
    assert {*shown, *text.split("want of room: ")[1].split(".")[0].split(", ")} == set(names)


def test_the_most_stacks_with_the_longest_names_still_make_a_comment() -> None:
    names = [f"{number:03}{'n' * 97}" for number in range(256)]
    text = rendered(*(planned(diff(name, change(CLUSTER))) for name in names), scope=names)
    assert len(text) <= MOST_CHARACTERS
    assert "> and 236 stacks more" in text
    assert "| and 156 more |" in text


def test_the_first_of_two_pieces_for_one_stack_counts() -> None:
    first, second = diff_file("a", form(diff("a"))), refused_file("a", ["no"])
    assert isinstance(read([first[1].encode(), second[1].encode()]).plans["a"], Planned)


def test_samples_have_every_field() -> None:
    assert isinstance(WHOLE, Diff)
    assert set(form(WHOLE)["changes"][0]) == {
        "urn", "type", "name", "label", "custom", "operation", "impact", "sentence", "paths",
        "oldUrn", "because", "deleteBeforeReplace", "goesWith", "kept", "source",
    }  # fmt: skip
