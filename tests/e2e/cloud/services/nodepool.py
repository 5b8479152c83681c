"""GKE node pools: sizes, nodes, what can be changed in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.e2e.cloud import machines, nodes
from tests.e2e.cloud.backend import Removal
from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.diff import Change
from tests.e2e.cloud.errors import ProviderError, invalid, not_found, reservation_message, stockout_message
from tests.e2e.cloud.services import pool_rules
from tests.e2e.cloud.services.base import Service, tail
from tests.e2e.cloud.services.cluster import zones_of
from tests.e2e.cloud.services.network import CLUSTER, NODE_POOL
from tests.e2e.cloud.store import ERROR, Record
from tests.e2e.cloud.wire import Props

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud

_SCOPES = [
    f"https://www.googleapis.com/auth/{name}" for name in ("devstorage.read_only", "logging.write", "monitoring")
]
_MACHINE = frozenset({"nodeConfig.machineType", "nodeConfig.diskType", "nodeConfig.diskSizeGb"})
# An update of these makes every machine anew.
_ROLLS = (*_MACHINE, "nodeConfig.imageType", "placementPolicy.type", "version")


def cluster_of(cloud: Cloud, props: Props) -> Record:
    """The pool's cluster; raises Google's 404."""
    name, location, project = tail(props["cluster"]), props["location"], props["project"]
    id_ = f"projects/{project}/locations/{location}/clusters/{name}"
    found = cloud.store.get(CLUSTER, id_)
    if found is None:
        raise not_found(id_)
    return found


def slots(pool: Record) -> list[nodes.Slot]:
    """Where the pool's machines stand."""
    return [nodes.Slot(*item) for item in pool.meta.get("slots", [])]


