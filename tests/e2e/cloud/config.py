"""What the program's ``gcp.Provider`` says, and what a project has when nobody has touched it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ATTRIBUTION = {"goog-pulumi-provisioned": "true"}

# Services that a new project has switched on.
BORN_WITH = (
    "cloudresourcemanager.googleapis.com",
    "iam.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "serviceusage.googleapis.com",
    "storage.googleapis.com",
)
MASTER_VERSION = "1.35.0-gke.3065000"


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """The provider's own arguments. ``labels`` go on every resource that has labels."""

    project: str = ""
    region: str = ""
    zone: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, args: Mapping[str, Any], variables: Mapping[str, str]) -> ProviderConfig:
        """From a Configure request: nested values arrive as JSON text, old engines send only ``gcp:config:…``."""
        values: dict[str, Any] = {key.removeprefix("gcp:config:"): value for key, value in variables.items()}
        values |= args
        labels = _object(values.get("defaultLabels"))
        if _object(values.get("addPulumiAttributionLabel")) is not False:
            labels = {**ATTRIBUTION, **labels}
        project, region, zone = (str(values.get(key, "")) for key in ("project", "region", "zone"))
        return cls(project, region, zone, labels)


def _object(value: Any) -> Any:
    """A nested configuration value, from its JSON text where it is one."""
    if isinstance(value, str):
        value = json.loads(value) if value else None
    return {} if value is None else value
