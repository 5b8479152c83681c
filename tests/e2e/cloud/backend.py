"""The Kubernetes side of the simulated clusters, as the cloud sees it."""

from __future__ import annotations

import base64
import threading
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

Node = dict[str, Any]
"""A Kubernetes Node as a plain dict."""


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """Where a cluster's API server is. ``endpoint`` and ``dns_endpoint`` are ``host`` or ``host:port``."""

    endpoint: str
    dns_endpoint: str
    ca_certificate: str
    """PEM in base64, as ``clusterCaCertificate``."""


@dataclass(frozen=True, slots=True)
class PendingPod:
    """A pod that the scheduler found no node for."""

    namespace: str
    name: str
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerated: frozenset[str] = frozenset()
    """Keys of the taints it tolerates; ``*`` for all."""
    tpu_chips: int = 0
    cpu: float = 0.0
    memory_gib: float = 0.0


class Removal(Enum):
    """How nodes go away."""

    DRAIN = "drain"  # their pods are ended first, as when a pool is resized or deleted
    LOSE = "lose"  # the machine is gone at once: a preemption, a failed host


class ClusterBackend(Protocol):
    """What the cloud needs of Kubernetes. ``cluster`` is always the path projects/…/clusters/NAME."""

    def start_cluster(self, cluster: str) -> ControlPlane:
        """A cluster was created: its control plane. Called again for a cluster that is there (after a restart)."""

    def stop_cluster(self, cluster: str) -> None:
        """A cluster was deleted: everything in it is gone."""

    def add_nodes(self, cluster: str, nodes: Sequence[Node]) -> None:
        """Create the nodes, or bring those that exist to these labels and taints."""

    def remove_nodes(self, cluster: str, names: Sequence[str], how: Removal) -> None:
        """Remove the nodes; those that are gone already do not matter."""

    def pending_pods(self, cluster: str) -> Sequence[PendingPod]:
        """All unschedulable pods."""

    def busy_nodes(self, cluster: str, names: Sequence[str]) -> frozenset[str]:
        """Those of the nodes that run pods other than daemons."""


class MemoryBackend:
    """A cluster that only remembers. For tests of the cloud itself."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Node]] = {}
        self.pods: dict[str, list[PendingPod]] = {}
        self.busy: set[str] = set()
        self.removed: list[tuple[str, Removal]] = []
        self._lock = threading.Lock()

    def start_cluster(self, cluster: str) -> ControlPlane:
        """A made-up control plane."""
        with self._lock:
            self.nodes.setdefault(cluster, {})
        certificate = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n").decode()
        return ControlPlane("34.118.0.1", f"gke-{zlib.crc32(cluster.encode()):08x}.gke.goog", certificate)

    def stop_cluster(self, cluster: str) -> None:
        """Forget the cluster."""
        with self._lock:
            self.nodes.pop(cluster, None)
            self.pods.pop(cluster, None)

    def add_nodes(self, cluster: str, nodes: Sequence[Node]) -> None:
        """Remember the nodes."""
        with self._lock:
            known = self.nodes.setdefault(cluster, {})
            known.update({node["metadata"]["name"]: node for node in nodes})

    def remove_nodes(self, cluster: str, names: Sequence[str], how: Removal) -> None:
        """Forget the nodes."""
        with self._lock:
            for name in names:
                if self.nodes.get(cluster, {}).pop(name, None) is not None:
                    self.removed.append((name, how))

    def pending_pods(self, cluster: str) -> Sequence[PendingPod]:
        """What the test put into ``pods``."""
        return tuple(self.pods.get(cluster, ()))

    def busy_nodes(self, cluster: str, names: Sequence[str]) -> frozenset[str]:
        """What the test put into ``busy``."""
        return frozenset(self.busy & set(names))