class NodePool(Service):
    """A node pool. ``meta`` holds: cluster, zones, target, slots, births, topology, hosts, reservation, message."""

    token, api, keeps_failed = NODE_POOL, "container.googleapis.com", True

    def id(self, props: Props) -> str:
        """projects/P/locations/L/clusters/C/nodePools/N."""
        cluster = tail(props["cluster"])
        return f"projects/{props['project']}/locations/{props['location']}/clusters/{cluster}/nodePools/{props['name']}"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """What GKE fills in."""
        props: Props = {
            "project": config.project,
            "location": config.zone or config.region,
            "deletionPolicy": "DELETE",
            "management": {"autoRepair": True, "autoUpgrade": True},
            "upgradeSettings": {"maxSurge": 1, "maxUnavailable": 0, "strategy": "SURGE"},
            "operation": "",
            **inputs,
        }
        cluster = cluster_of(cloud, props)
        props.setdefault("maxPodsPerNode", cluster.props["defaultMaxPodsPerNode"])
        props.setdefault("version", cluster.props["masterVersion"])
        props.setdefault("nodeLocations", cluster.props["nodeLocations"] or zones_of(cluster.props["location"]))
        props.setdefault("networkConfig", {"enablePrivateNodes": self._private(cluster)})
        props["nodeConfig"] = self._config(props.get("nodeConfig", {}))
        if props.get("placementPolicy", {}).get("policyName"):
            # The type is not read back beside a policy's name: what says COMPACT differs for ever.
            props["placementPolicy"] = {**props["placementPolicy"], "type": ""}
        return props

    @staticmethod
    def _private(cluster: Record) -> bool:
        return bool(cluster.props.get("privateClusterConfig", {}).get("enablePrivateNodes"))

    @staticmethod
    def _config(given: Props) -> Props:
        machine = machines.machine(given.get("machineType", nodes.DEFAULT_MACHINE))
        hyperdisk = machine is not None and machine.hyperdisk_only
        return {
            "machineType": nodes.DEFAULT_MACHINE,
            "diskSizeGb": 100,
            "diskType": "hyperdisk-balanced" if hyperdisk else "pd-balanced",
            "imageType": "COS_CONTAINERD",
            "serviceAccount": "default",
            "oauthScopes": _SCOPES,
            "metadata": {"disable-legacy-endpoints": "true"},
            "loggingVariant": "DEFAULT",
            "shieldedInstanceConfig": {"enableIntegrityMonitoring": True, "enableSecureBoot": False},
            **given,
        }

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The provider looks for the name first; then GKE's rules."""
        if cloud.store.get(NODE_POOL, record.id) is not None:
            raise ProviderError(f"resource - {record.id} - already exists")
        cluster = cluster_of(cloud, record.props)
        record.meta |= {"cluster": cluster.id, "zones": record.props["nodeLocations"], "births": 0, "slots": []}
        record.meta["target"] = self._first_size(record.props)
        pool_rules.check(cloud, record)

    def finish(self, cloud: Cloud, record: Record) -> None:
        """All machines or none: a slice is atomic, and a reservation has what it has."""
        per_zone = record.meta["target"]
        wanted = per_zone * len(record.meta["zones"])
        zone = record.meta["zones"][0]
        instance = nodes.node_name(record, nodes.Slot(zone, 0, 1))
        if record.meta.get("fate") == "stockout":
            self._fail(record, stockout_message(instance, record.name, record.project, zone, wanted))
        free = pool_rules.reserved_free(cloud, record)
        if free is not None and wanted > free:
            self._fail(record, reservation_message(instance, record.meta["reservation"], wanted, free))
        if record.status != ERROR:
            resize(cloud, record, per_zone, Removal.DRAIN)
        self._read_size(record)

    @staticmethod
    def _first_size(props: Props) -> int:
        if "nodeCount" in props:
            return int(props["nodeCount"])
        scaling = props.get("autoscaling", {})
        zones = len(props["nodeLocations"])
        least = max(scaling.get("minNodeCount", 0), -(-scaling.get("totalMinNodeCount", 0) // zones))
        return int(max(props.get("initialNodeCount", 0), least))

    @staticmethod
    def _fail(record: Record, message: str) -> None:
        record.status = ERROR
        record.meta["message"] = message

    def update(self, cloud: Cloud, record: Record, merged: Props, changes: Sequence[Change]) -> list[str]:
        """In place where GKE can. A changed topology is accepted and sent nowhere."""
        paths = {change.path for change in changes}
        if "placementPolicy" in merged and "tpuTopology" in record.props.get("placementPolicy", {}):
            merged["placementPolicy"]["tpuTopology"] = record.props["placementPolicy"]["tpuTopology"]
        if merged.get("placementPolicy", {}).get("policyName"):
            merged["placementPolicy"]["type"] = ""
        writes = self._writes(record, paths)
        rolls = [path for path in _ROLLS if path in paths]
        if rolls and record.meta.get("topology"):
            raise invalid(
                f"Updating {', '.join(rolls)} is not supported for the multi-host TPU node pool {record.name}."
            )
        old = record.props
        record.props = merged
        try:
            pool_rules.check(cloud, record, creating=False)
        except Exception:
            record.props = old
            raise
        if rolls:
            self._roll(cloud, record)
        if "nodeCount" in paths:
            resize(cloud, record, merged["nodeCount"])
        elif writes:
            refresh_nodes(cloud, record)
        self._read_size(record)
        return writes

    @staticmethod
    def _roll(cloud: Cloud, record: Record) -> None:
        """Every machine anew, in as many as there were."""
        per_zone = record.meta["target"]
        resize(cloud, record, 0)
        resize(cloud, record, per_zone)

    @staticmethod
    def _writes(record: Record, paths: set[str]) -> list[str]:
        """The calls that the provider sends for these changes; none for a topology."""
        kept = {p for p in paths if p not in ("placementPolicy.tpuTopology", "nodeConfig.resourceManagerTags")}
        kept -= {"deletionPolicy", "ignoreNodeCountChanges"}
        writes, pool = [], f"nodePools/{record.name}"
        if any(path.startswith("autoscaling") for path in kept):
            writes.append(f"PUT clusters/{record.meta['cluster'].rpartition('/')[2]} {{desiredNodePoolAutoscaling}}")
        if "nodeCount" in kept:
            writes.append(f"POST {pool}:setSize")
        if any(path.startswith("management") for path in kept):
            writes.append(f"POST {pool}:setManagement")
        if kept & _MACHINE:
            writes.append(f"PUT {pool} {{machineType, diskSizeGb, diskType}}")
        done = ("autoscaling", "management", "nodeCount", *_MACHINE)
        rest = sorted(path for path in kept if not path.startswith(done))
        return writes + [f"PUT {pool} {{{path}}}" for path in rest]

    def read(self, cloud: Cloud, record: Record) -> Props:
        """The count is the size that the groups aim at, also of a pool in ERROR and while machines are gone."""
        self._read_size(record)
        return record.props

    @staticmethod
    def _read_size(record: Record) -> None:
        zones = record.meta["zones"]
        record.props["nodeCount"] = record.meta["target"]
        record.props.setdefault("initialNodeCount", record.props["nodeCount"])
        base = f"https://www.googleapis.com/compute/v1/projects/{record.project}/zones"
        names = [(zone, nodes.node_name(record, nodes.Slot(zone, 0, 0))[:-5]) for zone in zones]
        record.props["instanceGroupUrls"] = [f"{base}/{z}/instanceGroupManagers/{n}-grp" for z, n in names]
        record.props["managedInstanceGroupUrls"] = [f"{base}/{z}/instanceGroups/{n}-grp" for z, n in names]
        record.props["nodeConfig"]["effectiveTaints"] = [
            {"key": t["key"], "value": t["value"], "effect": {v: k for k, v in nodes.EFFECTS.items()}[t["effect"]]}
            for t in nodes.taints(record)
        ]

    def removed(self, cloud: Cloud, record: Record) -> None:
        """Its machines go."""
        names = [nodes.node_name(record, slot) for slot in slots(record)]
        cloud.backend.remove_nodes(record.meta["cluster"], names, Removal.DRAIN)
        cloud.store.event("cloud.nodes", NODE_POOL, record.name, {"added": [], "removed": names})


def resize(cloud: Cloud, pool: Record, per_zone: int, how: Removal = Removal.DRAIN) -> None:
    """Bring the pool to this many machines in each zone. The caller keeps the record."""
    pool.meta["target"] = per_zone
    now, added, removed = slots(pool), [], []
    for zone in pool.meta["zones"]:
        here = [slot for slot in now if slot.zone == zone]
        used = {slot.index for slot in here}
        free = (index for index in range(per_zone + len(here)) if index not in used)
        for _ in range(per_zone - len(here)):
            pool.meta["births"] = pool.meta.get("births", 0) + 1
            added.append(nodes.Slot(zone, next(free), pool.meta["births"]))
        removed += sorted(here, key=lambda slot: slot.index)[per_zone:]
    keep = [slot for slot in now if slot not in removed]
    pool.meta["slots"] = [[s.zone, s.index, s.birth] for s in (*keep, *added)]
    gone = [nodes.node_name(pool, slot) for slot in removed]
    if gone:
        cloud.backend.remove_nodes(pool.meta["cluster"], gone, how)
    made = [nodes.node(pool, slot) for slot in added]
    if made:
        cloud.backend.add_nodes(pool.meta["cluster"], made)
    if made or gone:
        names = [item["metadata"]["name"] for item in made]
        cloud.store.event("cloud.nodes", NODE_POOL, pool.name, {"added": names, "removed": gone})


def lose(cloud: Cloud, pool: Record, count: int) -> list[str]:
    """Take machines away at once, the last first; returns their names. The size aimed at stays."""
    gone = slots(pool)[-count:] if count else []
    names = [nodes.node_name(pool, slot) for slot in gone]
    pool.meta["slots"] = [[s.zone, s.index, s.birth] for s in slots(pool) if s not in gone]
    cloud.backend.remove_nodes(pool.meta["cluster"], names, Removal.LOSE)
    cloud.store.event("cloud.nodes", NODE_POOL, pool.name, {"added": [], "removed": names, "lost": True})
    return names


def refresh_nodes(cloud: Cloud, pool: Record) -> None:
    """Bring the labels and taints of the machines that are there up to date."""
    made = [nodes.node(pool, slot) for slot in slots(pool)]
    if made:
        cloud.backend.add_nodes(pool.meta["cluster"], made)
