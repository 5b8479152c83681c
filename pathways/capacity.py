"""Capacity: where a slice's hosts come from, as a union whose members know their node-pool settings and pod selectors.

Each member answers, for a slice of `hosts` hosts: `size` (arguments of the node pool), `node_config` (arguments of its
nodes), `auto_repair`, and the node selector and tolerations of worker pods. Keys are those of the Google provider's
Python SDK. Source of the settings: GKE's pages on TPU capacity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from pathways.errors import shown, violation
from pathways.model import Duration, Section, Text, seconds

SPOT_LABEL = "cloud.google.com/gke-spot"
RESERVATION_KEY = "compute.googleapis.com/reservation-name"
_NAME = r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
RESERVATION_PATTERN = (
    rf"(projects/[a-z][a-z0-9-]{{4,28}}[a-z0-9]/reservations/{_NAME}"
    rf"(/reservationBlocks/{_NAME}(/reservationSubBlocks/{_NAME})?)?|{_NAME})"
)
MIN_RUN_SECONDS = 600
MAX_RUN_SECONDS = 7 * 86400
_NO_RESERVATION = {"reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}}


class _Capacity(Section):
    """What most kinds have in common: a fixed number of nodes, repaired by GKE, without special pods."""

    @property
    def auto_repair(self) -> bool:
        """Whether GKE may replace an unhealthy node on its own."""
        return True

    @property
    def recreated_on_demand(self) -> bool:
        """Whether nodes only come when pods wait for them."""
        return False

    def size(self, hosts: int) -> Mapping[str, Any]:
        """Node-pool arguments that give the slice its `hosts` nodes."""
        return {"node_count": hosts}

    def node_config(self) -> Mapping[str, Any]:
        """Node-config arguments of this kind of capacity."""
        return _NO_RESERVATION

    def node_selector(self) -> Mapping[str, str]:
        """Labels that worker pods (and no others) select."""
        return {}

    def tolerations(self) -> tuple[Mapping[str, str], ...]:
        """Taints that worker pods (and no others) tolerate beside the TPU's own."""
        return ()


class OnDemand(_Capacity):
    """Hosts at list price, as long as the zone has them; they stay until the pool is deleted."""

    type: Literal["on-demand"]
    """Kind of capacity."""


class Spot(_Capacity):
    """Spare hosts at a lower price that can be taken away with 30 seconds' notice."""

    type: Literal["spot"]
    """Kind of capacity."""

    def node_config(self) -> Mapping[str, Any]:
        """Spot nodes, never from a reservation."""
        return {"spot": True, **_NO_RESERVATION}

    def node_selector(self) -> Mapping[str, str]:
        """Only spot nodes."""
        return {SPOT_LABEL: "true"}

    def tolerations(self) -> tuple[Mapping[str, str], ...]:
        """The taint that spot pools of shared clusters carry."""
        return ({"key": SPOT_LABEL, "operator": "Equal", "value": "true", "effect": "NoSchedule"},)


class Reservation(_Capacity):
    """Hosts from a reservation that exists, of this project or shared by another."""

    type: Literal["reservation"]
    """Kind of capacity."""
    name: Annotated[
        str,
        Text(
            RESERVATION_PATTERN,
            "a reservation is its bare name, or projects/P/reservations/R, optionally with /reservationBlocks/B and "
            "/reservationSubBlocks/S",
            "projects/acme-capacity/reservations/tpu-2027",
        ),
    ]
    """Bare name of a reservation of this project, or its path, optionally down to a block and a sub-block."""

    def node_config(self) -> Mapping[str, Any]:
        """This one reservation and no other."""
        affinity = {"consume_reservation_type": "SPECIFIC_RESERVATION", "key": RESERVATION_KEY, "values": [self.name]}
        return {"reservation_affinity": affinity}


class FlexStart(_Capacity):
    """Hosts that Google hands out all at once when it has them, for a limited time."""

    type: Literal["flex-start"]
    """Kind of capacity."""
    max_run_duration: Annotated[Duration, Field(examples=["24h"])]
    """How long the hosts may run, 10m to 7d."""

    @field_validator("max_run_duration")
    @classmethod
    def _within_limits(cls, value: str) -> str:
        if MIN_RUN_SECONDS <= seconds(value) <= MAX_RUN_SECONDS:
            return value
        raise violation(f"{shown(value)} is out of range", "flex-start runs for 10m to 7d", "write for example 24h")

    @property
    def auto_repair(self) -> bool:
        """Flex-start pools refuse auto-repair."""
        return False

    @property
    def recreated_on_demand(self) -> bool:
        """The pool starts empty."""
        return True

    def size(self, hosts: int) -> Mapping[str, Any]:
        """No node until pods wait, then the whole slice; limits are per zone, and there is one zone."""
        scaling = {"min_node_count": 0, "max_node_count": hosts, "location_policy": "ANY"}
        return {"initial_node_count": 0, "autoscaling": scaling}

    def node_config(self) -> Mapping[str, Any]:
        """Flex-start nodes with their time limit."""
        return {"flex_start": True, "max_run_duration": f"{seconds(self.max_run_duration)}s", **_NO_RESERVATION}


Capacity = Annotated[OnDemand | Spot | Reservation | FlexStart, Field(discriminator="type")]
"""The kinds of capacity a stack file can name."""
