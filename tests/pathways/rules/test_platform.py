from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.pathways.support import (
    ABSENT,
    EXISTING_CLUSTER,
    EXISTING_NETWORK,
    INTERACTIVE,
    Refused,
    check_refused,
    faults,
    merged,
    no,
)

FLEX = {"slices": {"capacity": {"type": "flex-start", "maxRunDuration": "24h"}}}
OF_7X = {"slices": {"tpu": "tpu7x", "machineType": ABSENT, "topology": "2x2x1"}}


def key_in(location: str) -> dict[str, Any]:
    return {"cluster": {"kmsKey": f"projects/acme-keys/locations/{location}/keyRings/gke/cryptoKeys/k"}}


def subnet(network: str, subnetwork: str) -> dict[str, Any]:
    return merged(EXISTING_NETWORK, {"network": {"existing": {"network": network, "subnetwork": subnetwork}}})


HOST_NETWORK = "projects/acme-host/global/networks/shared"
HOST_SUBNET = "projects/acme-host/regions/us-east5/subnetworks/gke"


@pytest.mark.parametrize(
    "case",
    [
        no(
            "cluster.minVersion",
            merged(OF_7X, {"cluster": {"minVersion": "1.33.0-gke.1712000"}}),
            *("too old for tpu7x", "1.34.0-gke.2201000 or later", "or remove minVersion"),
        ),
        no(
            "cluster.minVersion",
            merged(FLEX, {"cluster": {"minVersion": "1.32.9-gke.1"}}),
            *("too old for flex-start", "1.33.0-gke.1712000"),
        ),
        no(
            "cluster.authorizedNetworks",
            {"cluster": {"endpoint": "authorized"}},
            *("is missing", "endpoint: authorized", "write authorizedNetworks: ["),
        ),
        no(
            "cluster.authorizedNetworks",
            {"cluster": {"authorizedNetworks": ["203.0.113.0/24"]}},
            *("has no effect", "DNS endpoint", "remove it, or write endpoint: authorized"),
        ),
        no(
            "cluster.maintenance.hours",
            {"cluster": {"maintenance": {"days": ["SA", "SU"], "hours": 5}}},
            *("2 × 5 hours", "48 hours in any 32 days", "12 a week"),
        ),
        no(
            "cluster.maintenance.days",
            {"cluster": {"maintenance": {"days": ["SA", "SU", "SA"]}}},
            *("stands twice", "once", "remove it"),
        ),
        no(
            "cluster.existing.location",
            {"cluster": {"existing": {"name": "c", "location": "us-central1"}}},
            *("us-central1 is not in us-east5", "cluster's region", "write"),
        ),
        no("cluster.existing.location", {"cluster": {"existing": {"name": "c", "location": "us-east1-b"}}}, "not in"),
        no("cluster.kmsKey", key_in("us-central1"), "key is in us-central1", "(us-east5)", "write a key of us-east5"),
        no("cluster.kmsKey", key_in("global"), "key is in global"),
        no(
            "network.existing.subnetwork",
            subnet(HOST_NETWORK, HOST_SUBNET.replace("us-east5", "us-east1")),
            *("the subnet is in us-east1", "(us-east5)", "write a subnet of us-east5"),
        ),
        no(
            "network.existing.subnetwork",
            subnet(HOST_NETWORK, "gke"),
            *("of demo-project, the network of acme-host", "write projects/acme-host/regions/us-east5/subnetworks/"),
        ),
        no(
            "network.existing.subnetwork",
            subnet("shared", HOST_SUBNET),
            *("of acme-host, the network of demo-project", "network's project"),
        ),
        no(
            "network.existing.serviceRange",
            merged(EXISTING_NETWORK, {"network": {"existing": {"podRange": "same", "serviceRange": "same"}}}),
            *("same is podRange too", "a secondary range each", "write the name"),
        ),
        no(
            "network",
            merged(EXISTING_CLUSTER, {"network": {"mtu": 1500}}),
            *("a new network", "keeps its own", "remove it, or write network.existing"),
        ),
        no(
            "network.existing",
            merged(EXISTING_CLUSTER, INTERACTIVE, {"workload": {"access": "dns"}}),
            *("is missing", "cluster's subnet", "access: port-forward"),
        ),
        no(
            "network.nodes",
            {"network": {"nodes": "10.0.0.0/28"}},
            "too small",
            "12 node addresses, a /27",
            "write a /27",
        ),
        no("network.pods", {"network": {"pods": "10.4.0.0/22"}}, "too small", "1280 pod addresses, a /21", "a /21"),
        no("network.services", {"network": {"services": "10.1.0.0/25"}}, "too small", "256 service", "write a /24"),
        no("network.pods", {"network": {"pods": "10.0.0.0/8"}}, "too large", "at most a /9", "write a /9 or smaller"),
        no("network.services", {"network": {"services": "10.0.0.0/15"}}, "too large", "at most a /16"),
        no("network.nodes", {"network": {"nodes": "240.0.0.0/7"}}, "too large", "at most a /8"),
        no(
            "network.pods",
            {"network": {"nodes": "10.4.0.0/20", "pods": "10.4.0.0/14"}},
            *("10.4.0.0/14 overlaps network.nodes (10.4.0.0/20)", "disjoint", "remove pods"),
        ),
        no(
            "network.services", {"network": {"pods": "10.4.0.0/14", "services": "10.5.0.0/20"}}, "overlaps network.pods"
        ),
        no("slices.count", {"slices": {"topology": "16x16", "count": 240}}, "15364 nodes", "at most 15000", "fewer"),
        no("slices.count", {"slices": {"topology": "16x16", "count": 1024, "maxPodsPerNode": 256}}, "65540 nodes"),
        no(
            "slices.count",
            {
                "slices": {"topology": "16x16", "count": 16},
                "cluster": {"existing": {"name": "c", "location": "us-east5-b"}},
            },
            *("1025 nodes", "a zonal cluster has at most 1000", "fewer or smaller"),
        ),
        no(
            "gcp:project",
            {"gcp:project": "goog-project"},
            *("goog-project-demo-dev-scratch holds 'google', or what looks like it", "refuses", "scratch.existing"),
        ),
        no("gcp:project", {"gcp:project": "my-g00gle-1"}, "my-g00gle-1-demo-dev-scratch", "use scratch.existing"),
        no("team", {"team": "g0og1e"}, "demo-project-g0og1e-dev-scratch", "write another team"),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        merged(OF_7X, {"cluster": {"minVersion": "1.34.0-gke.2201000"}}),
        merged(OF_7X, {"cluster": {"minVersion": "1.34"}}),
        merged(OF_7X, EXISTING_CLUSTER),
        merged(FLEX, {"cluster": {"minVersion": "1.33.0-gke.1712000"}}),
        {"cluster": {"minVersion": "1.32.9-gke.1"}},
        {"cluster": {"endpoint": "authorized", "authorizedNetworks": ["203.0.113.0/24"]}},
        {"cluster": {"endpoint": "private"}},
        {"cluster": {"endpoint": "private", "authorizedNetworks": ["10.0.0.0/8"]}},
        {"cluster": {"maintenance": {"days": ["SA", "SU"], "hours": 6}}},
        {"cluster": {"maintenance": {"days": ["SA", "MO", "WE"], "hours": 4}}},
        {"cluster": {"existing": {"name": "c", "location": "us-east5-a"}}},
        {"zone": "us-south1-ai1b", "cluster": {"existing": {"name": "c", "location": "us-south1"}}},
        {"zone": "us-south1-ai1b", "cluster": {"existing": {"name": "c", "location": "us-south1-ai1b"}}},
        key_in("us-east5"),
        EXISTING_NETWORK,
        subnet(HOST_NETWORK, HOST_SUBNET),
        subnet("shared", "projects/demo-project/regions/us-east5/subnetworks/gke"),
        EXISTING_CLUSTER,
        merged(EXISTING_CLUSTER, {"network": {}}),
        merged(EXISTING_CLUSTER, EXISTING_NETWORK),
        merged(EXISTING_CLUSTER, EXISTING_NETWORK, INTERACTIVE, {"workload": {"access": "dns"}}),
        merged(EXISTING_CLUSTER, INTERACTIVE, {"workload": {"access": "port-forward"}}),
        merged(INTERACTIVE, {"workload": {"access": "internal-load-balancer"}}),
        {"network": {"nodes": "10.0.0.0/27", "pods": "10.4.0.0/21", "services": "10.1.0.0/24"}},
        {"network": {"nodes": "10.4.0.0/20"}},
        {"network": {"nodes": "10.0.0.0/8"}},
        {"network": {"services": "10.4.0.0/16", "pods": "10.0.0.0/14"}},
        {"slices": {"topology": "16x16", "count": 230}},
        {"slices": {"topology": "16x16", "count": 230, "maxPodsPerNode": 256}, "network": {"nodes": "10.0.0.0/8"}},
        {
            "slices": {"topology": "16x16", "count": 15},
            "cluster": {"existing": {"name": "c", "location": "us-east5-b"}},
        },
        {"gcp:project": "goog-project", "scratch": {"existing": "mine"}},
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []


def test_ranges_that_overlap_are_told_although_the_slices_are_wrong() -> None:
    lines = faults({"slices": {"count": 0}, "network": {"nodes": "10.0.0.0/20", "pods": "10.0.0.0/16"}})
    assert [line.partition(": ")[0] for line in lines] == ["slices.count", "network.pods"]
