"""The IP plan: how many addresses nodes and pods take, and ranges that hold them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import chain

RESERVED_IN_SUBNET = 4
"""Addresses that Google keeps of every primary range."""
_BESIDE_NODES = 2
"""Addresses of the node range that others take: the control plane's private endpoint and an internal load balancer."""
CPU_PODS_PER_NODE = 110
"""GKE's default, used for the head and system pools."""
HEAD_NODES = 1
SYSTEM_NODES = 3
"""The most nodes the system pool grows to."""
SERVICES = 4096

# Ranges that a created network gets unless the slices need more. They are generous on purpose: a cluster's ranges can
# never be changed under it, so a range cut to today's slices would turn "one slice more" into "a new cluster".
_NODES_FLOOR = 18
_PODS_FLOOR = 14
_SERVICES_RANGE = IPv4Network("10.1.0.0/20")
# Where derived ranges may lie. Three ranges of the allowed sizes cannot fill them.
_BLOCKS = (IPv4Network("10.0.0.0/8"), IPv4Network("172.16.0.0/12"), IPv4Network("240.0.0.0/4"))
LARGEST = {"nodes": 8, "pods": 9, "services": 16}
"""Shortest prefixes of the three ranges (GKE's pages on IP planning)."""


@dataclass(frozen=True)
class AddressNeeds:
    """Addresses that the node pools of a stack take at their largest."""

    tpu_nodes: int
    pods_per_tpu_node: int
    system_nodes: int

    @property
    def nodes(self) -> int:
        """Node addresses: one a node."""
        return self.tpu_nodes + HEAD_NODES + self.system_nodes

    @property
    def pods(self) -> int:
        """Pod addresses: GKE gives each node a block of at least twice its pods, a power of two."""
        cpu_nodes = HEAD_NODES + self.system_nodes
        return self.tpu_nodes * pod_block(self.pods_per_tpu_node) + cpu_nodes * pod_block(CPU_PODS_PER_NODE)

    @property
    def nodes_prefix(self) -> int:
        """Longest prefix of a node range that is large enough."""
        return _prefix(self.nodes + RESERVED_IN_SUBNET + _BESIDE_NODES)

    @property
    def pods_prefix(self) -> int:
        """Longest prefix of a pod range that is large enough."""
        return _prefix(self.pods)


@dataclass(frozen=True)
class NetworkPlan:
    """The three ranges of a created network."""

    nodes: IPv4Network
    pods: IPv4Network
    services: IPv4Network

    @property
    def node_addresses(self) -> int:
        """Addresses that nodes can have."""
        return self.nodes.num_addresses - RESERVED_IN_SUBNET

    @property
    def pod_addresses(self) -> int:
        """Addresses that pods can have."""
        return self.pods.num_addresses


def pod_block(pods_per_node: int) -> int:
    """Addresses GKE sets aside for a node that may run so many pods: 8 → 16, 16 → 32, 110 → 256."""
    return int(2 ** math.ceil(math.log2(2 * pods_per_node)))


def network_plan(needs: AddressNeeds, nodes: str | None, pods: str | None, services: str | None) -> NetworkPlan:
    """The ranges of a created network: the given ones, else derived ones that hold `needs` with room to grow.

    Derived ranges are nodes from 10.0.0.0/18, services 10.1.0.0/20 and pods from 10.4.0.0/14, or where a given range
    takes these, the first that is free.
    """
    derived = {
        "nodes": IPv4Network((0x0A000000, min(_NODES_FLOOR, needs.nodes_prefix))),
        "services": _SERVICES_RANGE,
        "pods": _pods_range(min(_PODS_FLOOR, needs.pods_prefix)),
    }
    given = {"nodes": nodes, "services": services, "pods": pods}
    ranges = {name: IPv4Network(cidr) for name, cidr in given.items() if cidr}
    for name, wanted in derived.items():
        ranges.setdefault(name, _free(wanted, [each for key, each in ranges.items() if key != name]))
    return NetworkPlan(**ranges)


def _free(wanted: IPv4Network, taken: list[IPv4Network]) -> IPv4Network:
    """The wanted range, else the first of its size that overlaps none of those taken."""
    blocks = (block for block in _BLOCKS if block.prefixlen <= wanted.prefixlen)
    others = (each for block in blocks for each in block.subnets(new_prefix=wanted.prefixlen))
    return next(each for each in chain([wanted], others) if not any(each.overlaps(other) for other in taken))


def _pods_range(prefix: int) -> IPv4Network:
    """The first range of that size in 10.0.0.0/8 behind nodes and services: 10.4.0.0/14, 10.8.0.0/13 and so on."""
    return IPv4Network((0x0A000000 + 2 ** (32 - prefix), prefix))


def _prefix(addresses: int) -> int:
    return 32 - math.ceil(math.log2(addresses))
