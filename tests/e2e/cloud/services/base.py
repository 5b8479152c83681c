"""What every resource type answers to the cloud."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.diff import Change
from tests.e2e.cloud.store import Record
from tests.e2e.cloud.wire import Props

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud

COMPUTE = "https://www.googleapis.com/compute/v1/"


def tail(reference: object) -> str:
    """The name at the end of a reference: of a bare name, a path or a link."""
    return str(reference or "").rpartition("/")[2]


def project_of(reference: object, default: str) -> str:
    """The project in a path or link, else the default."""
    found = re.search(r"projects/([^/]+)/", str(reference or ""))
    return found[1] if found else default


class Service:
    """The defaults: an object with a name that is created, changed and deleted without consequences."""

    token: ClassVar[str]
    api: ClassVar[str] = "compute.googleapis.com"
    keeps_failed: ClassVar[bool] = False
    """The provider keeps the id of what failed to come up, so that it stands in the state, marked."""
    outlives: ClassVar[bool] = False
    """Deleting it only forgets it: the service has no such call."""
    idempotent: ClassVar[bool] = False
    """Creating what exists is no conflict."""

    def id(self, props: Props) -> str:
        """The provider's id."""
        raise NotImplementedError

    def name(self, props: Props) -> str:
        """The resource's own name, what tests and faults match on."""
        return str(props["name"])

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """The inputs and all that the provider or the service fills in at once."""
        raise NotImplementedError

    def admit(self, cloud: Cloud, record: Record) -> None:
        """Raise what the service refuses at the call."""

    def finish(self, cloud: Cloud, record: Record) -> None:
        """The operation is over: consequences, and what is only known now."""

    def update(self, cloud: Cloud, record: Record, merged: Props, changes: Sequence[Change]) -> list[str]:
        """Bring the record to ``merged``; returns the writes sent, for the audit log. Raises what is refused."""
        record.props = merged
        return [f"PATCH {record.id}"] if changes else []

    def forbid_delete(self, cloud: Cloud, record: Record, state: Props) -> None:
        """Raise what keeps it from being deleted. ``state`` is what the program's state knows."""

    def removed(self, cloud: Cloud, record: Record) -> None:
        """It is gone: consequences."""

    def read(self, cloud: Cloud, record: Record) -> Props:
        """What a GET shows."""
        return record.props


class Regional(Service):
    """A compute resource of a region, or of the whole project when ``place`` is ``global``."""

    collection: ClassVar[str]
    everywhere: ClassVar[bool] = False

    def id(self, props: Props) -> str:
        """projects/P/regions/R/COLLECTION/NAME."""
        place = "global" if self.everywhere else f"regions/{tail(props['region'])}"
        return f"projects/{props['project']}/{place}/{self.collection}/{props['name']}"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """Project, region, link, times."""
        props = {"project": config.project, "deletionPolicy": "DELETE", **inputs}
        if not self.everywhere:
            props.setdefault("region", config.region)
        props["selfLink"] = COMPUTE + self.id(props)
        return props
