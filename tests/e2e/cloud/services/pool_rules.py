"""What GKE accepts as a node pool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.e2e.cloud import machines
from tests.e2e.cloud.errors import CloudError, invalid
from tests.e2e.cloud.machines import Machine
from tests.e2e.cloud.nodes import DEFAULT_MACHINE
from tests.e2e.cloud.services.base import tail
from tests.e2e.cloud.services.cluster import region_of
from tests.e2e.cloud.services.iam import ACCOUNT
from tests.e2e.cloud.services.network import NODE_POOL, POLICY
from tests.e2e.cloud.store import Record
from tests.e2e.cloud.wire import Props

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud

_RESERVATION = re.compile(
    r"(?:projects/(?P<project>[^/]+)/reservations/)?(?P<name>[a-z][-a-z0-9]*)"
    r"(?:/reservationBlocks/[^/]+(?:/reservationSubBlocks/[^/]+)?)?"
)
_NO_FLEX = frozenset({"ct4p-hightpu-4t"})
MOST_NODES, MOST_TPU_NODES = 1000, 2000


def check(cloud: Cloud, pool: Record, *, creating: bool = True) -> None:
    """Raise what GKE refuses; notes topology, hosts and reservation in the record's ``meta``."""
    props = pool.props
    name = props["nodeConfig"].get("machineType", DEFAULT_MACHINE)
    machine = machines.machine(name)
    if machine is None:
        raise invalid(f'Machine type with name "{name}" does not exist in zone "{pool.meta["zones"][0]}".')
    if not re.fullmatch(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", pool.name):
        raise invalid(f'Invalid value for field "node_pool.name": "{pool.name}": at most 40 of a-z, 0-9 and -.')
    if creating and "nodeCount" in props and props.get("initialNodeCount"):
        raise invalid(f"Cannot set both initial_node_count and node_count on node pool {pool.name}")
    if machine.hyperdisk_only and not props["nodeConfig"]["diskType"].startswith("hyperdisk"):
        disk = props["nodeConfig"]["diskType"]
        raise invalid(f"[{disk}] features are not compatible for creating instance with machine type {name}.")
    _service_account(cloud, pool)
    _scaling(props)
    _topology(cloud, pool, machine)
    _size(pool, machine)
    _capacity(pool, machine)


def _service_account(cloud: Cloud, pool: Record) -> None:
    email = pool.props["nodeConfig"].get("serviceAccount", "default")
    if email == "default" or email.endswith("developer.gserviceaccount.com"):
        return
    for account in cloud.store.all(ACCOUNT):
        if account.props["email"] == email and cloud.await_visible(account):
            return
    if email not in cloud.store.setting("foreign_accounts", []):
        raise invalid(f'Service account "{email}" does not exist.')


def _scaling(props: Props) -> None:
    scaling = props.get("autoscaling")
    if scaling is None:
        return
    per_zone = "maxNodeCount" in scaling or "minNodeCount" in scaling
    total = "totalMaxNodeCount" in scaling or "totalMinNodeCount" in scaling
    if per_zone and total:
        raise invalid("Node pool autoscaling takes per-zone or total limits, not both.")
    low = scaling.get("totalMinNodeCount" if total else "minNodeCount", 0)
    high = scaling.get("totalMaxNodeCount" if total else "maxNodeCount", 0)
    if high < 1 or low > high:
        raise invalid(
            f"Node pool autoscaling: max_node_count must be at least 1 and min_node_count, got {low}..{high}."
        )


def _topology(cloud: Cloud, pool: Record, machine: Machine) -> None:
    """The slice's shape, from the pool or its workload policy."""
    placement = pool.props.get("placementPolicy", {})
    topology = placement.get("tpuTopology")
    if placement.get("policyName"):
        region = region_of(pool.props["location"])
        path = f"projects/{pool.project}/regions/{region}/resourcePolicies/{tail(placement['policyName'])}"
        policy = cloud.store.get(POLICY, path)
        if policy is None:
            raise CloudError(404, f"The resource '{path}' was not found", "notFound")
        shape = policy.props.get("workloadPolicy", {}).get("acceleratorTopology")
        if topology and shape and topology != shape:
            raise invalid(f"Topology {topology} differs from {shape} of the workload policy {policy.name}.")
        topology = shape or topology
    elif placement and placement.get("type") != "COMPACT":
        raise invalid(f"Invalid placement policy type {placement.get('type')!r}: COMPACT, or a policy by name.")
    elif placement and machine.tpu is not None and machine.name.startswith("tpu7"):
        raise invalid(f"Machine type {machine.name} needs a workload policy by name, not a COMPACT placement.")
    if topology and machine.tpu is None:
        raise invalid(f"Machine type {machine.name} has no TPU: a TPU topology cannot be set.")
    pool.meta.pop("topology", None)
    pool.meta.pop("hosts", None)
    if topology and machine.tpu is not None:
        _slice(pool, machine, topology)


def _slice(pool: Record, machine: Machine, topology: str) -> None:
    assert machine.tpu is not None
    total = machines.chips(topology)
    if total is None or total % machine.tpu.chips or topology.count("x") != machine.tpu.single_host.count("x"):
        raise invalid(f"Invalid TPU topology {topology} for machine type {machine.name}.")
    hosts = total // machine.tpu.chips
    if hosts == 1:
        raise invalid(
            f"Topology {topology} is a single host of {machine.name}: a placement policy cannot be set for it."
        )
    if len(pool.meta["zones"]) != 1:
        raise invalid(f"A multi-host TPU node pool must be in exactly one zone, got {pool.meta['zones']}.")
    if pool.props.get("upgradeSettings", {}).get("strategy") == "BLUE_GREEN":
        raise invalid("Blue-green upgrades are not supported for multi-host TPU node pools.")
    pool.meta |= {"topology": topology, "hosts": hosts}


def _size(pool: Record, machine: Machine) -> None:
    props, hosts = pool.props, pool.meta.get("hosts")
    scaling = props.get("autoscaling", {})
    asked = int(props.get("nodeCount", 0))
    if hosts is not None:
        if "autoscaling" not in props and asked not in (0, hosts):
            raise invalid(f"Invalid number of nodes {asked}: topology {pool.meta['topology']} takes exactly {hosts}.")
        limits = {scaling.get(key) for key in ("maxNodeCount", "totalMaxNodeCount")} - {None}
        least = {scaling.get(key, 0) for key in ("minNodeCount", "totalMinNodeCount")}
        if "autoscaling" in props and (limits != {hosts} or not least <= {0, hosts}):
            raise invalid(f"A multi-host TPU node pool scales between 0 and {hosts} only, got {scaling}.")
    most = MOST_TPU_NODES if machine.tpu is not None else MOST_NODES
    if asked > most:
        raise invalid(f"Node pool {pool.name}: {asked} nodes per zone exceed the limit of {most}.")
    if not 8 <= props["maxPodsPerNode"] <= 256:
        raise invalid(f"Max pods constraint {props['maxPodsPerNode']} must be between 8 and 256.")


def _capacity(pool: Record, machine: Machine) -> None:
    """On-demand, spot, a reservation or flex-start: one of them."""
    config = pool.props["nodeConfig"]
    affinity = config.get("reservationAffinity", {})
    specific = affinity.get("consumeReservationType") == "SPECIFIC_RESERVATION"
    if specific and config.get("spot"):
        raise invalid("Spot VMs cannot consume reservations.")
    if specific:
        _reservation(pool, affinity)
    elif affinity.get("key") or affinity.get("values"):
        raise invalid("Reservation key and values need the type SPECIFIC_RESERVATION.")
    if config.get("flexStart"):
        _flex_start(pool, machine, specific)
    elif config.get("maxRunDuration") and not config.get("spot"):
        raise invalid("max_run_duration needs flex_start or spot.")


def _reservation(pool: Record, affinity: Props) -> None:
    values = affinity.get("values", [])
    found = _RESERVATION.fullmatch(values[0]) if len(values) == 1 else None
    if affinity.get("key") != "compute.googleapis.com/reservation-name" or found is None:
        raise invalid(
            f"Invalid reservation affinity {affinity}: one value R or projects/P/reservations/R[/reservationBlocks/B]."
        )
    pool.meta["reservation"] = found["name"]
    pool.meta["reservation_project"] = found["project"] or pool.project


def _flex_start(pool: Record, machine: Machine, reserved: bool) -> None:
    props, config = pool.props, pool.props["nodeConfig"]
    faults = {
        "machine type": machine.name in _NO_FLEX,
        "reservation": reserved,
        "spot": bool(config.get("spot")),
        "node_count without autoscaling": "autoscaling" not in props,
        "initial_node_count": bool(props.get("initialNodeCount")),
        "auto_repair": bool(props.get("management", {}).get("autoRepair", True)),
    }
    wrong = [name for name, refused in faults.items() if refused]
    if wrong:
        raise invalid(f"Node pool {pool.name}: flex-start does not go with: {', '.join(wrong)}.")
    seconds = config.get("maxRunDuration", "604800s")
    if not re.fullmatch(r"\d+s", seconds) or not 600 <= int(seconds[:-1]) <= 604_800:
        raise invalid(f"max_run_duration {seconds} must be between 600s and 604800s.")


def reserved_free(cloud: Cloud, pool: Record) -> int | None:
    """Hosts left in the pool's reservation; None without one. An unknown or unfitting one has none."""
    name = pool.meta.get("reservation")
    if name is None:
        return None
    entry = cloud.store.setting("reservations", {}).get(name)
    if entry is None or entry.get("project", pool.project) != pool.meta["reservation_project"]:
        return 0
    fits = {"machineType": pool.props["nodeConfig"].get("machineType"), "zone": pool.meta["zones"][0]}
    if any(entry.get(key, value) != value for key, value in fits.items()):
        return 0
    used = sum(
        len(other.meta.get("slots", []))
        for other in cloud.store.all(NODE_POOL)
        if other.meta.get("reservation") == name and other.id != pool.id
    )
    return int(entry["hosts"]) - used
