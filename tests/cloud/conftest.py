from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cloud.engine import CLUSTER, NETWORK, SERVICE, SUBNETWORK, Engine, cluster, network, subnetwork
from tests.e2e.cloud.backend import MemoryBackend
from tests.e2e.cloud.cloud import Cloud
from tests.e2e.cloud.store import Store

APIS = ("compute", "container", "artifactregistry", "cloudkms")


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Engine]:
    """An engine on a project in which nothing has happened yet."""
    cloud = Cloud(Store(tmp_path / "cloud.sqlite"), MemoryBackend())
    yield Engine(cloud)
    cloud.stop()
    cloud.store.close()


@pytest.fixture
def engine(bare: Engine) -> Engine:
    """An engine on a project with its services on and a network."""
    for api in APIS:
        bare.up(SERVICE, api, {"service": f"{api}.googleapis.com", "disableOnDestroy": False})
    bare.up(NETWORK, "net", network())
    bare.up(SUBNETWORK, "nodes", subnetwork())
    return bare


@pytest.fixture
def gke(engine: Engine) -> Engine:
    """The same with a cluster."""
    engine.up(CLUSTER, "train", cluster())
    return engine
