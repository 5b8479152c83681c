"""Project services: the Google APIs a stack calls."""

import pulumi
from pulumi_gcp import projects

from components.common import Place, child

APIS = (
    "artifactregistry",
    "cloudresourcemanager",
    "compute",
    "container",
    "iam",
    "logging",
    "monitoring",
    "storage",
    "tpu",
)


class ProjectServices(pulumi.ComponentResource):
    """The APIs, switched on and never switched off again: other stacks of the project use them too."""

    def __init__(self, name: str, place: Place, *, opts: pulumi.ResourceOptions | None = None) -> None:
        """Enable every API of `APIS` in the project."""
        super().__init__("pathways:index:ProjectServices", name, {}, opts)
        for api in APIS:
            projects.Service(
                f"{name}-{api}",
                project=place.project,
                service=f"{api}.googleapis.com",
                disable_on_destroy=False,
                opts=child(self, opts),
            )
        self.register_outputs({})
