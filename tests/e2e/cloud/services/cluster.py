"""GKE clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from tests.e2e.cloud.config import MASTER_VERSION, ProviderConfig
from tests.e2e.cloud.diff import Change
from tests.e2e.cloud.errors import ProviderError, already_exists, invalid
from tests.e2e.cloud.services.base import Service, project_of, tail
from tests.e2e.cloud.services.iam import IDENTITY_POOL
from tests.e2e.cloud.services.network import CLUSTER, FIREWALL, NODE_POOL, network_of, subnetwork_of
from tests.e2e.cloud.store import RUNNING, Record
from tests.e2e.cloud.wire import Props

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud

# Kept by the provider alone: a change is no call.
CLIENT_ONLY = frozenset(
    {"deletionProtection", "deletionPolicy", "removeDefaultNodePool", "ignoreNodeCountChanges", "skipNodePoolRefresh"}
)


def is_zone(location: str) -> bool:
    """True for us-east5-b, false for us-east5."""
    return location.count("-") == 2


def region_of(location: str) -> str:
    """The region of a zone or region."""
    return location.rpartition("-")[0] if is_zone(location) else location


def zones_of(location: str) -> list[str]:
    """Where a cluster of this location has nodes when nothing is said."""
    return [location] if is_zone(location) else [f"{location}-{letter}" for letter in "abc"]


def full_version(asked: str | None) -> str:
    """The version that a prefix such as ``1.35`` or ``1.35.`` becomes."""
    if not asked or asked == "latest":
        return MASTER_VERSION
    return asked if "-gke." in asked else f"{asked.rstrip('.')}.0-gke.3065000" if asked.count(".") < 2 else asked


class Cluster(Service):
    """A cluster. Its control plane is the backend's."""

    token, api, keeps_failed = CLUSTER, "container.googleapis.com", True

    def id(self, props: Props) -> str:
        """projects/P/locations/L/clusters/N."""
        return f"projects/{props['project']}/locations/{props['location']}/clusters/{props['name']}"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """What a cluster that says little reads back."""
        version = full_version(inputs.get("minMasterVersion"))
        location = inputs.get("location") or config.zone or config.region
        project = inputs.get("project", config.project)
        defaults: Props = {
            "project": project,
            "location": location,
            "deletionPolicy": "DELETE",
            "nodeLocations": [] if is_zone(location) else zones_of(location),
            "networkingMode": "VPC_NATIVE",
            "datapathProvider": "LEGACY_DATAPATH",
            "defaultMaxPodsPerNode": 110,
            "masterVersion": version,
            "nodeVersion": version,
            "loggingService": "logging.googleapis.com/kubernetes",
            "monitoringService": "monitoring.googleapis.com/kubernetes",
            "releaseChannel": {"channel": "REGULAR"},
            "labelFingerprint": "a9dc16a7",
            "operation": "",
            "clusterIpv4Cidr": "10.4.0.0/14",
            "servicesIpv4Cidr": "10.0.32.0/20",
        }
        props = {**defaults, **inputs}
        owner = project_of(props.get("network"), project)
        props["network"] = f"projects/{owner}/global/networks/{tail(props.get('network', 'default'))}"
        subnet = props.get("subnetwork")
        owner = project_of(subnet, project)
        name = tail(subnet) if subnet else "default"
        props["subnetwork"] = f"projects/{owner}/regions/{region_of(location)}/subnetworks/{name}"
        props["selfLink"] = f"https://container.googleapis.com/v1/{self.id(props)}"
        self._endpoints(props)
        return props

    @staticmethod
    def _endpoints(props: Props) -> None:
        """The IP endpoint that is off shows as a private endpoint, whatever was asked."""
        points = dict(props.get("controlPlaneEndpointsConfig", {}))
        points.setdefault("ipEndpointsConfig", {"enabled": True})
        points.setdefault("dnsEndpointConfig", {"allowExternalTraffic": False})
        props["controlPlaneEndpointsConfig"] = points
        private = dict(props.get("privateClusterConfig", {}))
        if not points["ipEndpointsConfig"].get("enabled", True):
            private["enablePrivateEndpoint"] = True
        private.setdefault("masterGlobalAccessConfig", {"enabled": False})
        props["privateClusterConfig"] = private

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The name is free, network, subnet and ranges are there, the choices go together."""
        if cloud.store.get(CLUSTER, record.id) is not None:
            raise already_exists(record.id)
        props = record.props
        network_of(cloud, props["network"], record.project)
        region = region_of(props["location"])
        subnet = subnetwork_of(cloud, props["subnetwork"], record.project, region)
        ranges = {item["rangeName"] for item in subnet.props.get("secondaryIpRanges", [])}
        policy = props.get("ipAllocationPolicy", {})
        for key in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
            if policy.get(key) and policy[key] not in ranges:
                raise invalid(f'Services or pod range "{policy[key]}" does not exist in subnetwork "{subnet.name}".')
        self._sane(record)

    @staticmethod
    def _sane(record: Record) -> None:
        props = record.props
        pool = props.get("workloadIdentityConfig", {}).get("workloadPool")
        if pool and pool != f"{record.project}.svc.id.goog":
            raise invalid(f"Workload pool {pool} must be {record.project}.svc.id.goog.")
        if props.get("enableMultiNetworking") and props["datapathProvider"] != "ADVANCED_DATAPATH":
            raise invalid("Multi-networking requires ADVANCED_DATAPATH.")
        dataplane = props["datapathProvider"] == "ADVANCED_DATAPATH"
        if dataplane and props.get("networkPolicy", {}).get("enabled"):
            raise invalid("Enabling NetworkPolicy is not allowed with ADVANCED_DATAPATH: it is built in.")
        key = props.get("databaseEncryption", {})
        if key.get("state") == "ENCRYPTED" and not key.get("keyName"):
            raise invalid("Database encryption needs a key name.")

    def finish(self, cloud: Cloud, record: Record) -> None:
        """The control plane, GKE's firewall rules, the workload identity pool, the default pool."""
        plane = cloud.backend.start_cluster(record.id)
        props = record.props
        props["endpoint"] = plane.endpoint
        props["masterAuth"] = {
            "clientCertificateConfig": {"issueClientCertificate": False},
            **props.get("masterAuth", {}),
            "clusterCaCertificate": plane.ca_certificate,
        }
        props["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"] = plane.dns_endpoint
        props["privateClusterConfig"]["privateEndpoint"] = plane.endpoint
        if props.get("workloadIdentityConfig", {}).get("workloadPool"):
            name = props["workloadIdentityConfig"]["workloadPool"]
            if cloud.store.get(IDENTITY_POOL, name) is None:
                now = cloud.now()
                pool = Record(IDENTITY_POOL, name, name, record.project, {}, RUNNING, now, now + cloud.delay())
                cloud.store.put(pool)
        suffix = f"{crc32(f'{record.id} {record.created}'.encode()):08x}"
        for role in ("all", "exkubelet", "inkubelet", "vms"):
            self._firewall(cloud, record, f"gke-{record.name}-{suffix}-{role}")
        if not props.get("removeDefaultNodePool"):
            self._default_pool(cloud, record)

    @staticmethod
    def _firewall(cloud: Cloud, record: Record, name: str) -> None:
        project = project_of(record.props["network"], record.project)
        props = {"name": name, "project": project, "network": record.props["network"], "direction": "INGRESS"}
        id_ = f"projects/{project}/global/firewalls/{name}"
        cloud.store.put(Record(FIREWALL, id_, name, project, props, RUNNING, meta={"cluster": record.id}))

    @staticmethod
    def _default_pool(cloud: Cloud, record: Record) -> None:
        inputs = {
            "name": "default-pool",
            "cluster": record.name,
            "location": record.props["location"],
            "project": record.project,
            "nodeCount": record.props.get("initialNodeCount", 0),
            "nodeConfig": record.props.get("nodeConfig", {}),
        }
        cloud.make(NODE_POOL, inputs)

    def read(self, cloud: Cloud, record: Record) -> Props:
        """The pools, and as the cluster's own node configuration that of the first one, whatever was said of it."""
        pools = [pool for pool in cloud.store.all(NODE_POOL) if pool.meta["cluster"] == record.id]
        if not pools:
            return record.props
        keys = ("name", "version", "maxPodsPerNode", "nodeLocations", "nodeConfig", "management")
        shown = [{key: pool.props[key] for key in keys if key in pool.props} for pool in pools]
        return {**record.props, "nodePools": shown, "nodeConfig": pools[0].props["nodeConfig"]}

    def update(self, cloud: Cloud, record: Record, merged: Props, changes: Sequence[Change]) -> list[str]:
        """One write for each changed top-level property that is not the client's own."""
        self._endpoints(merged)
        merged["masterVersion"] = max(record.props["masterVersion"], full_version(merged.get("minMasterVersion")))
        record.props = merged
        roots = sorted({change.path.split(".")[0].split("[")[0] for change in changes} - CLIENT_ONLY)
        return [f"PUT clusters/{record.name} {{{root}}}" for root in roots]

    def forbid_delete(self, cloud: Cloud, record: Record, state: Props) -> None:
        """Protection lives in the provider's state: the new value must be applied first."""
        if state.get("deletionProtection", True):
            raise ProviderError(
                "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with "
                "cluster deletion."
            )

    def removed(self, cloud: Cloud, record: Record) -> None:
        """Pools, nodes and GKE's firewall rules go with it; the workload identity pool stays the project's."""
        for pool in cloud.store.all(NODE_POOL):
            if pool.meta["cluster"] == record.id:
                cloud.store.remove(NODE_POOL, pool.id)
        for rule in cloud.store.all(FIREWALL):
            if rule.meta.get("cluster") == record.id:
                cloud.store.remove(FIREWALL, rule.id)
        cloud.backend.stop_cluster(record.id)
