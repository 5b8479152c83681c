"""Placement: the workload policy that keeps the hosts of a slice together, for generations that need one."""

import pulumi
from pulumi_gcp import compute

from components.common import Place, named_child


class SlicePlacement(pulumi.ComponentResource):
    """One policy for all slices of a topology.

    It is made before the cluster although only pools use it: pools go with their cluster, all at once, and a policy
    that did not wait for that would be refused its deletion as long as nodes still use it.
    """

    policy: pulumi.Output[str]

    def __init__(
        self, name: str, place: Place, *, policy_name: str, topology: str, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Create the policy for slices of `topology`."""
        super().__init__("pathways:index:SlicePlacement", name, {}, opts)
        policy = compute.ResourcePolicy(
            # Policies cannot be changed, so another topology is another policy, which is made before the old one goes.
            f"{name}-{topology}",
            name=policy_name,
            project=place.project,
            region=place.region,
            workload_policy={"type": "HIGH_THROUGHPUT", "accelerator_topology": topology},
            opts=named_child(self, opts),
        )
        self.policy = policy.name
        self.register_outputs({"policy": policy.name})
