"""What is there before a stack's first `up`: reservations, keys, and what a platform team runs already."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.cloud.client import SimulatedCloud
from tests.e2e.cluster.charts import JOBSET, install
from tests.e2e.engine.deployment import ROOT
from tests.e2e.world import World

STACKS = tuple(sorted(file.name.split(".")[1] for file in (ROOT / "stacks").glob("Pulumi.*.yaml")))
"""Every stack of the project."""

SHARED_CLUSTER = "research"
PLATFORM, HOST_PROJECT, REGION = "acme-platform", "acme-network", "us-east5"


def prepare(world: World, stack: str) -> World:
    """An empty world that has what this stack's file refers to, and nothing else."""
    world.reset()
    if stack in _BEFOREHAND:
        _BEFOREHAND[stack](world)
    return world


def shared_cluster(cloud: SimulatedCloud) -> None:
    """A platform team's network in a host project, its cluster with a pool for everybody, and a scratch bucket."""
    network = f"projects/{HOST_PROJECT}/global/networks/shared"
    subnetwork = f"projects/{HOST_PROJECT}/regions/{REGION}/subnetworks/gke-{REGION}"
    cloud.by_hand("make", type="Network", inputs={"name": "shared", "autoCreateSubnetworks": False, "mtu": 8896},
                  project=HOST_PROJECT)  # fmt: skip
    subnet = {
        "name": f"gke-{REGION}",
        "region": REGION,
        "network": network,
        "ipCidrRange": "10.8.0.0/20",
        "secondaryIpRanges": [
            {"rangeName": "pods", "ipCidrRange": "10.12.0.0/14"},
            {"rangeName": "services", "ipCidrRange": "10.9.0.0/20"},
        ],
    }
    cloud.by_hand("make", type="Subnetwork", inputs=subnet, project=HOST_PROJECT)
    cluster = {
        "name": SHARED_CLUSTER,
        "location": REGION,
        "network": network,
        "subnetwork": subnetwork,
        "datapathProvider": "ADVANCED_DATAPATH",
        "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
        "workloadIdentityConfig": {"workloadPool": f"{PLATFORM}.svc.id.goog"},
        "removeDefaultNodePool": True,
    }
    cloud.by_hand("make", type="Cluster", inputs=cluster, project=PLATFORM)
    pool = {
        "name": "everybody",
        "cluster": SHARED_CLUSTER,
        "location": REGION,
        "nodeLocations": [f"{REGION}-a"],
        "nodeCount": 2,
        "nodeConfig": {"machineType": "n2-standard-8"},
    }
    cloud.by_hand("make", type="NodePool", inputs=pool, project=PLATFORM)
    bucket = {"name": "acme-platform-pathways-scratch", "location": REGION}
    cloud.by_hand("make", type="Bucket", inputs=bucket, project=PLATFORM)


def _shared_dev(world: World) -> None:
    """The shared cluster, in which the platform team runs JobSet."""
    shared_cluster(world.cloud)
    install(world.plane, JOBSET)


def _llm_prod(world: World) -> None:
    """Four slices of sixteen hosts in one block of another project's reservation, and the key for the cluster."""
    hosts = {"hosts": 4 * 16, "machineType": "tpu7x-standard-4t", "zone": "us-central1-c", "project": "acme-capacity"}
    world.cloud.set_reservations(**{"tpu7x-2027": hosts})
    ring = {"name": "gke", "location": "us-central1"}
    world.cloud.by_hand("make", type="KeyRing", inputs=ring, project="acme-keys")
    key = {"name": "llm-prod", "keyRing": "projects/acme-keys/locations/us-central1/keyRings/gke"}
    world.cloud.by_hand("make", type="CryptoKey", inputs=key, project="acme-keys")


def _vision_prod(world: World) -> None:
    """Two slices of thirty-two hosts in a reservation of the project's own."""
    hosts = {"hosts": 2 * 32, "machineType": "ct5p-hightpu-4t", "zone": "us-east5-a"}
    world.cloud.set_reservations(**{"vision-v5p": hosts})


_BEFOREHAND: dict[str, Callable[[World], None]] = {
    "shared-dev": _shared_dev,
    "llm-prod": _llm_prod,
    "vision-prod": _vision_prod,
}
