"""`slices`: which TPUs, in what shape, how many, and from which capacity."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from pathways.capacity import Capacity, FlexStart, OnDemand
from pathways.errors import listed, one_of, violation
from pathways.model import Section, default
from pathways.topology import SliceShape, TopologyError, slice_shape
from pathways.tpu import GENERATIONS, Generation, Machine, TpuName


class Slices(Section):
    """The TPU slices: `count` of them, all of one shape; each becomes one node pool."""

    tpu: Annotated[TpuName, Field(examples=["v6e"])]
    """TPU generation."""
    machine_type: Annotated[str | None, Field(examples=["ct6e-standard-4t"])] = None
    """TPU VM of the generation; absent: its 4-chip VM. Its chips divide the slice's chips exactly."""
    topology: Annotated[
        str, Field(examples=["4x4"], json_schema_extra={"pattern": r"^[1-9]\d{0,4}(x[1-9]\d{0,4}){1,2}$"})
    ]
    """Shape of one slice in chips: `AxB` for v5e and v6e, `AxBxC` for the others; decides the hosts of a slice."""
    count: Annotated[int, Field(ge=1, le=1024, examples=[2])]
    """How many slices; each is one node pool. One more adds a pool and leaves the others alone."""
    capacity: Annotated[Capacity, Field(examples=[{"type": "on-demand"}])] = default(OnDemand, type="on-demand")
    """Where the TPU VMs come from."""
    max_pods_per_node: Annotated[int, Field(ge=15, le=256, examples=[16])] = 16
    """Pods that fit a TPU node, GKE's own included; sizes the pod range. 15 is the least that is known to work."""

    @field_validator("machine_type")
    @classmethod
    def _machine_of_generation(cls, value: str | None, info: ValidationInfo) -> str | None:
        generation = GENERATIONS.get(info.data.get("tpu", ""))
        if value is None or generation is None or generation.machine(value):
            return value
        names = [machine.name for machine in generation.machines]
        raise violation(
            f"{value} is not a {generation.name} machine",
            f"{generation.name} runs on {listed(names)}",
            f"write {one_of(names)}",
        )

    @field_validator("topology")
    @classmethod
    def _topology_of_machine(cls, value: str, info: ValidationInfo) -> str:
        generation = GENERATIONS.get(info.data.get("tpu", ""))
        if generation is None or "machine_type" not in info.data:
            return value
        try:
            slice_shape(generation, _machine(generation, info.data["machine_type"]), value)
        except TopologyError as error:
            raise violation(error.what, error.rule, error.fix) from None
        return value

    @field_validator("capacity")
    @classmethod
    def _capacity_of_generation(cls, value: Capacity, info: ValidationInfo) -> Capacity:
        generation = GENERATIONS.get(info.data.get("tpu", ""))
        if isinstance(value, FlexStart) and generation and not generation.flex_start:
            able = listed(name for name, each in GENERATIONS.items() if each.flex_start)
            raise violation(
                f"flex-start is not offered for {generation.name}",
                f"flex-start gives {able}",
                "write type: on-demand, spot or reservation",
            )
        return value

    @property
    def generation(self) -> Generation:
        """The catalogue's facts of the generation."""
        return GENERATIONS[self.tpu]

    @property
    def shape(self) -> SliceShape:
        """The shape of each slice, from which hosts, chips and instance type follow."""
        return slice_shape(self.generation, _machine(self.generation, self.machine_type), self.topology)


def _machine(generation: Generation, name: str | None) -> Machine:
    machine = generation.machine(name) if name else generation.default_machine
    assert machine is not None, name  # noqa: S101  the field before this one has checked it
    return machine
