"""The page for a person."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from offline.page import WIDTH, Look
from offline.recording import UNKNOWN, Options, Recording, Resource
from offline.show import plan
from tests.offline.support import TOY, recorded

STACK = "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"
POOL = "gcp:container/nodePool:NodePool"


def pool(number: int, machine: str = "ct6e-standard-4t", parent: str = STACK) -> Resource:
    inputs = {"name": f"slice-{number}", "nodeCount": 4, "nodeConfig": {"machineType": machine}}
    return Resource(f"urn:{POOL}::slice-{number}", POOL, f"slice-{number}", parent, True, inputs, Options())


def recording(
    *resources: Resource, outputs: Mapping[str, Any] | None = None, warnings: tuple[str, ...] = ()
) -> Recording:
    root = Resource(STACK, "pulumi:pulumi:Stack", "p-dev", None, False, {}, Options())
    return Recording("p", "dev", "preview", (root, *resources), outputs or {}, warnings=warnings)


def lines(page: str) -> list[str]:
    return page.splitlines()


TOTALS = {
    "slices": 2,
    "hosts": 8,
    "chips": 32,
    "headVcpu": 64,
    "nodeAddresses": {"used": 12, "available": 16380},
    "podAddresses": {"used": 1280},
}
SLICES = [{"pool": f"slice-{number}", "topology": "4x4", "hosts": 4, "chips": 16} for number in range(2)]


def test_the_page_starts_with_totals() -> None:
    page = lines(plan(recording(pool(0), outputs={"totals": TOTALS, "slices": SLICES}), Look()))
    assert page[2:6] == [
        "  2 TPU slices   8 hosts   32 chips   64 head vCPU",
        "  each slice      4x4, 4 hosts, 16 chips, in node pools slice-0 … slice-1",
        "  node addresses  12 used of 16,380",
        "  pod addresses   1,280 used of those that the existing network has",
    ]
    assert "Outputs" not in page


def test_slices_of_one_shape_are_folded_only_when_they_are_many() -> None:
    eight = plan(recording(*map(pool, range(8))), Look())
    assert sum("slice-" in line for line in lines(eight)) == 8
    ten = plan(recording(*map(pool, range(10))), Look())
    assert "slice-0 … slice-9  (10 alike)" in ten
    assert sum("slice-" in line for line in lines(ten)) == 1


def test_a_slice_of_another_shape_stands_alone() -> None:
    page = plan(recording(*map(pool, range(10)), pool(10, "ct6e-standard-8t")), Look())
    assert "slice-0 … slice-9  (10 alike)" in page
    assert re.search(r"slice-10 +4 nodes ct6e-standard-8t", page)


def test_numbers_sort_as_numbers() -> None:
    page = plan(recording(*(pool(number, f"machine-{number}") for number in range(11))), Look())
    assert page.index("slice-9 ") < page.index("slice-10 ")


def test_protection_and_unknowns_are_marked() -> None:
    marked = replace(
        pool(0), options=Options(protect=True, retain_on_delete=True), inputs={"name": "x", "a": {"b": [UNKNOWN]}}
    )
    page = plan(recording(marked), Look())
    assert "protected, stays when it leaves the stack, known after up: a.b[0]" in page


def test_resources_come_in_the_order_of_an_up() -> None:
    page = plan(recorded("dev", TOY), Look())
    order = [page.index(word) for word in ("Google provider", "GKE cluster", "Pools", "Inside", "Namespace", "JobSet")]
    assert order == sorted(order)


@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_page(unicode: bool) -> None:
    long = "word " * 60
    wide = replace(
        pool(0), inputs={"name": "n" * 63, "nodeCount": 1, "nodeConfig": {"machineType": "m" * 90}, "a": UNKNOWN}
    )
    outputs = {
        "connect": {"x": f"kubectl {long}"},
        "links": {"y": "https://example.com/" + "p" * 120},
        "text": long,
        "deep": {"a": {"b": {"c": [long, {"k": long}]}}},
        "totals": TOTALS,
        "slices": [{"pool": "p" * 40, "topology": "16x16x24"}, {"pool": "q" * 40, "topology": "16x16x24"}],
    }
    page = plan(recording(wide, outputs=outputs, warnings=(long,)), Look(unicode=unicode))
    assert max(map(len, lines(page))) <= WIDTH
    assert page.isascii() is not unicode
    toy = plan(recorded("dev", TOY), Look(unicode=unicode))
    assert max(map(len, lines(toy))) <= WIDTH


@pytest.mark.parametrize("lengths", [[10] * 20, [95, 3], [10, 96, 96, 5], [250], [3, 101, 4], [98], [99], [100]])
def test_a_wrapped_command_can_be_copied(lengths: list[int]) -> None:
    command = "kubectl " + " ".join("x" * length for length in lengths)
    page = plan(recording(outputs={"connect": {"x": command}}), Look())
    copied = page.split("    x\n", 1)[1]
    assert max(map(len, lines(copied))) <= WIDTH
    assert shlex.split(copied.replace("\\\n", "")) == shlex.split(command)  # as a shell joins lines


def test_warnings_come_last() -> None:
    page = lines(plan(recording(outputs={"a": 1}, warnings=("one", "two")), Look()))
    assert page[-3:] == ["Warnings", "  ! one", "  ! two"]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Look.of(Terminal()) == Look(colour=True)
    assert Look.of(io.TextIOWrapper(io.BytesIO(), "ascii")) == Look(colour=False, unicode=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert Look.of(Terminal()) == Look(colour=False)


def test_colour_changes_nothing_but_colour() -> None:
    toy = recorded("dev", TOY)
    coloured = plan(toy, Look(colour=True))
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plan(toy, Look())
