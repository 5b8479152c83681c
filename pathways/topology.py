"""Slice shapes: reading `AxB` or `AxBxC`, the rules of each generation, and how many hosts a shape takes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache

from pathways.errors import listed, one_of, shown
from pathways.tpu import Generation, Machine

CUBE = 4
"""Edge of the cube (4x4x4 = 64 chips) that larger 3-D slices are made of."""
_SMALL_3D = ("2x2x1", "2x2x2", "2x2x4", "2x4x4")
_NEAR = 6
"""How many valid shapes an error offers."""


class TopologyError(ValueError):
    """A shape that cannot be: `what` is wrong with it, the `rule`, and what to write (`fix`)."""

    def __init__(self, what: str, rule: str, fix: str) -> None:
        """Keep the three parts of the message."""
        super().__init__(f"{what}; {rule}; {fix}")
        self.what, self.rule, self.fix = what, rule, fix


@dataclass(frozen=True)
class SliceShape:
    """One slice: its topology on a machine of a generation, known to be valid."""

    generation: Generation
    machine: Machine
    topology: str

    @property
    def chips(self) -> int:
        """Chips of the slice: the product of the dimensions."""
        return _chips(_parse(self.topology))

    @property
    def hosts(self) -> int:
        """TPU VMs of the slice, which is also its nodes, its worker pods and its node pool's size."""
        return self.chips // self.machine.chips

    @property
    def multi_host(self) -> bool:
        """Whether the slice spans several hosts over ICI and so needs a placement policy."""
        return self.hosts > 1

    @property
    def instance_type(self) -> str:
        """The resource manager's `--instance_type`, such as `tpuv6e:4x4`."""
        return f"{self.machine.pathways_type}:{self.topology}"


def slice_shape(generation: Generation, machine: Machine, topology: str) -> SliceShape:
    """The slice of that topology on that machine; raises TopologyError, with near valid shapes, if there is none."""
    sizes = _read(generation, machine, topology)
    chips = _chips(sizes)
    if machine.only_topologies and topology not in machine.only_topologies:
        whole = listed(machine.only_topologies)
        others = [other.name for other in generation.machines if topology in valid_topologies(generation, other)]
        raise TopologyError(
            f"{topology} cannot be made of {machine.name}",
            f"the {machine.chips}-chip VM is a whole {whole} slice",
            f"write topology: {whole}" + (f", or machineType: {_first_choice(generation, others)}" if others else ""),
        )
    if generation.topologies:
        _check_listed(generation, machine, topology, chips)
    else:
        _check_cubes(generation, machine, topology, sizes)
    return SliceShape(generation, machine, topology)


def _first_choice(generation: Generation, machines: list[str]) -> str:
    default = generation.default_machine.name
    return default if default in machines else machines[0]


def valid_topologies(generation: Generation, machine: Machine) -> list[str]:
    """Every topology that can be made of the machine, smallest first (3-D: by the cube rule, hundreds of them)."""
    if machine.only_topologies:
        return list(machine.only_topologies)
    if generation.topologies:
        return [shape for shape in generation.topologies if _fits(machine, _parse(shape))]
    return [*_SMALL_3D, *_cube_shapes(generation.max_cubes)]


