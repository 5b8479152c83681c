"""The whole stack file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from pathways.model import DNS_LABEL, Section, Text, default
from pathways.settings.platform import (
    Cluster,
    CreatedCluster,
    CreatedNetwork,
    CreatedScratch,
    Network,
    Operators,
    Scratch,
)
from pathways.settings.runtime import Head, Runtime
from pathways.settings.slices import Slices
from pathways.settings.workload import Workload

OURS = "pathways"
"""The namespace of our keys: the project's name."""
PROJECT_KEY = "gcp:project"
"""The one key of another namespace."""
Environment = Literal["dev", "staging", "prod"]
TEAM_BUDGET = 16


class Settings(Section):
    """Everything a stack file says, `gcp:project` included; keys of ours stand under `pathways:` in the file."""

    project: Annotated[
        str,
        Field(alias=PROJECT_KEY),
        Text(
            r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
            "a project id is 6 to 30 lower-case letters, digits and -, starts with a letter and does not end with -",
            "acme-ml-dev",
        ),
    ]
    """Google Cloud project (its id, not its number)."""
    team: Annotated[
        str,
        Text(
            DNS_LABEL,
            "a team is a DNS label: lower-case letters, digits and -, starting with a letter",
            "vision",
            max_length=TEAM_BUDGET,
        ),
    ]
    """Who it belongs to: a label on everything, and the first part of every name."""
    environment: Annotated[Environment, Field(examples=["dev"])]
    """What it is for; `prod` turns protection on."""
    zone: Annotated[str, Text(r"[a-z]+-[a-z]+\d+-(ai\d+)?[a-z]", "a zone is REGION-LETTER", "us-east5-b")]
    """Zone of the TPUs; the region follows from it."""
    slices: Annotated[Slices, Field(examples=[{"tpu": "v6e", "topology": "4x4", "count": 2}])]
    """The TPU slices."""
    head: Annotated[Head, Field(examples=[{"machineType": "n2-standard-64"}])] = default(Head)
    """The head."""
    runtime: Annotated[Runtime, Field(examples=[{"elasticSlices": 1}])] = default(Runtime)
    """How Pathways runs."""
    workload: Annotated[Workload, Field(examples=[{"mode": "interactive", "name": "lab", "access": "port-forward"}])]
    """What runs."""
    scratch: Annotated[Scratch, Field(examples=[{"retentionDays": 14}])] = default(CreatedScratch)
    """Scratch bucket: compile cache and suspended state."""
    cluster: Annotated[Cluster, Field(examples=[{"releaseChannel": "REGULAR"}])] = default(CreatedCluster)
    """GKE cluster."""
    network: Annotated[Network, Field(examples=[{"mtu": 8896}])] = default(CreatedNetwork)
    """VPC network."""
    operators: Annotated[Operators, Field(examples=[{"jobset": {"install": False}}])] = default(Operators)
    """Controllers."""

    @property
    def region(self) -> str:
        """The zone's region."""
        return self.zone.rpartition("-")[0]

    @property
    def prefix(self) -> str:
        """First part of every name: `<team>-<environment>`."""
        return f"{self.team}-{self.environment}"
