"""`scratch`, `cluster`, `network` and `operators`: what the slices live in, created or existing."""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import IPv4Network
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema, field_validator

from pathways.errors import listed, shown, violation
from pathways.images import REPOSITORY_PATTERN
from pathways.model import Items, Section, Text, default
from pathways.names import BUCKET_WITHOUT_GOOGLE, POOL_BUDGET
from pathways.tpu import PATHWAYS_MIN_GKE
from pathways.versions import GKE_VERSION_PATTERN, GkeVersion

ResourceName = Annotated[
    str,
    Text(
        r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
        "a name is up to 63 lower-case letters, digits and -, with a letter first and no - last",
        "shared",
    ),
]
_PATH_PART = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9._-]+"
_PROJECT_PATH = r"projects/[a-z][a-z0-9-]{4,28}[a-z0-9]"


def _kind(value: Any) -> str:
    """Which member of a created-or-existing union a value is: what has the key `existing` is the one that exists."""
    existing = "existing" in value if isinstance(value, dict) else hasattr(value, "existing")
    return "existing" if existing else "created"


def _network(value: str) -> str:
    try:
        network = IPv4Network(value, strict=False)
    except ValueError:
        raise violation(
            f"{shown(value)} is not a range", "a range is A.B.C.D/N", "write for example 10.0.0.0/20"
        ) from None
    if str(network) != value:
        raise violation(
            f"{value} is not written as its own network",
            "host bits are zero and the length stands behind /",
            f"write {network}",
        )
    return value


def _private(value: str) -> str:
    blocks = [
        IPv4Network(block)
        for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "240.0.0.0/4")
    ]
    network = IPv4Network(value)
    if not any(network.subnet_of(block) for block in blocks):
        raise violation(
            f"{value} is not a private range", f"ranges lie in {listed(blocks)}", "write for example 10.0.0.0/20"
        )
    if str(network.broadcast_address) == "255.255.255.255":
        raise violation(
            f"{value} holds 255.255.255.255", "Google Cloud allows no such range", "write for example 10.0.0.0/20"
        )
    return value