@cache
def _cube_shapes(most: int) -> tuple[str, ...]:
    """The shapes made of at most so many cubes, smallest first."""
    cubes = [
        (a, b, c) for a in range(1, most + 1) for b in range(a, most // a + 1) for c in range(b, most // (a * b) + 1)
    ]
    shapes = [tuple(CUBE * edge for edge in edges) for edges in cubes]
    return tuple("x".join(map(str, shape)) for shape in sorted(shapes, key=lambda shape: (_chips(shape), shape)))


def _read(generation: Generation, machine: Machine, topology: str) -> tuple[int, ...]:
    """The dimensions of a topology written in the generation's form."""
    form = "AxB" if generation.dimensions == 2 else "AxBxC"
    if not re.fullmatch(r"[1-9]\d{0,4}(x[1-9]\d{0,4}){1,2}", topology, re.ASCII):
        raise TopologyError(
            f"{shown(topology)} is not a topology",
            f"a topology is written {form}, lower case, without blanks",
            f"write {_spelled(generation, machine, topology) or form}",
        )
    sizes = _parse(topology)
    if len(sizes) != generation.dimensions:
        words = {2: "two", 3: "three"}
        raise TopologyError(
            f"{topology} has {words[len(sizes)]} dimensions",
            f"{generation.name} topologies have {words[generation.dimensions]} dimensions",
            _offer(generation, machine, sizes),
        )
    return sizes


def _spelled(generation: Generation, machine: Machine, topology: str) -> str | None:
    """The valid topology that a wrongly written one means, or valid ones near it; None if it means none at all."""
    if not re.fullmatch(r"\s*\d{1,5}(\s*[xX*×]\s*\d{1,5}){1,2}\s*", topology, re.ASCII):
        return None
    sizes = tuple(int(size) for size in re.findall(r"\d+", topology))
    meant = "x".join(str(size) for size in sizes)
    if meant in valid_topologies(generation, machine):
        return meant
    return one_of(near(generation, machine, sizes))


def _check_listed(generation: Generation, machine: Machine, topology: str, chips: int) -> None:
    valid = valid_topologies(generation, machine)
    if topology in valid:
        return
    ordered = "x".join(str(size) for size in sorted(_parse(topology)))
    if ordered in valid:
        raise _out_of_order(topology, ordered)
    if chips < machine.chips:
        what = f"{'one chip' if chips == 1 else f'{chips} chips'} cannot fill a {machine.chips}-chip VM ({topology})"
        rule = f"a slice takes all {machine.chips} chips of each {machine.name}"
    else:
        what = f"{topology} is not a {generation.name} topology on {machine.name}"
        rule = f"{machine.name} makes {listed(valid)}"
    raise TopologyError(what, rule, f"write {one_of(near(generation, machine, _parse(topology), 3))}")


def _check_cubes(generation: Generation, machine: Machine, topology: str, sizes: tuple[int, ...]) -> None:
    if topology in _SMALL_3D or topology in machine.only_topologies:
        return
    ordered = "x".join(str(size) for size in sorted(sizes))
    if tuple(sorted(sizes)) != sizes and (ordered in _SMALL_3D or _is_cubes(generation, sorted(sizes))):
        raise _out_of_order(topology, ordered)
    if _chips(sizes) < machine.chips:
        raise TopologyError(
            f"{topology} cannot fill a {machine.chips}-chip VM",
            f"a slice takes all chips of each {machine.name}",
            _offer(generation, machine, sizes),
        )
    if any(size % CUBE for size in sizes) or tuple(sorted(sizes)) != sizes:
        small = listed(_SMALL_3D)
        raise TopologyError(
            f"{topology} is not a {generation.name} topology",
            f"it is one of {small}, or dimensions in non-decreasing order that are each a multiple of {CUBE}",
            _offer(generation, machine, sizes),
        )
    cubes = _chips(sizes) // CUBE**3
    if cubes > generation.max_cubes:
        raise TopologyError(
            f"{topology} has {cubes} cubes of 4x4x4",
            f"a {generation.name} slice has at most {generation.max_cubes} cubes",
            _offer(generation, machine, sizes),
        )


def _offer(generation: Generation, machine: Machine, sizes: tuple[int, ...]) -> str:
    return f"write {one_of(near(generation, machine, sizes))}"


def _out_of_order(topology: str, ordered: str) -> TopologyError:
    return TopologyError(
        f"{topology} is out of order",
        "dimensions are written in non-decreasing order (A ≤ B, and ≤ C)",
        f"write {ordered}",
    )


def near(generation: Generation, machine: Machine, sizes: tuple[int, ...], most: int = _NEAR) -> list[str]:
    """The valid topologies closest to these dimensions (of more or fewer dimensions: in chips), smallest first."""
    wanted = sorted(max(size, 1) for size in sizes)

    def distance(shape: str) -> tuple[float, int]:
        edges = sorted(_parse(shape))
        if len(edges) == len(wanted):
            return max(abs(math.log(edge / asked)) for edge, asked in zip(edges, wanted, strict=True)), edges[-1]
        return abs(math.log(math.prod(edges) / math.prod(wanted))), edges[-1]

    valid = valid_topologies(generation, machine)
    closest = sorted(valid, key=distance)[:most]
    return [shape for shape in valid if shape in closest]


def _is_cubes(generation: Generation, sizes: list[int]) -> bool:
    return all(size % CUBE == 0 for size in sizes) and math.prod(sizes) // CUBE**3 <= generation.max_cubes


def _parse(topology: str) -> tuple[int, ...]:
    return tuple(int(size) for size in topology.split("x"))


def _chips(sizes: tuple[int, ...]) -> int:
    return math.prod(sizes)


def _fits(machine: Machine, sizes: tuple[int, ...]) -> bool:
    return _chips(sizes) % machine.chips == 0
