from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.pathways.support import ABSENT, Refused, check_refused, faults, no, plan


def slices(**values: Any) -> dict[str, Any]:
    return {"slices": values}


def of(tpu: str, topology: str, **values: Any) -> dict[str, Any]:
    return {"slices": {"tpu": tpu, "machineType": ABSENT, "topology": topology, **values}}


RESERVATIONS = (
    "tpu-2027",
    "projects/acme-capacity/reservations/tpu-2027",
    "projects/acme-capacity/reservations/tpu-2027/reservationBlocks/block-3",
    "projects/acme-capacity/reservations/tpu-2027/reservationBlocks/block-3/reservationSubBlocks/sub-1",
)


@pytest.mark.parametrize(
    "case",
    [
        no("slices.tpu", slices(tpu=ABSENT), "is missing", "write tpu: v6e"),
        no("slices.tpu", slices(tpu="V6e"), "V6e is not a choice", "v4, v5e, v5p, v6e, tpu7x", "write v6e"),
        no("slices.tpu", slices(tpu="v7x"), "is not a choice", "write one of"),
        no("slices.tpu", slices(tpu="h100"), "write one of v4, v5e"),
        no("slices.tpu", slices(tpu=6), "6 is not a choice"),
        no("slices.machineType", slices(machineType="ct5p-hightpu-4t"), "not a v6e machine", "write one of ct6e-"),
        no("slices.machineType", of("v5e", "2x4", machineType="ct5lp-hightpu-1t"), "not a v5e machine"),
        no("slices.machineType", slices(machineType=None), "has no value (null)", "or remove machineType"),
        no("slices.machineType", slices(machineType=4), "a number (4)", "text", "ct6e-standard-4t"),
        no("slices.topology", slices(topology=ABSENT), "is missing", "write topology: 4x4"),
        no("slices.topology", slices(topology=44), "a number (44)", "text"),
        no("slices.topology", slices(topology=""), '"" is not a topology', "AxB", "write AxB"),
        no("slices.topology", slices(topology="4 x 4"), "without blanks", "write 4x4"),
        no("slices.topology", slices(topology="4*4"), "write 4x4"),
        no("slices.topology", slices(topology="4X5"), "write one of 2x2, 2x4"),
        no("slices.topology", slices(topology="0x4"), "0x4 is not a topology", "write one of"),
        no("slices.topology", slices(topology="04x4"), "write 4x4"),
        no("slices.topology", slices(topology="4x2"), "out of order", "non-decreasing", "write 2x4"),
        no("slices.topology", slices(topology="4x4x4"), "three dimensions", "v6e topologies have two", "8x8"),
        no("slices.topology", slices(topology="32x32"), "not a v6e topology", "16x16"),
        no("slices.topology", slices(topology="٤x٤"), "is not a topology"),
        no("slices.topology", slices(topology="4x4\n"), "4x4\\n", "write 4x4"),
        no("slices.topology", of("v6e", "2x2", machineType="ct6e-standard-1t"), "1-chip VM is a whole 1x1 slice"),
        no("slices.topology", of("v5e", "1x1"), "one chip cannot fill a 4-chip VM"),
        no("slices.topology", of("v5p", "6x6x6"), "not a v5p topology", "multiple of 4", "write one of"),
        no("slices.topology", of("v5p", "8x4x4"), "out of order", "write 4x4x8"),
        no("slices.topology", of("v4", "2x2x8"), "not a v4 topology", "2x2x1, 2x2x2, 2x2x4, 2x4x4"),
        no("slices.topology", of("v4", "1x1x1"), "cannot fill a 4-chip VM"),
        no("slices.topology", of("v4", "16x16x20"), "80 cubes", "a v4 slice has at most 64", "write one of"),
        no("slices.topology", of("v5p", "20x20x28"), "175 cubes", "at most 140"),
        no("slices.topology", of("tpu7x", "24x24x24"), "216 cubes", "at most 144"),
        no("slices.topology", of("v5p", "2X2X1"), "write 2x2x1"),
        no("slices.count", slices(count=-1), "-1 is out of range", "from 1 to 1024", "write for example 2"),
        no("slices.count", slices(count=1025), "1025 is out of range"),
        no("slices.count", slices(count=10**30), "is out of range"),
        no("slices.count", slices(count="2"), "text (2)", "whole number", "write 2, without quotes"),
        no("slices.count", slices(count="²"), "text (²)", "whole number", "for example 2"),
        no("slices.count", slices(count="two"), "text (two)", "whole number"),
        no("slices.count", slices(count=2.0), "a number (2.0)", "write 2"),
        no("slices.count", slices(count=2.5), "a number (2.5)", "whole number"),
        no("slices.count", slices(count=float("nan")), "a number (NaN)", "whole number"),
        no("slices.count", slices(count=ABSENT), "is missing", "write count: 2"),
        no("slices.maxPodsPerNode", slices(maxPodsPerNode=14), "14 is out of range", "from 15 to 256"),
        no("slices.maxPodsPerNode", slices(maxPodsPerNode=257), "257 is out of range"),
        no("slices.capacity", slices(capacity="spot"), "text (spot)", "a map", "indented"),
        no("slices.capacity", slices(capacity=None), "nothing (null)", "a map"),
        no("slices.capacity.type", slices(capacity={}), "is missing", "write type: on-demand"),
        no("slices.capacity.type", slices(capacity={"type": "Spot"}), "write spot"),
        no("slices.capacity.type", slices(capacity={"type": None}), "null is not a choice"),
        no("slices.capacity.name", slices(capacity={"type": "spot", "name": "r"}), "unknown key (name)", "type"),
        no(
            "slices.capacity.name",
            slices(capacity={"type": "reservation", "name": "projects/acme-x/zones/us-east5-b/reservations/r"}),
            *("not allowed", "projects/P/reservations/R", "write for example"),
        ),
        no(
            "slices.capacity.name", slices(capacity={"type": "reservation", "name": "r/reservationBlocks/b"}), "allowed"
        ),
        no("slices.capacity.name", slices(capacity={"type": "reservation", "name": ""}), "not allowed"),
        no("slices.capacity.maxRunDuration", slices(capacity={"type": "flex-start"}), "is missing", "write"),
        no(
            "slices.capacity.maxRunDuration",
            slices(capacity={"type": "flex-start", "maxRunDuration": "9m"}),
            *("9m is out of range", "10m to 7d", "write for example 24h"),
        ),
        no("slices.capacity.maxRunDuration", slices(capacity={"type": "flex-start", "maxRunDuration": "8d"}), "range"),
        no("slices.capacity.maxRunDuration", slices(capacity={"type": "flex-start", "maxRunDuration": "1 d"}), "unit"),
        no("slices.capacity.maxRunDuration", slices(capacity={"type": "flex-start", "maxRunDuration": 3600}), "text"),
        no(
            "slices.capacity",
            of("v4", "2x2x2", capacity={"type": "flex-start", "maxRunDuration": "1d"}),
            *("not offered for v4", "v5e, v5p, v6e, tpu7x", "write type: on-demand"),
        ),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        slices(count=1),
        slices(topology="2x2", count=1024),
        slices(maxPodsPerNode=15),
        slices(maxPodsPerNode=256),
        of("v6e", "4x4"),
        of("v6e", "1x1", machineType="ct6e-standard-1t"),
        of("v6e", "2x4", machineType="ct6e-standard-8t"),
        of("v5e", "2x4", machineType="ct5lp-hightpu-8t"),
        of("tpu7x", "1x1x1", machineType="tpu7x-standard-1t"),
        of("tpu7x", "16x24x24", count=1),
        slices(capacity={"type": "spot"}),
        *(slices(capacity={"type": "reservation", "name": name}) for name in RESERVATIONS),
        *(slices(capacity={"type": "flex-start", "maxRunDuration": each}) for each in ("10m", "7d", "168h", "604800s")),
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []


@pytest.mark.parametrize(
    ("tpu", "topology", "machine"),
    [
        ("v4", "2x2x1", "ct4p-hightpu-4t"),
        ("v5e", "2x2", "ct5lp-hightpu-4t"),
        ("v5p", "2x2x1", "ct5p-hightpu-4t"),
        ("v6e", "2x2", "ct6e-standard-4t"),
        ("tpu7x", "2x2x1", "tpu7x-standard-4t"),
    ],
)
def test_the_default_machine_has_four_chips(tpu: str, topology: str, machine: str) -> None:
    shape = plan(of(tpu, topology)).shape
    assert (shape.machine.name, shape.machine.chips, shape.hosts) == (machine, 4, 1)
