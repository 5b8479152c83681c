"""Every shape that the public tables list, with its hosts, and none that they do not allow."""

from __future__ import annotations

import math
import re
from itertools import product

import pytest

from pathways.topology import TopologyError, near, slice_shape, valid_topologies
from pathways.tpu import GENERATIONS, Generation, Machine

V4 = "2x2x1 2x2x2 2x2x4 2x4x4 4x4x4 4x4x8 4x8x8 4x4x16 8x8x8 8x8x12 8x8x16 4x16x16 8x16x16"
V5P = (
    "2x2x1 2x2x2 2x2x4 2x4x4 4x4x4 4x4x8 4x4x12 4x8x8 4x4x20 4x8x12 4x4x28 8x8x8 4x12x12 4x8x20 4x4x44 8x8x12 "
    "4x4x52 4x8x28 4x12x20 8x8x16 4x4x68 8x12x12 4x4x76 8x8x20 4x12x28 4x8x44 4x4x92 8x12x16 4x20x20 4x8x52 "
    "12x12x12 8x8x28 4x4x116 8x12x20 4x4x124 8x16x16 4x12x44 4x8x68 4x20x28 12x12x16 4x4x148 4x8x76 4x12x52 8x16x20 "
    "4x4x164 8x12x28 4x4x172 8x8x44 12x12x20 4x8x92 4x4x188 12x16x16 4x28x28 8x20x20 4x12x68 8x8x52 4x4x212 "
    "12x12x24 4x20x44 8x16x28 4x12x76 4x8x116 4x4x236 12x16x20 4x4x244 4x8x124 12x12x28 16x16x16 4x20x52 8x12x44 "
    "8x8x68 4x12x92 8x20x28 12x16x24 4x8x148 12x20x20 8x8x76 4x28x44 8x12x52 16x16x20 12x12x36 4x8x164 12x16x28 "
    "4x20x68 4x8x172 4x12x116 8x16x44 12x20x24 4x28x52 8x8x92 4x12x124 4x8x188 4x20x76 16x16x24 12x24x24 16x20x28"
)
HOSTS_2D = {"2x2": 1, "2x4": 2, "4x4": 4, "4x8": 8, "8x8": 16, "8x16": 32, "16x16": 64}


@pytest.mark.parametrize(
    ("tpu", "shapes"), [("v4", V4), ("v5p", V5P), ("tpu7x", f"{V5P} 16x16x32 16x24x24")], ids=["v4", "v5p", "tpu7x"]
)
def test_listed_3d_shapes(tpu: str, shapes: str) -> None:
    generation = GENERATIONS[tpu]
    for topology in shapes.split():
        shape = slice_shape(generation, generation.default_machine, topology)
        chips = math.prod(map(int, topology.split("x")))
        assert (shape.chips, shape.hosts, shape.multi_host) == (chips, chips // 4, chips > 4)
        assert topology in valid_topologies(generation, generation.default_machine)


@pytest.mark.parametrize("tpu", ["v5e", "v6e"])
def test_listed_2d_shapes(tpu: str) -> None:
    generation = GENERATIONS[tpu]
    assert valid_topologies(generation, generation.default_machine) == list(HOSTS_2D)
    hosts = {each: slice_shape(generation, generation.default_machine, each).hosts for each in HOSTS_2D}
    assert hosts == HOSTS_2D


@pytest.mark.parametrize(
    ("tpu", "topology", "chips", "hosts"),
    [
        ("v6e", "16x16", 256, 64),
        ("v4", "12x16x16", 3072, 768),
        ("v5p", "16x16x24", 6144, 1536),
        ("v5p", "16x20x28", 8960, 2240),
        ("tpu7x", "16x24x24", 9216, 2304),
        ("v5p", "4x8x16", 512, 128),
    ],
)
def test_large_slices(tpu: str, topology: str, chips: int, hosts: int) -> None:
    shape = slice_shape(GENERATIONS[tpu], GENERATIONS[tpu].default_machine, topology)
    assert (shape.chips, shape.hosts) == (chips, hosts)


@pytest.mark.parametrize("tpu", list(GENERATIONS))
def test_every_small_shape_is_valid_exactly_when_it_is_listed(tpu: str) -> None:
    generation = GENERATIONS[tpu]
    for machine in generation.machines:
        valid = set(valid_topologies(generation, machine))
        sizes = (1, 2, 3, 4, 6, 8, 16)
        for dimensions in (1, 2, 3):
            for edges in product(sizes, repeat=dimensions):
                topology = "x".join(map(str, edges))
                if topology in valid:
                    assert slice_shape(generation, machine, topology).chips % machine.chips == 0
                    continue
                with pytest.raises(TopologyError) as refused:
                    slice_shape(generation, machine, topology)
                assert refused.value.what
                assert refused.value.rule
                assert refused.value.fix.startswith("write ")


@pytest.mark.parametrize(("tpu", "cubes", "count"), [("v4", 64, 182), ("v5p", 140, 492), ("tpu7x", 144, 516)])
def test_the_cube_rule_alone_decides_larger_shapes(tpu: str, cubes: int, count: int) -> None:
    generation = GENERATIONS[tpu]
    large = valid_topologies(generation, generation.default_machine)[4:]
    assert len(large) == len(set(large)) == count
    for topology in large:
        edges = [int(edge) for edge in topology.split("x")]
        assert edges == sorted(edges)
        assert all(edge % 4 == 0 for edge in edges)
        assert math.prod(edges) // 64 <= cubes


@pytest.mark.parametrize(
    ("asked", "offered"),
    [
        ((2, 2), ["2x2x1", "2x2x2", "2x2x4"]),
        ((8, 8, 10), ["8x8x8", "8x8x12", "8x12x12"]),
        ((16, 16, 18), ["16x16x16", "16x16x20"]),
        ((1000, 1000, 1000), ["20x20x20"]),
        ((60, 1), ["4x4x4"]),
    ],
)
def test_what_is_offered_is_about_as_large_and_of_about_the_shape(asked: tuple[int, ...], offered: list[str]) -> None:
    generation = GENERATIONS["v5p"]
    found = near(generation, generation.default_machine, asked)
    assert set(offered) <= set(found)
    assert all(max(map(int, shape.split("x"))) <= 4 * max(asked) for shape in found)


def advice(generation: Generation, machine: Machine, topology: str) -> str | None:
    try:
        slice_shape(generation, machine, topology)
    except TopologyError as error:
        return error.fix
    return None


def test_every_machine_and_topology_that_is_offered_is_taken() -> None:
    """Whatever shape is asked of whatever machine, the advice can be followed to the letter."""
    edges = (1, 2, 3, 4, 8, 32)
    for generation in GENERATIONS.values():
        for machine, sizes in product(generation.machines, product(edges, repeat=generation.dimensions)):
            topology = "x".join(map(str, sizes))
            if fix := advice(generation, machine, topology):
                shape = re.search(r"write (?:topology: |one of )?([\dx]+)", fix)
                assert shape, fix
                assert advice(generation, machine, shape[1]) is None
                if other := re.search(r"machineType: (\S+)", fix):
                    offered = generation.machine(other[1])
                    assert offered
                    assert advice(generation, offered, topology) is None
