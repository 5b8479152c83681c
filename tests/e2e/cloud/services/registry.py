"""All resource types that the simulated cloud has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tests.e2e.cloud.services import network, storage
from tests.e2e.cloud.services.base import Service
from tests.e2e.cloud.services.cluster import Cluster
from tests.e2e.cloud.services.iam import Account, ProjectService, members
from tests.e2e.cloud.services.nodepool import NodePool


@cache
def services() -> Mapping[str, Service]:
    """The services by token."""
    found: list[Service] = [
        network.Network(),
        network.Subnetwork(),
        network.Router(),
        network.RouterNat(),
        network.Firewall(),
        network.Address(),
        network.ResourcePolicy(),
        Cluster(),
        NodePool(),
        storage.Bucket(),
        storage.KeyRing(),
        storage.CryptoKey(),
        ProjectService(),
        Account(),
        *members(),
    ]
    return {service.token: service for service in found}
