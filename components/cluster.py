"""Cluster: a private GKE cluster of the stack's own, or the look-up of one that exists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi import CustomTimeouts, Output
from pulumi_gcp import container

from components.common import Place, named_child
from components.lookup import Lookup
from components.network import Subnet
from pathways.cluster import created_server, existing_server, kubeconfig
from pathways.network_plan import CPU_PODS_PER_NODE
from pathways.plan import Plan
from pathways.settings.platform import CreatedCluster, Maintenance

# GKE takes 5 to 10 minutes; the rest is room for a busy project.
_TIMEOUTS = CustomTimeouts(create="45m", update="60m", delete="45m")
# A fixed day in the past: the window recurs from it, and a date that moved would be a change in every preview.
_ANCHOR = "2026-01-03"
_LOGGED = ["SYSTEM_COMPONENTS", "WORKLOADS"]
_MONITORED = ["SYSTEM_COMPONENTS", "POD", "JOBSET"]


@dataclass(frozen=True, kw_only=True)
class ClusterHandle:
    """A cluster that pools and objects can be put into; `resource` is None where the cluster is not ours."""

    name: pulumi.Input[str]
    location: str
    kubeconfig: Output[str]
    resource: container.Cluster | None


class Cluster(pulumi.ComponentResource):
    """A regional cluster with private nodes in one zone and the security baseline of CIS GKE where it has a default."""

    handle: ClusterHandle

    def __init__(
        self,
        name: str,
        place: Place,
        plan: Plan,
        settings: CreatedCluster,
        *,
        subnet: Subnet,
        node_service_account: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create it without nodes; pools are separate, so that none of them can replace the cluster."""
        super().__init__("pathways:index:Cluster", name, {}, opts)
        cluster = container.Cluster(
            f"{name}-cluster",
            name=plan.names.cluster,
            project=place.project,
            location=place.region,
            node_locations=[place.zone],
            deletion_protection=plan.protect,
            # GKE makes no cluster without a pool; this one is gone before the cluster counts as created.
            initial_node_count=1,
            remove_default_node_pool=True,
            node_config={"service_account": node_service_account},
            **_versions(settings),
            **_networking(plan, settings, subnet),
            **_security(plan, settings),
            logging_config={"enable_components": _LOGGED},
            monitoring_config={"enable_components": _MONITORED, "managed_prometheus": {"enabled": True}},
            cost_management_config={"enabled": True},
            resource_labels=place.labels,
            opts=named_child(
                self,
                opts,
                protect=plan.protect,
                custom_timeouts=_TIMEOUTS,
                # What GKE writes about the default pool that is no more; following it would replace the cluster.
                ignore_changes=["initialNodeCount", "nodeConfig", "nodePools", "nodeVersion"],
            ),
        )
        server = Output.all(
            ip=cluster.endpoint,
            dns=cluster.control_plane_endpoints_config.dns_endpoint_config.endpoint,
            private_ip=cluster.private_cluster_config.private_endpoint,
            ca=cluster.master_auth.cluster_ca_certificate,
        ).apply(lambda known: created_server(settings.endpoint, known))
        self.handle = ClusterHandle(
            name=cluster.name,
            location=place.region,
            kubeconfig=Output.json_dumps(server.apply(lambda s: kubeconfig(plan.cluster_identifier, s))),
            resource=cluster,
        )
        self.register_outputs({"name": cluster.name})


def existing_cluster(plan: Plan, lookup: Lookup) -> ClusterHandle:
    """Look up a cluster; a preview fails if there is none."""
    name, location, project = plan.cluster_name, plan.cluster_location, plan.settings.project
    found = lookup.answer(
        container.get_cluster_output(name=name, location=location, project=project, opts=lookup.opts),
        key="cluster.existing.name",
        name=name,
        rule=f"the cluster exists in the project {project} at {location}",
        fix=f"write name and location of one of `gcloud container clusters list --project {project}`",
    )
    # Each part by itself: `Output.all` would turn the blocks of a look-up into plain dicts.
    server = Output.all(
        ip=found.endpoint,
        ca=found.master_auths[0].cluster_ca_certificate,
        dns=found.control_plane_endpoints_configs.apply(_dns_endpoint),
    ).apply(lambda known: existing_server(known["ip"], known["ca"], known["dns"]))
    return ClusterHandle(
        name=name,
        location=location,
        kubeconfig=Output.json_dumps(server.apply(lambda s: kubeconfig(plan.cluster_identifier, s))),
        resource=None,
    )


