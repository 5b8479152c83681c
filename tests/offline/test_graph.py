"""The graph, and its two drawings."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from offline.graph import Graph, Group, graph
from offline.mermaid import mermaid
from offline.recording import UNKNOWN, Options, Recording, Resource
from offline.svg import WIDTH, svg
from tests.offline.support import TOY, recorded

STACK = Resource("urn:pulumi:d::p::pulumi:pulumi:Stack::p-d", "pulumi:pulumi:Stack", "p-d", None, False, {}, Options())
SVG = "{http://www.w3.org/2000/svg}"


def thing(
    name: str, *depends_on: str, parent: str = "", protect: bool | None = None, unknown: bool = False
) -> Resource:
    options = Options(depends_on=tuple(f"urn:{other}" for other in depends_on), protect=protect)
    inputs = {"name": name, **({"v": UNKNOWN} if unknown else {})}
    kind = f"t:i:Thing{re.sub('[^a-z]', '', name)}"
    return Resource(f"urn:{name}", kind, name, f"urn:{parent}" if parent else STACK.urn, True, inputs, options)


def component(name: str, parent: str = "") -> Resource:
    return replace(thing(name, parent=parent), custom=False)


def drawn(*resources: Resource) -> Graph:
    return graph(Recording("p", "d", "preview", (STACK, *resources), {}))


def edges(found: Graph) -> set[tuple[str, str]]:
    names = {box.id: box.name for box in found.root.boxes()}
    return {(names[needed], names[needs]) for needed, needs in found.edges}


def test_an_edge_that_others_imply_is_not_drawn() -> None:
    assert edges(drawn(thing("a"), thing("b", "a"), thing("c", "a", "b"))) == {("a", "b"), ("b", "c")}


def test_slices_of_one_shape_are_one_box_with_a_count() -> None:
    found = drawn(
        component("g"),
        *(thing(f"s-{number}", "c", parent="g") for number in range(12)),
        thing("c"),
        thing("j", "s-0", "s-7"),
    )
    (box,) = [box for box in found.root.boxes() if box.count > 1]
    assert (box.count, box.name) == (12, "s-0 … s-11")
    assert edges(found) == {("c", "s-0 … s-11"), ("s-0 … s-11", "j")}


def test_what_has_nothing_but_a_name_is_one_box_too() -> None:
    apis = [replace(thing(f"api-{letter}"), type="t:i:Api") for letter in "abc"]
    assert [(box.name, box.count) for box in drawn(*apis, thing("x")).root.boxes()] == [("api-a … api-c", 3), ("x", 1)]


def test_a_frame_around_everything_is_left_out() -> None:
    found = drawn(component("all"), component("g", "all"), thing("a", parent="g"), thing("b", parent="all"))
    assert [item.title if isinstance(item, Group) else item.name for item in found.root.items] == ["b", "Thingg"]


def test_equal_components_are_one_group() -> None:
    parts = [
        part
        for number in range(3)
        for part in (
            component(f"g-{number}"),
            thing(f"p-{number}", parent=f"g-{number}"),
            thing(f"q-{number}", f"p-{number}", parent=f"g-{number}"),
        )
    ]
    found = drawn(*parts)
    assert [(box.name, box.count) for box in found.root.boxes()] == [("p-0 … p-2", 3), ("q-0 … q-2", 3)]
    assert edges(found) == {("p-0 … p-2", "q-0 … q-2")}


def test_providers_are_seen_through() -> None:
    found = graph(recorded("dev", TOY))
    assert ("toy-dev", "team") in edges(found)
    assert not [box for box in found.root.boxes() if "provider" in box.noun]


def test_mermaid_has_every_box_group_edge_and_mark() -> None:
    text = mermaid(graph(recorded("dev", TOY)))
    assert text.isascii()
    lines = [line.strip() for line in text.splitlines()]
    assert lines[1] == "flowchart TD"
    assert lines.count("end") == sum(line.startswith("subgraph ") for line in lines) == 2
    boxes = [line.split("[")[0] for line in lines if re.match(r"n\d+\[", line)]
    assert len(boxes) == len(set(boxes)) == 8
    for line in lines:
        if "-->" in line:
            assert set(line.split(" --> ")) <= set(boxes)
    (protected,) = [line for line in lines if line.endswith(" protected") and line.startswith("class ")]
    assert len(protected.split()[1].split(",")) == 2


@pytest.mark.parametrize("name", ['a"b', "a<b>", "a#b;", "a[b](c){d}|e", "`a`", "end", "é"])
def test_no_name_breaks_a_label(name: str) -> None:
    (line,) = [line for line in mermaid(drawn(thing(name))).splitlines() if "Thing" in line]
    label = line.split('["', 1)[1].removesuffix('"]').replace("<br/>", " ")
    assert re.fullmatch(r"[A-Za-z0-9 .()/:_-]*", re.sub(r"#\d+;", "", label))


def test_the_picture_is_well_formed_and_every_box_inside_it() -> None:
    resources = [component(group) for group in "pqrstu"]
    resources += [thing(f"{group}{letter}", parent=group) for group in "pqrstu" for letter in "abcdefg"]
    resources.append(thing("x<&>é", "pa", "ug", protect=True, unknown=True))
    assert svg(drawn(*resources)).isascii()
    root = ElementTree.fromstring(svg(drawn(*resources)))
    height = int(root.attrib["height"])
    rectangles = [each for each in root.iter(f"{SVG}rect") if each.get("class")]
    assert len([each for each in rectangles if each.attrib["class"].startswith("b")]) == 43
    for each in rectangles:
        x, y = int(each.attrib["x"]), int(each.attrib["y"])
        assert 0 <= x <= x + int(each.attrib["width"]) <= WIDTH
        assert 0 <= y <= y + int(each.attrib["height"]) <= height
    assert any(each.attrib["class"] == "b p u" for each in rectangles)
    assert len([each for each in root.iter(f"{SVG}path") if each.get("class") == "e"]) == 2
    assert any(each.text == "x<&>é" for each in root.iter(f"{SVG}text"))


def test_boxes_do_not_overlap() -> None:
    root = ElementTree.fromstring(svg(graph(recorded("dev", TOY))))
    places = [
        tuple(int(each.attrib[key]) for key in ("x", "y", "width", "height"))
        for each in root.iter(f"{SVG}rect")
        if (each.get("class") or "").startswith("b")
    ]
    for index, (x, y, width, height) in enumerate(places):
        for other_x, other_y, other_width, other_height in places[index + 1 :]:
            apart = (
                x + width <= other_x
                or other_x + other_width <= x
                or y + height <= other_y
                or other_y + other_height <= y
            )
            assert apart
