"""What the providers call a change, and what they replace."""

from __future__ import annotations

from typing import Any

import pytest

from offline.diff import google, kubernetes
from offline.diff.paths import covers, parse, written
from offline.diff.trees import PENDING, differences, reset, settled, with_pending
from offline.recording import UNKNOWN
from tests.offline.diff.made import BUCKET, CLUSTER, POOL, SERVICE, SUBNET

SAME: list[tuple[str, bool]] = []
GOOGLE: dict[str, tuple[str, dict[str, Any], dict[str, Any], list[tuple[str, bool]]]] = {
    "the order of a set": (POOL, {"nodeLocations": ["a", "b"]}, {"nodeLocations": ["b", "a"]}, SAME),
    "one value of a set for another": (
        POOL,
        {"nodeLocations": ["c", "a"]},
        {"nodeLocations": ["a", "b"]},
        [("nodeLocations[1]", False)],
    ),
    "more values of a set": (
        POOL,
        {"nodeLocations": ["c"]},
        {"nodeLocations": ["a", "b"]},
        [("nodeLocations[0]", False), ("nodeLocations[0]", False), ("nodeLocations[1]", False)],
    ),
    "the order of a list": (
        SUBNET,
        {"secondaryIpRanges": [{"rangeName": "a"}, {"rangeName": "b"}]},
        {"secondaryIpRanges": [{"rangeName": "b"}, {"rangeName": "a"}]},
        [("secondaryIpRanges[0].rangeName", False), ("secondaryIpRanges[1].rangeName", False)],
    ),
    "unset and zero": (POOL, {"nodeConfig": {"spot": False}}, {"nodeConfig": {}}, SAME),
    "unset and set": (POOL, {"nodeConfig": {}}, {"nodeConfig": {"spot": True}}, [("nodeConfig.spot", True)]),
    "a number as text": (POOL, {"nodeConfig": {"diskSizeGb": 100}}, {"nodeConfig": {"diskSizeGb": "100"}}, SAME),
    "case of a location": (BUCKET, {"location": "US-EAST5"}, {"location": "us-east5"}, SAME),
    "a block that replaces when added": (
        POOL,
        {},
        {"placementPolicy": {"type": "COMPACT"}},
        [("placementPolicy", True)],
    ),
    "a change inside that block": (
        POOL,
        {"placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"}},
        {"placementPolicy": {"type": "COMPACT", "tpuTopology": "8x8"}},
        [("placementPolicy.tpuTopology", False)],
    ),
    "a block with something inside that replaces": (
        CLUSTER,
        {},
        {"privateClusterConfig": {"masterIpv4CidrBlock": "172.16.0.0/28"}},
        [("privateClusterConfig", True)],
    ),
    "a map that replaces": (
        POOL,
        {"nodeConfig": {"metadata": {"a": "1"}}},
        {"nodeConfig": {"metadata": {"a": "2"}}},
        [("nodeConfig.metadata.a", True)],
    ),
    "labels": (
        POOL,
        {"nodeConfig": {"labels": {"a/b": "1"}}},
        {"nodeConfig": {"labels": {"a/b": "2"}}},
        [('nodeConfig.labels["a/b"]', False)],
    ),
    "a URL and its path": (
        SUBNET,
        {"network": "https://www.googleapis.com/compute/v1/projects/p/global/networks/n"},
        {"network": "projects/p/global/networks/n"},
        SAME,
    ),
    "the same name in another project": (
        SUBNET,
        {"network": "projects/p/global/networks/n"},
        {"network": "projects/q/global/networks/n"},
        [("network", True)],
    ),
    "a range that grows": (
        SUBNET,
        {"ipCidrRange": "10.0.0.0/20"},
        {"ipCidrRange": "10.0.0.0/19"},
        [("ipCidrRange", False)],
    ),
    "a range that moves": (
        SUBNET,
        {"ipCidrRange": "10.0.0.0/20"},
        {"ipCidrRange": "10.1.0.0/20"},
        [("ipCidrRange", True)],
    ),
    "an element of a set with blocks": (
        CLUSTER,
        {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "a"}]}},
        {"masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "b"}, {"cidrBlock": "a"}]}},
        [("masterAuthorizedNetworksConfig.cidrBlocks[0]", False)],
    ),
    "an unknown where replacement follows": (POOL, {"cluster": "c"}, {"cluster": PENDING}, [("cluster", True)]),
    "a type without facts": ("gcp:x/y:Z", {"a": 1}, {"a": 2}, [("a", False)]),
}


@pytest.mark.parametrize("name", GOOGLE)
def test_google_changes(name: str) -> None:
    type_, old, new, expected = GOOGLE[name]
    found = google.changes(type_, old, new)
    assert [(written(path.path), path.replaces) for path in found if not path.silent] == expected


