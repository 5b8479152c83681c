"""Protection: what a deletion of the stack meets first."""

import pulumi


class Protection(pulumi.ComponentResource):
    """Stands in front of the stack, so that a deletion that will be refused is refused before it touches anything.

    Protecting the cluster comes too late by itself: what goes with the cluster is deleted before it, which means that
    it is forgotten, and a refusal then leaves pools that the state no longer knows. It exists without protection too,
    since a protected resource cannot be taken out of a program.
    """

    def __init__(self, name: str, *, protect: bool, awaited: list[pulumi.Resource], parent: pulumi.Resource) -> None:
        """Wait for `awaited`, directly or through others the whole stack: deletions go the other way round."""
        opts = pulumi.ResourceOptions(parent=parent, protect=protect, depends_on=awaited)
        super().__init__("pathways:index:Protection", name, {}, opts)
        self.register_outputs({})