_CIDR_SCHEMA = WithJsonSchema(
    {"type": "string", "pattern": r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$", "examples": ["10.0.0.0/20"]}
)
Cidr = Annotated[str, AfterValidator(_network), _CIDR_SCHEMA]
PrivateCidr = Annotated[str, AfterValidator(_network), AfterValidator(_private), _CIDR_SCHEMA]


class CreatedScratch(Section):
    """A scratch bucket of the stack's own."""

    retention_days: Annotated[int, Field(ge=1, le=3650, examples=[14])] = 14
    """Days after which scratch objects are deleted."""
    prefix: Annotated[
        str,
        Text(
            rf"{_PATH_PART}(/{_PATH_PART})*",
            "a prefix is path parts (letters, digits, ., _ and -) joined by /, without slashes at the ends",
            "pathways-scratch/shared",
            max_length=200,
        ),
    ] = "pathways-scratch/shared"
    """Where in the bucket the servers write; one prefix for all jobs."""


class ExistingScratch(Section):
    """A bucket that exists, in the cluster's region; its settings and lifecycle stay its owner's."""

    existing: Annotated[
        str,
        Text(
            BUCKET_WITHOUT_GOOGLE + r"(?!.*\.\.)(?!\d+(\.\d+){3}$)[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]",
            "a bucket's name is 3 to 63 lower-case letters, digits, -, _ and ., with a letter or digit at both ends, "
            "not an address and without google; no gs:// and no path",
            "acme-pathways-scratch",
        ),
    ]
    """Name of the bucket."""
    prefix: Annotated[
        str,
        Text(
            rf"{_PATH_PART}(/{_PATH_PART})*",
            "a prefix is path parts (letters, digits, ., _ and -) joined by /, without slashes at the ends",
            "pathways-scratch/shared",
            max_length=200,
        ),
    ] = "pathways-scratch/shared"
    """Where in the bucket the servers write; one prefix for all jobs."""


Scratch = Annotated[
    Annotated[CreatedScratch, Tag("created")] | Annotated[ExistingScratch, Tag("existing")], Discriminator(_kind)
]

Day = Literal["MO", "TU", "WE", "TH", "FR", "SA", "SU"]


class Maintenance(Section):
    """When Google may maintain the cluster."""

    days: Annotated[Items[Day], Field(min_length=1, max_length=7, examples=[["SA", "SU"]])] = ("SA", "SU")
    """Days of the week."""
    start: Annotated[str, Text(r"([01]\d|2[0-3]):[0-5]\d", "a time of day is HH:MM, UTC, in quotes", "04:00")] = "04:00"
    """Start of the window, UTC; in quotes, since YAML reads 4:00 as a number."""
    hours: Annotated[int, Field(ge=4, le=24, examples=[12])] = 12
    """Length of the window; GKE asks for 48 hours in any 32 days."""
    hold_nodes: Annotated[bool, Field(examples=[True])] = True
    """Hold minor and node upgrades until the version's end of support, since they would restart slices."""

    def anchored(self, day: str) -> tuple[str, str]:
        """Start and end of the window on a day (`YYYY-MM-DD`), as UTC timestamps."""
        start = datetime.fromisoformat(f"{day}T{self.start}:00")
        return (f"{start.isoformat()}Z", f"{(start + timedelta(hours=self.hours)).isoformat()}Z")


class ExistingClusterName(Section):
    """Which cluster."""

    name: Annotated[
        str,
        Text(
            rf"[a-z]([a-z0-9-]{{0,{POOL_BUDGET - 2}}}[a-z0-9])?",
            f"a cluster's name is up to {POOL_BUDGET} lower-case letters, digits and -, "
            "with a letter first and no - last",
            "research",
        ),
    ]
    """Name of the cluster."""
    location: Annotated[str, Text(r"[a-z]+-[a-z]+\d+(-(ai\d+)?[a-z])?", "a location is a region or a zone", "us-east5")]
    """Its region, or its zone if it is a zonal cluster."""


class ExistingCluster(Section):
    """A cluster that exists; the stack adds its own node pools and namespace to it."""

    existing: Annotated[ExistingClusterName, Field(examples=[{"name": "research", "location": "us-east5"}])]
    """The cluster."""


class CreatedCluster(Section):
    """A cluster of the stack's own."""

    release_channel: Annotated[Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"], Field(examples=["REGULAR"])] = (
        "REGULAR"
    )
    """GKE release channel."""
    min_version: Annotated[
        str | None,
        Text(
            GKE_VERSION_PATTERN.strip("^$"),
            "a GKE version is text such as 1.34.1-gke.2541000, in quotes (1.30 unquoted is the number 1.3)",
            "1.34.1-gke.2541000",
        ),
    ] = None
    """Least version of the control plane; absent: the channel's default."""
    deletion_protection: Annotated[bool | None, Field(examples=[True])] = None
    """Refuse to delete the cluster, in Pulumi and in GKE; absent: on for prod."""
    endpoint: Annotated[Literal["dns", "private", "authorized"], Field(examples=["dns"])] = "dns"
    """How the control plane is reached: by its DNS name (IAM decides), inside the VPC, or from authorized networks."""
    authorized_networks: Annotated[Items[Cidr], Field(max_length=100, examples=[["203.0.113.0/24"]])] = ()
    """Ranges that may reach the control plane by address; needed for `authorized`, allowed for `private`."""
    maintenance: Annotated[Maintenance, Field(examples=[{"days": ["SA"], "start": "02:00"}])] = default(Maintenance)
    """Maintenance window and node hold."""
    security_group: Annotated[
        str | None,
        Text(
            r"gke-security-groups@([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}",
            "Google Groups for RBAC needs the group gke-security-groups of your domain",
            "gke-security-groups@acme.com",
        ),
    ] = None
    """Group for role-based access by Google Groups."""
    kms_key: Annotated[
        str | None,
        Text(
            rf"{_PROJECT_PATH}/locations/[a-z0-9-]+/keyRings/[\w-]{{1,63}}/cryptoKeys/[\w-]{{1,63}}",
            "a key is its full path",
            "projects/acme-kms/locations/us-east5/keyRings/gke/cryptoKeys/secrets",
        ),
    ] = None
    """Key that encrypts Secrets in etcd; GKE's service agent has to be allowed to use it."""

    @field_validator("min_version")
    @classmethod
    def _runs_pathways(cls, value: str | None) -> str | None:
        if value and GkeVersion.parse(value) < PATHWAYS_MIN_GKE:
            raise violation(
                f"{value} is too old",
                f"Pathways needs GKE {PATHWAYS_MIN_GKE} or later",
                f"write {PATHWAYS_MIN_GKE} or later, or remove minVersion",
            )
        return value

    @field_validator("authorized_networks")
    @classmethod
    def _not_everyone(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            if IPv4Network(network).prefixlen < 8:
                raise violation(
                    f"{network} is open to nearly everyone",
                    "an authorized network is /8 or smaller",
                    "write your own ranges, or endpoint: dns",
                )
        return value


Cluster = Annotated[
    Annotated[CreatedCluster, Tag("created")] | Annotated[ExistingCluster, Tag("existing")], Discriminator(_kind)
]


class ExistingNetworkNames(Section):
    """Which network, subnet and ranges."""

    network: Annotated[
        str,
        Text(
            rf"({_PROJECT_PATH}/global/networks/)?[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?",
            "a network is its name, or projects/HOST/global/networks/NAME",
            "shared",
        ),
    ]
    """VPC network."""
    subnetwork: Annotated[
        str,
        Text(
            rf"({_PROJECT_PATH}/regions/[a-z0-9-]+/subnetworks/)?[a-z]([a-z0-9-]{{0,61}}[a-z0-9])?",
            "a subnet is its name, or projects/HOST/regions/REGION/subnetworks/NAME",
            "shared-us-east5",
        ),
    ]
    """Subnet in the zone's region."""
    pod_range: Annotated[ResourceName, Field(examples=["pods"])]
    """Name of the secondary range for pods."""
    service_range: Annotated[ResourceName, Field(examples=["services"])]
    """Name of the secondary range for services."""


class ExistingNetwork(Section):
    """A network that exists, of this project or shared by another; ranges have to be large enough already."""

    existing: Annotated[
        ExistingNetworkNames,
        Field(
            examples=[
                {"network": "shared", "subnetwork": "shared-us-east5", "podRange": "pods", "serviceRange": "services"}
            ]
        ),
    ]
    """The network."""


class CreatedNetwork(Section):
    """A network of the stack's own; absent ranges are sized from the slices."""

    nodes: Annotated[PrivateCidr | None, Field(examples=["10.0.0.0/20"])] = None
    """Range of the nodes."""
    pods: Annotated[PrivateCidr | None, Field(examples=["10.4.0.0/14"])] = None
    """Range of the pods; it can never shrink."""
    services: Annotated[PrivateCidr | None, Field(examples=["10.1.0.0/20"])] = None
    """Range of the services."""
    mtu: Annotated[int, Field(ge=1460, le=8896, examples=[8896])] = 8896
    """Largest packet in bytes; jumbo frames speed up traffic between slices."""


Network = Annotated[
    Annotated[CreatedNetwork, Tag("created")] | Annotated[ExistingNetwork, Tag("existing")], Discriminator(_kind)
]

JOBSET_CHART = "oci://registry.k8s.io/jobset/charts/jobset"
JobSetVersion = Literal["0.11.1", "0.10.1"]
"""Releases whose CRD is kept beside the operator component; the first is the default, which the tests run."""


class JobSetOperator(Section):
    """The JobSet controller."""

    install: Annotated[bool, Field(examples=[False])] = True
    """Install it; false where the cluster has it already (0.8.0 or later)."""
    version: Annotated[JobSetVersion, Field(examples=["0.11.1"])] = "0.11.1"
    """Release of chart, controller and CRD."""
    chart: Annotated[
        str,
        Text(
            r"(oci://\S+|https://\S+|\.{0,2}/\S+)",
            "a chart is oci://…, https://… or the path of a folder, starting with ./ or /",
            JOBSET_CHART,
        ),
    ] = JOBSET_CHART
    """Where the chart is: a registry, a mirror of it, or a local folder."""
    image: Annotated[
        str,
        Text(REPOSITORY_PATTERN, "a repository is HOST/PATH without tag", "registry.k8s.io/jobset/jobset"),
    ] = "registry.k8s.io/jobset/jobset"
    """Repository of the controller's image, for mirrors; the tag follows `version`."""


class Operators(Section):
    """The controllers the workload needs."""

    jobset: Annotated[JobSetOperator, Field(examples=[{"install": False}])] = default(JobSetOperator)
    """JobSet."""