def test_google_keeps_what_is_left_out() -> None:
    (found,) = google.changes(CLUSTER, {"databaseEncryption": {"state": "ENCRYPTED"}}, {})
    assert found.silent


def test_google_sends_nothing_for_a_topology() -> None:
    old, new = ({"placementPolicy": {"tpuTopology": topology}} for topology in ("4x4", "8x8"))
    (found,) = google.changes(POOL, old, new)
    assert google.sends_nothing(POOL, found)


@pytest.mark.parametrize(
    ("type_", "old", "new", "replaces"),
    [
        (SERVICE, {"spec": {"type": "ClusterIP"}}, {"spec": {"type": "LoadBalancer"}}, False),
        (SERVICE, {"spec": {"clusterIP": "10.0.0.1"}}, {"spec": {"clusterIP": "10.0.0.2"}}, True),
        (SERVICE, {"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}, True),
        (SERVICE, {"metadata": {"namespace": "a"}}, {"metadata": {"namespace": "b"}}, True),
        (SERVICE, {"metadata": {"labels": {"a": "1"}}}, {"metadata": {"labels": {"a": "2"}}}, False),
        (kubernetes.NETWORK_POLICY, {"spec": {"ingress": []}}, {"spec": {"ingress": [{}]}}, False),
        (kubernetes.RELEASE, {"name": "a"}, {"name": "b"}, True),
        (kubernetes.RELEASE, {"namespace": "a"}, {"namespace": "b"}, True),
        (
            kubernetes.RELEASE,
            {"version": "1", "values": {"name": "x"}},
            {"version": "2", "values": {"name": "y"}},
            False,
        ),
        ("kubernetes:core/v1:ConfigMap", {"data": {"a": "1"}}, {"data": {"a": "2"}}, True),
        ("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet", {"spec": {"a": 1}}, {"spec": {"a": 2}}, False),
    ],
)
def test_kubernetes_changes(type_: str, old: dict[str, Any], new: dict[str, Any], replaces: bool) -> None:
    found = kubernetes.changes(type_, old, new)
    assert found
    assert any(path.replaces for path in found) == replaces


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": None}, {}, []),
        ({"a": {"b": 1}}, {"a": {"b": 2, "c": 3}}, ["a.b", "a.c"]),
        ([1, 2], [1, 3], ["[1]"]),
        (["x", "y"], ["x", "new", "y"], ["[1]"]),
        ([{"name": "a", "v": 1}, {"name": "b"}], [{"name": "b"}, {"name": "a", "v": 2}], ["[a].v", ""]),
        ([{"name": "a"}], [{"name": "b"}], ["[a]", "[b]"]),
        ({"x.y/z": 1}, {"x.y/z": 2}, ['["x.y/z"]']),
    ],
)
def test_differences_are_found_at_full_depth(old: Any, new: Any, expected: list[str]) -> None:
    assert [written(path.path) for path in differences(old, new)] == expected


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a.b", ("a", "b")),
        ("a[0].b", ("a", 0, "b")),
        ("a[*].b", ("a", "*", "b")),
        ('metadata.annotations["x.y/z"]', ("metadata", "annotations", "x.y/z")),
        ('["a"].b', ("a", "b")),
        ("*", ("*",)),
    ],
)
def test_patterns_are_parsed(pattern: str, parts: tuple[str | int, ...]) -> None:
    assert parse(pattern) == parts


def test_a_pattern_covers_itself_and_below_but_not_above() -> None:
    pattern = parse("a[*].b")
    assert covers(pattern, ("a", 3, "b"))
    assert covers(pattern, ("a", 3, "b", "c"))
    assert not covers(pattern, ("a", 3))
    assert not covers(pattern, ("a", 3, "x"))


def test_reset_puts_old_values_back() -> None:
    old, new = {"a": [{"b": 1, "c": 1}], "d": 1}, {"a": [{"b": 2, "c": 2}], "e": 2}
    assert reset(old, new, parse("a[*].b")) == {"a": [{"b": 1, "c": 2}], "e": 2}
    assert reset(old, new, parse("d")) == {"a": [{"b": 2, "c": 2}], "d": 1, "e": 2}
    assert reset(old, new, parse("e")) == {"a": [{"b": 2, "c": 2}]}
    assert reset(old, new, parse("*")) == old


def test_unknowns_are_settled_or_pending() -> None:
    assert settled({"a": UNKNOWN, "b": [UNKNOWN, 1]}, {"a": 1, "b": [2, 3]}) == (
        {"a": 1, "b": [2, 1]},
        {"a": 1, "b": [2, 3]},
    )
    assert with_pending({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": UNKNOWN}}) == {"a": 1, "b": {"c": PENDING}}
    assert with_pending([1], UNKNOWN) == PENDING
