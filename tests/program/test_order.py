"""Who waits for whom: the critical path of an `up`, and what must not be on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.program.support import EXISTING, INTERACTIVE, config, record
from tests.support.order import Order

APIS = "services-container"
TPU7X = {"tpu": "tpu7x", "topology": "4x4x4"}
BALANCED = {**INTERACTIVE, "access": "internal-load-balancer"}
DNS = {**INTERACTIVE, "access": "dns"}
HOST_NETWORK = {"hostNetwork": True}

# Changes of the base, a resource, and what it waits for.
WAITS: list[tuple[Mapping[str, Any], str, set[str]]] = [
    ({}, "network-vpc", {APIS, "google"}),
    ({}, "network-nodes", {APIS, "network-vpc"}),
    ({}, "network-nat", {"network-router", "network-nodes"}),
    ({}, "nodes-account", {APIS}),
    ({}, "scratch-bucket", {APIS}),
    # The bucket is protected: a deletion ends at it, and by then the cluster is to be gone, with what goes with it.
    ({}, "cluster-cluster", {APIS, "network-nodes", "nodes-account", "nodes-node-agents", "scratch-bucket"}),
    ({}, "system-pool", {"cluster-cluster", "nodes-node-agents", "network-nat"}),
    # A pool that is replaced takes the JobSet along first, and the engine deletes nothing of a provider it has not met.
    ({}, "head-pool", {"cluster-cluster", "system-pool", "nodes-node-agents", "nodes-images-us-r", "kubernetes"}),
    ({}, "slices-0", {"cluster-cluster", "system-pool", "nodes-node-agents", "nodes-images-us-r", "kubernetes"}),
    ({"slices": TPU7X}, "slices-1", {"placement-4x4x4", APIS, "system-pool"}),
    ({}, "operators-jobset", {"operators-jobset-crd", "system-pool", "kubernetes"}),
    ({}, "operators-jobset-crd", {"system-pool", "kubernetes-crds"}),
    ({}, "kubernetes", {"cluster-cluster"}),
    ({}, "tenancy-namespace", {"cluster-cluster", "kubernetes"}),
    ({}, "tenancy-account", {"tenancy-namespace"}),
    ({}, "tenancy-policy", {"tenancy-namespace"}),
    # The workload identity pool of a project appears with its first cluster.
    ({}, "access-objects", {"cluster-cluster", "scratch-bucket"}),
    ({"runtime": HOST_NETWORK}, "access-objects", {"nodes-account", "scratch-bucket"}),
    ({"workload": BALANCED}, "door-service", {"tenancy-namespace", "network-nodes", "cluster-cluster"}),
    (
        {},
        "workload-jobset",
        {
            "slices-0",
            "slices-1",
            "head-pool",
            "system-pool",
            "operators-jobset",
            "operators-jobset-crd",
            "tenancy-namespace",
            "tenancy-account",
            "tenancy-policy",
            "access-objects",
            "access-bucket",
        },
    ),
    (EXISTING, "workload-jobset", {"slices-0", "slices-1", "head-pool", "operators-jobset", "access-objects"}),
]

# Changes of the base, a resource, and what it does not wait for, by the start of the names.
DOES_NOT_WAIT: list[tuple[Mapping[str, Any], str, tuple[str, ...]]] = [
    ({}, "network-vpc", ("nodes-", "scratch-", "cluster-")),
    ({}, "nodes-account", ("network-", "scratch-", "cluster-")),
    ({}, "scratch-bucket", ("network-", "nodes-", "cluster-")),
    ({}, "cluster-cluster", ("network-nat", "network-router", "slices-", "head-")),
    ({}, "operators-jobset", ("slices-", "head-", "workload-")),
    ({}, "tenancy-policy", ("slices-", "head-")),
    ({}, "head-pool", ("slices-", "operators-")),
    ({}, "slices-0", ("head-", "slices-1", "operators-", "tenancy-")),
    ({}, "slices-1", ("head-", "slices-0", "operators-", "tenancy-")),
    ({"slices": TPU7X}, "slices-1", ("head-", "slices-0", "operators-")),
    # The policy is ready by the time the cluster is: it is off the critical path.
    ({"slices": TPU7X}, "placement-4x4x4", ("cluster-", "system-", "network-", "slices-")),
    # An address takes a minute; clients may look it up while slices are still awaited.
    ({"workload": BALANCED}, "door-service", ("slices-", "head-")),
    ({"workload": DNS}, "tenancy-policy", ("slices-", "head-")),
    ({"runtime": HOST_NETWORK}, "access-objects", ("cluster-", "slices-")),
    (EXISTING, "access-objects", ("slices-", "head-")),
]


@pytest.mark.parametrize(("changes", "resource", "awaited"), WAITS)
def test_what_a_resource_waits_for(changes: Mapping[str, Any], resource: str, awaited: set[str]) -> None:
    assert awaited - Order(record(config(**changes))).waits_for(resource) == set()


@pytest.mark.parametrize(("changes", "resource", "starts"), DOES_NOT_WAIT)
def test_what_a_resource_does_not_wait_for(changes: Mapping[str, Any], resource: str, starts: tuple[str, ...]) -> None:
    assert {name for name in Order(record(config(**changes))).waits_for(resource) if name.startswith(starts)} == set()


def test_everything_of_google_waits_for_the_apis() -> None:
    recording = record(config(workload=BALANCED, slices=TPU7X))
    order, apis = Order(recording), {name.name for name in recording.resources if name.type.endswith(":Service")}
    apis = {name for name in apis if name.startswith("services-")}
    for resource in recording.of_package("gcp"):
        if resource.name not in apis:
            assert apis - order.waits_for(resource.name) == set(), resource.name


@pytest.mark.parametrize(
    "changes", [{}, EXISTING, {"slices": TPU7X}, {"workload": BALANCED}, {"runtime": HOST_NETWORK}], ids=str
)
@pytest.mark.parametrize(("environment", "protect"), [("prod", True), ("dev", False)])
def test_protection_waits_for_all_that_is_made_so_that_a_deletion_meets_it_first(
    changes: Mapping[str, Any], environment: str, protect: bool
) -> None:
    recording = record(config(**changes, environment=environment))
    made = {resource.name for resource in recording.resources if resource.custom and not resource.read}
    assert made - Order(recording).waits_for("protection") == set()
    (guard,) = [resource for resource in recording.resources if resource.name == "protection"]
    assert guard.options.get("protect", False) is protect


def test_names_are_unique_so_that_the_order_can_be_told_by_them() -> None:
    stacks: tuple[Mapping[str, Any], ...] = ({}, EXISTING, {"workload": BALANCED, "slices": TPU7X})
    for changes in stacks:
        names = [resource.name for resource in record(config(**changes)).resources]
        assert len(names) == len(set(names))
