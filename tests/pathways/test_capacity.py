from __future__ import annotations

from typing import Any

import pytest

from tests.pathways.support import plan

RESERVED = {"type": "reservation", "name": "projects/p-12345/reservations/r/reservationBlocks/b"}
NO_RESERVATION = {"reservation_affinity": {"consume_reservation_type": "NO_RESERVATION"}}


@pytest.mark.parametrize(
    ("capacity", "size", "node", "repair"),
    [
        ({"type": "on-demand"}, {"node_count": 4}, NO_RESERVATION, True),
        ({"type": "spot"}, {"node_count": 4}, {"spot": True, **NO_RESERVATION}, True),
        (
            RESERVED,
            {"node_count": 4},
            {
                "reservation_affinity": {
                    "consume_reservation_type": "SPECIFIC_RESERVATION",
                    "key": "compute.googleapis.com/reservation-name",
                    "values": ["projects/p-12345/reservations/r/reservationBlocks/b"],
                }
            },
            True,
        ),
        (
            {"type": "flex-start", "maxRunDuration": "7d"},
            {
                "initial_node_count": 0,
                "autoscaling": {"min_node_count": 0, "max_node_count": 4, "location_policy": "ANY"},
            },
            {"flex_start": True, "max_run_duration": "604800s", **NO_RESERVATION},
            False,
        ),
    ],
    ids=["on-demand", "spot", "reservation", "flex-start"],
)
def test_node_pool_settings(capacity: dict[str, Any], size: object, node: object, repair: bool) -> None:
    kind = plan({"slices": {"capacity": capacity}}).settings.slices.capacity
    assert kind.size(4) == size
    assert kind.node_config() == node
    assert kind.auto_repair == repair
    assert kind.recreated_on_demand == (not repair)
    spot = {"cloud.google.com/gke-spot": "true"} if capacity["type"] == "spot" else {}
    assert kind.node_selector() == spot
    assert len(kind.tolerations()) == len(spot)
