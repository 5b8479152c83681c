"""Node pools: the system pool, the head pool, and one pool for each TPU slice."""

from typing import Any

import pulumi
from pulumi import CustomTimeouts
from pulumi_gcp import container

from components.cluster import ClusterHandle
from components.common import Place, named_child
from pathways.machines import NODE_DISK_GB, CpuMachine
from pathways.network_plan import CPU_PODS_PER_NODE, HEAD_NODES, SYSTEM_NODES
from pathways.plan import HEAD_TAINT, STACK_LABEL, Plan

_CPU_TIMEOUTS = CustomTimeouts(create="30m", update="60m", delete="30m")
# Capacity for a large slice is found at once or waited for; repair and placement of thousands of VMs take their time.
_SLICE_TIMEOUTS = CustomTimeouts(create="120m", update="60m", delete="60m")
# One node at a time and none extra: TPU VMs and heads have no spare to surge into, and address ranges no room for one.
_UPGRADES = {"strategy": "SURGE", "max_surge": 0, "max_unavailable": 1}
# What a slice cannot change in place. The provider would do nothing about the first, and start a rolling update that
# cannot end on the others; the pool has to be replaced, old one first, since its capacity is needed again.
_REPLACES_SLICE = [
    "placementPolicy.tpuTopology",
    "nodeConfig.machineType",
    "nodeCount",
    "nodeLocations",
    "autoscaling.maxNodeCount",
]
# The head's one node would be rolled under the running head; replaced, it takes the JobSet with it, which starts anew.
_REPLACES_HEAD = ["nodeConfig.machineType", "nodeLocations"]


class SystemPool(pulumi.ComponentResource):
    """Nodes for kube-system and the operators, which take no TPU and no head node."""

    def __init__(
        self,
        name: str,
        place: Place,
        plan: Plan,
        machine: CpuMachine,
        *,
        cluster: ClusterHandle,
        node_service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create one pool that grows from 1 to `SYSTEM_NODES` nodes."""
        super().__init__("pathways:index:SystemPool", name, {}, opts)
        arguments = {
            **_pool(place, cluster, CPU_PODS_PER_NODE, pod_range=None),
            "autoscaling": {"total_min_node_count": 1, "total_max_node_count": SYSTEM_NODES, "location_policy": "ANY"},
            "management": {"auto_repair": True, "auto_upgrade": True},
            "node_config": _node_config(place, plan, machine.name, machine.disk_type, node_service_account),
        }
        container.NodePool(
            f"{name}-pool",
            name=plan.names.system_pool,
            **arguments,
            opts=named_child(self, opts, deleted_with=cluster.resource, custom_timeouts=_CPU_TIMEOUTS),
        )
        self.register_outputs({})


class HeadPool(pulumi.ComponentResource):
    """The head's node, kept for it alone by a taint."""

    pool: container.NodePool

    def __init__(
        self,
        name: str,
        place: Place,
        plan: Plan,
        *,
        cluster: ClusterHandle,
        node_service_account: pulumi.Input[str],
        pod_range: pulumi.Input[str] | None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create the pool with its one node."""
        super().__init__("pathways:index:HeadPool", name, {}, opts)
        machine = plan.head_machine
        config = _node_config(place, plan, machine.name, machine.disk_type, node_service_account)
        taint = {"key": HEAD_TAINT, "value": plan.names.prefix, "effect": "NO_SCHEDULE"}
        arguments = {
            **_pool(place, cluster, CPU_PODS_PER_NODE, pod_range=pod_range),
            "node_count": HEAD_NODES,
            "management": {"auto_repair": True, "auto_upgrade": True},
            "node_config": {**config, "taints": [taint]},
        }
        self.pool = container.NodePool(
            f"{name}-pool",
            name=plan.names.head_pool,
            **arguments,
            opts=named_child(
                self,
                opts,
                deleted_with=cluster.resource,
                custom_timeouts=_CPU_TIMEOUTS,
                replace_on_changes=_REPLACES_HEAD,
            ),
        )
        self.register_outputs({})


class TpuSlices(pulumi.ComponentResource):
    """One node pool for each slice, numbered from 0; they do not know of each other."""

    pools: list[container.NodePool]

    def __init__(
        self,
        name: str,
        place: Place,
        plan: Plan,
        *,
        cluster: ClusterHandle,
        node_service_account: pulumi.Input[str],
        policy: pulumi.Input[str] | None,
        pod_range: pulumi.Input[str] | None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create `plan.slice_count` pools; `policy` is the workload policy that their shape needs, if any."""
        super().__init__("pathways:index:TpuSlices", name, {}, opts)
        slices, shape, capacity = plan.settings.slices, plan.shape, plan.settings.slices.capacity
        config = _node_config(place, plan, shape.machine.name, shape.generation.disk_type, node_service_account)
        arguments = {
            **_pool(place, cluster, slices.max_pods_per_node, pod_range=pod_range),
            **capacity.size(shape.hosts),
            **_placement(plan, policy),
            "management": {"auto_repair": capacity.auto_repair, "auto_upgrade": True},
            "node_config": {**config, **capacity.node_config()},
        }
        options = named_child(
            self,
            opts,
            deleted_with=cluster.resource,
            custom_timeouts=_SLICE_TIMEOUTS,
            replace_on_changes=_REPLACES_SLICE,
        )
        self.pools = [
            container.NodePool(f"{name}-{index}", name=plan.names.slice_pool(index), **arguments, opts=options)
            for index in range(plan.slice_count)
        ]
        self.register_outputs({"pools": [pool.name for pool in self.pools]})


def _placement(plan: Plan, policy: pulumi.Input[str] | None) -> dict[str, Any]:
    """How the hosts of one slice are kept together: not at all for one host, else by a policy, or by topology."""
    if not plan.shape.multi_host:
        return {}
    if policy is None:
        return {"placement_policy": {"type": "COMPACT", "tpu_topology": plan.shape.topology}}
    # An empty type: together with a policy, COMPACT would show as a change for ever and roll the nodes.
    return {"placement_policy": {"type": "", "policy_name": policy}}


def _pool(place: Place, cluster: ClusterHandle, pods: int, *, pod_range: pulumi.Input[str] | None) -> dict[str, Any]:
    """What all pools have in common; `pods` is the most pods a node can run."""
    return {
        "project": place.project,
        "cluster": cluster.name,
        "location": cluster.location,
        "node_locations": [place.zone],
        "max_pods_per_node": pods,
        "network_config": {"enable_private_nodes": True, **({"pod_range": pod_range} if pod_range else {})},
        "upgrade_settings": _UPGRADES,
    }


def _node_config(
    place: Place, plan: Plan, machine: str, disk_type: str, service_account: pulumi.Input[str]
) -> dict[str, Any]:
    """What all nodes have in common: hardened, with the GKE metadata server and an identity of the stack's own."""
    return {
        "machine_type": machine,
        "image_type": "COS_CONTAINERD",
        "disk_type": disk_type,
        "disk_size_gb": NODE_DISK_GB,
        "service_account": service_account,
        # The scope says nothing; the account's roles do.
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "workload_metadata_config": {"mode": "GKE_METADATA"},
        "shielded_instance_config": {"enable_secure_boot": True, "enable_integrity_monitoring": True},
        "gvnic": {"enabled": True},
        "gcfs_config": {"enabled": True},
        "kubelet_config": {"insecure_kubelet_readonly_port_enabled": "FALSE"},
        "metadata": {"disable-legacy-endpoints": "true"},
        "labels": {STACK_LABEL: plan.names.prefix},
        "resource_labels": place.labels,
    }
