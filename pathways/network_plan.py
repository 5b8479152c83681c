"""The IP plan: how many addresses nodes and pods take, and ranges that hold them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from ipaddress import IPv4Network

RESERVED_IN_SUBNET = 4
"""Addresses that Google keeps of every primary range."""
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
        return _prefix(self.nodes + RESERVED_IN_SUBNET)

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

    Derived ranges lie in 10.0.0.0/8: nodes from 10.0.0.0/18, services 10.1.0.0/20, pods from 10.4.0.0/14.
    """
    return NetworkPlan(
        nodes=IPv4Network(nodes) if nodes else IPv4Network((0x0A000000, min(_NODES_FLOOR, needs.nodes_prefix))),
        pods=IPv4Network(pods) if pods else _pods_range(min(_PODS_FLOOR, needs.pods_prefix)),
        services=IPv4Network(services) if services else _SERVICES_RANGE,
    )


def _pods_range(prefix: int) -> IPv4Network:
    """The first range of that size in 10.0.0.0/8 behind nodes and services: 10.4.0.0/14, 10.8.0.0/13 and so on."""
    return IPv4Network((0x0A000000 + 2 ** (32 - prefix), prefix))


def _prefix(addresses: int) -> int:
    return 32 - math.ceil(math.log2(addresses))
