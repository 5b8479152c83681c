"""The rows of the table by the deployed stack on which the engine decides them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.cloud.client import SimulatedCloud
from tests.offline.diff.table import AUTHORIZED, CASES, CLUSTER, FLEX, NETWORK, RESERVED, SPOT, Case, Edit

BY_NAME = {case.name: case for case in CASES}

PLAIN: Edit = {}
GUESTS = (
    "created network to an existing one",
    "created cluster to an existing one",
    "created bucket to an existing one",
)
"""Rows whose head needs things that others made: previewed on a stack that is not shared with other tests."""

# Bases that do not get into each other's way are deployed together; a row leaves those alone that are not its own.
RARE: Edit = {
    "slices.topology": "2x4",
    **SPOT,
    **AUTHORIZED,
    "network.nodes": "10.0.0.0/20",
    "scratch.existing": "acme-scratch",
    "operators.jobset": {"version": "0.10.1"},
}
RESERVED_IN_A_SHARED_NETWORK: Edit = {**RESERVED, **NETWORK, "scratch.existing": "acme-scratch"}
FLEXIBLE: Edit = {**FLEX, **NETWORK, "scratch.existing": "acme-scratch"}
BASES = (RARE, RESERVED_IN_A_SHARED_NETWORK, FLEXIBLE)

ON_A_COMMITTED_STACK = tuple(case for case in CASES if not case.base and case.name not in GUESTS)
ON_ANOTHER_BASE = tuple(case for case in CASES if case.base)


def base_of(case: Case) -> Edit:
    """The deployed edits that hold the base of a row."""
    return next(base for base in BASES if case.base.items() <= base.items())


def head_of(case: Case) -> Edit:
    """What a row makes of them."""
    base = base_of(case)
    return {key: value for key, value in base.items() if key not in case.base} | dict(case.head)


def make_guests(cloud: SimulatedCloud, project: str, region: str) -> None:
    """What the rows refer to and others made: reservations, a network, a cluster, and a bucket."""
    hosts = {"hosts": 8}
    cloud.set_reservations(**{"tpus": hosts, "tpus-2": hosts})
    names, place = NETWORK["network"]["existing"], CLUSTER["cluster"]["existing"]
    network = f"projects/{project}/global/networks/{names['network']}"
    _make(cloud, project, "Network", {"name": names["network"], "autoCreateSubnetworks": False, "mtu": 8896})
    ranges = {names["podRange"]: "10.12.0.0/14", names["serviceRange"]: "10.9.0.0/20"}
    subnet = {
        "name": names["subnetwork"],
        "region": region,
        "network": network,
        "ipCidrRange": "10.8.0.0/20",
        "secondaryIpRanges": [{"rangeName": name, "ipCidrRange": cidr} for name, cidr in ranges.items()],
    }
    _make(cloud, project, "Subnetwork", subnet)
    cluster = {
        "name": place["name"],
        "location": place["location"],
        "network": network,
        "subnetwork": subnet["name"],
        "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
        "workloadIdentityConfig": {"workloadPool": f"{project}.svc.id.goog"},
    }
    _make(cloud, project, "Cluster", cluster)
    _make(cloud, project, "Bucket", {"name": "acme-scratch", "location": region})


def _make(cloud: SimulatedCloud, project: str, type_: str, inputs: Mapping[str, Any]) -> None:
    cloud.by_hand("make", type=type_, inputs=inputs, project=project)