def _versions(settings: CreatedCluster) -> dict[str, Any]:
    least = {"min_master_version": settings.min_version} if settings.min_version else {}
    return {
        "release_channel": {"channel": settings.release_channel},
        "maintenance_policy": _maintenance(settings.maintenance),
        **least,
    }


def _maintenance(window: Maintenance) -> dict[str, Any]:
    """A weekly window, and a hold on what would restart nodes; its end is the version's end of support."""
    hold = {
        "exclusion_name": "hold-nodes",
        "start_time": f"{_ANCHOR}T00:00:00Z",
        "exclusion_options": {"scope": "NO_MINOR_OR_NODE_UPGRADES", "end_time_behavior": "UNTIL_END_OF_SUPPORT"},
    }
    start, end = window.anchored(_ANCHOR)
    return {
        "recurring_window": {
            "start_time": start,
            "end_time": end,
            "recurrence": f"FREQ=WEEKLY;BYDAY={','.join(window.days)}",
        },
        "maintenance_exclusions": [hold] if window.hold_nodes else [],
    }


def _networking(plan: Plan, settings: CreatedCluster, subnet: Subnet) -> dict[str, Any]:
    by_dns, domain = settings.endpoint == "dns", plan.vpc_dns_domain
    networks = [{"cidr_block": cidr, "display_name": cidr} for cidr in settings.authorized_networks]
    return {
        "network": subnet.network,
        "subnetwork": subnet.subnetwork,
        "networking_mode": "VPC_NATIVE",
        "ip_allocation_policy": {
            "cluster_secondary_range_name": subnet.pod_range,
            "services_secondary_range_name": subnet.service_range,
            "stack_type": "IPV4",
        },
        "default_max_pods_per_node": CPU_PODS_PER_NODE,
        "datapath_provider": "ADVANCED_DATAPATH",
        "addons_config": {"network_policy_config": {"disabled": True}},
        "enable_intranode_visibility": True,
        "enable_l4_ilb_subsetting": True,
        "dns_config": {
            "cluster_dns": "CLOUD_DNS",
            "cluster_dns_scope": "CLUSTER_SCOPE",
            "cluster_dns_domain": "cluster.local",
            **({"additive_vpc_scope_dns_domain": domain} if domain else {}),
        },
        "private_cluster_config": {
            "enable_private_nodes": True,
            # With the IP endpoint off it reads back as true; anything else would show as a change for ever.
            "enable_private_endpoint": settings.endpoint != "authorized",
        },
        "control_plane_endpoints_config": {
            "dns_endpoint_config": {"allow_external_traffic": by_dns},
            "ip_endpoints_config": {"enabled": not by_dns},
        },
        "master_authorized_networks_config": {
            "gcp_public_cidrs_access_enabled": False,
            **({"cidr_blocks": networks} if networks else {}),
        },
    }


def _security(plan: Plan, settings: CreatedCluster) -> dict[str, Any]:
    group, key = settings.security_group, settings.kms_key
    return {
        "workload_identity_config": {"workload_pool": plan.workload_pool},
        "enable_shielded_nodes": True,
        "enable_legacy_abac": False,
        "master_auth": {"client_certificate_config": {"issue_client_certificate": False}},
        "security_posture_config": {"mode": "BASIC", "vulnerability_mode": "VULNERABILITY_DISABLED"},
        "rbac_binding_config": {
            "enable_insecure_binding_system_authenticated": False,
            "enable_insecure_binding_system_unauthenticated": False,
        },
        **({"authenticator_groups_config": {"security_group": group}} if group else {}),
        **({"database_encryption": {"state": "ENCRYPTED", "key_name": key}} if key else {}),
    }


def _dns_endpoint(configs: Sequence[Any]) -> str | None:
    dns = [each for config in configs for each in config.dns_endpoint_configs]
    return next((str(each.endpoint) for each in dns if each.allow_external_traffic), None)
