from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations, product

import pytest

from pathways.network_plan import AddressNeeds, network_plan, pod_block


@pytest.mark.parametrize(
    ("pods", "block"),
    [
        *[(8, 16), (9, 32), (15, 32), (16, 32), (17, 64), (32, 64), (33, 128), (64, 128)],
        *[(65, 256), (110, 256), (128, 256), (129, 512), (256, 512)],
    ],
)
def test_pod_blocks(pods: int, block: int) -> None:
    assert pod_block(pods) == block


@pytest.mark.parametrize(
    ("needs", "pods", "pods_prefix", "nodes_prefix"),
    [
        (AddressNeeds(8, 16, 3), 1280, 21, 27),
        (AddressNeeds(256, 16, 3), 9216, 18, 23),
        (AddressNeeds(2240, 16, 3), 71_680 + 1024, 15, 20),
        (AddressNeeds(2240, 110, 3), 573_440 + 1024, 12, 20),
        (AddressNeeds(2304, 16, 3), 73_728 + 1024, 15, 20),
        (AddressNeeds(2, 16, 0), 64 + 256, 23, 28),
    ],
)
def test_needs(needs: AddressNeeds, pods: int, pods_prefix: int, nodes_prefix: int) -> None:
    assert (needs.pods, needs.pods_prefix, needs.nodes_prefix) == (pods, pods_prefix, nodes_prefix)


def test_default_ranges() -> None:
    made = network_plan(AddressNeeds(8, 16, 3), None, None, None)
    assert [str(each) for each in (made.nodes, made.pods, made.services)] == [
        "10.0.0.0/18",
        "10.4.0.0/14",
        "10.1.0.0/20",
    ]
    assert (made.node_addresses, made.pod_addresses) == (16_380, 262_144)


def test_ranges_grow_with_the_slices() -> None:
    made = network_plan(AddressNeeds(14_000, 256, 3), None, None, None)
    assert (made.nodes.prefixlen, made.pods.prefixlen) == (18, 9)


GIVEN = (None, "10.0.0.0/8", "10.0.0.0/20", "10.4.0.0/14", "10.1.0.0/20", "172.16.0.0/16", "240.0.0.0/8")


@pytest.mark.parametrize("tpu_nodes", [8, 14_000])
def test_derived_ranges_keep_clear_of_given_ones_and_hold_the_needs(tpu_nodes: int) -> None:
    needs = AddressNeeds(tpu_nodes, 256, 3)
    for nodes, pods, services in product(GIVEN, repeat=3):
        written = [IPv4Network(each) for each in (nodes, pods, services) if each]
        if any(a.overlaps(b) for a, b in combinations(written, 2)):
            continue
        made = network_plan(needs, nodes, pods, services)
        ranges = (made.nodes, made.pods, made.services)
        assert not any(a.overlaps(b) for a, b in combinations(ranges, 2))
        assert [str(made.nodes)] == [nodes] or made.nodes.prefixlen <= needs.nodes_prefix
        assert [str(made.pods)] == [pods] or made.pods.prefixlen <= needs.pods_prefix
