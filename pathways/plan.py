"""The plan: everything that follows from a stack file, derived once, for components, manifests and outputs to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pathways.images import Image, RegistryRepository
from pathways.machines import CpuMachine, cpu_machine
from pathways.names import Names
from pathways.network_plan import SYSTEM_NODES, AddressNeeds, NetworkPlan, network_plan
from pathways.settings.platform import CreatedCluster, CreatedNetwork, ExistingCluster, ExistingScratch
from pathways.settings.stack import Settings
from pathways.settings.workload import Batch, Interactive
from pathways.topology import SliceShape

SERVER, PROXY = "server", "proxy_server"
"""Names of the two Pathways images in their repository."""
LABEL_TEAM, LABEL_ENVIRONMENT, LABEL_MANAGED_BY = "team", "environment", "managed-by"
HEAD_TAINT = "pathways/head"
"""Taint of the head's node, with the stack's prefix as value: only the head of that stack tolerates it."""
STACK_LABEL = "pathways/stack"
"""Node label with the stack's prefix: on a shared cluster it keeps one team's workers off another's slices."""


@dataclass(frozen=True)
class Plan:
    """What a valid stack file means. `settings` is the file; everything else follows from it."""

    settings: Settings

    @cached_property
    def names(self) -> Names:
        """Physical names."""
        return names_of(self.settings)

    @cached_property
    def shape(self) -> SliceShape:
        """Shape of each slice."""
        return self.settings.slices.shape

    @property
    def slice_count(self) -> int:
        """Slices, which is also node pools and replicas of the worker job."""
        return self.settings.slices.count

    @property
    def hosts(self) -> int:
        """TPU VMs of all slices."""
        return self.slice_count * self.shape.hosts

    @property
    def chips(self) -> int:
        """TPU chips of all slices."""
        return self.slice_count * self.shape.chips

    @property
    def worker_backoff(self) -> int:
        """Pod failures after which a slice's job has failed: hosts × maxSliceRestarts."""
        return self.shape.hosts * self.settings.runtime.max_slice_restarts

    @cached_property
    def head_machine(self) -> CpuMachine:
        """The head's machine."""
        machine = cpu_machine(self.settings.head.machine_type)
        assert machine is not None  # noqa: S101  the settings refuse unknown ones
        return machine

    @property
    def protect(self) -> bool:
        """Whether the cluster refuses to be deleted, in Pulumi and in GKE alike: by the file, else in prod."""
        cluster = self.settings.cluster
        chosen = cluster.deletion_protection if isinstance(cluster, CreatedCluster) else None
        return self.settings.environment == "prod" if chosen is None else chosen

    @property
    def labels(self) -> dict[str, str]:
        """Labels on everything that can carry them."""
        s = self.settings
        return {LABEL_TEAM: s.team, LABEL_ENVIRONMENT: s.environment, LABEL_MANAGED_BY: "pulumi"}

    @cached_property
    def images(self) -> dict[str, str]:
        """Image of each container: server, proxy, and sidecar and user where there are any."""
        s, tag = self.settings, f"jax-{self.settings.runtime.jax_version}"
        images, sidecar = s.runtime.images, s.runtime.colocated_python
        found = {
            "server": images.server or f"{images.repository}/{SERVER}:{tag}",
            "proxy": images.proxy or f"{images.repository}/{PROXY}:{tag}",
        }
        if sidecar:
            found["sidecar"] = sidecar.image or images.colocated_python or ""
        if isinstance(s.workload, Batch):
            found["user"] = s.workload.image
        return found

    @property
    def bucket(self) -> str:
        """Name of the scratch bucket."""
        scratch = self.settings.scratch
        return scratch.existing if isinstance(scratch, ExistingScratch) else self.names.bucket

    @property
    def scratch_location(self) -> str:
        """Where the servers write: `gs://BUCKET/PREFIX`."""
        return f"gs://{self.bucket}/{self.settings.scratch.prefix}"

    @cached_property
    def addresses(self) -> AddressNeeds:
        """Node and pod addresses the pools take."""
        return address_needs(self.settings)

    @cached_property
    def network(self) -> NetworkPlan | None:
        """Ranges of the created network, or None where the network exists."""
        s = self.settings
        if not isinstance(s.network, CreatedNetwork) or isinstance(s.cluster, ExistingCluster):
            return None
        return network_plan(self.addresses, s.network.nodes, s.network.pods, s.network.services)

    @property
    def cluster_location(self) -> str:
        """Region of the created cluster, or where the existing one is."""
        cluster = self.settings.cluster
        return cluster.existing.location if isinstance(cluster, ExistingCluster) else self.settings.region

    @property
    def cluster_name(self) -> str:
        """Name of the cluster, created or existing."""
        cluster = self.settings.cluster
        return cluster.existing.name if isinstance(cluster, ExistingCluster) else self.names.cluster

    @property
    def cluster_identifier(self) -> str:
        """`project/location/name`: what tells the Kubernetes provider one cluster from another, in plain text."""
        return f"{self.settings.project}/{self.cluster_location}/{self.cluster_name}"

    @property
    def workload_pool(self) -> str:
        """Workload Identity pool of the project."""
        return f"{self.settings.project}.svc.id.goog"

    @property
    def vpc_dns_domain(self) -> str | None:
        """Domain under which the cluster's headless Services resolve in the VPC, where `access: dns` asks for it."""
        return f"{self.names.prefix}.pathways" if self.outside_clients == "dns" else None

    @property
    def outside_clients(self) -> Literal["none", "load-balancer", "dns"]:
        """How clients outside the cluster reach the proxy, if the network has to let them in."""
        workload = self.settings.workload
        if not isinstance(workload, Interactive) or workload.access == "port-forward":
            return "none"
        return "dns" if workload.access == "dns" else "load-balancer"

    @property
    def client_range(self) -> str | None:
        """The range that outside clients are let in from, where it is known before an `up`: a created network's."""
        return str(self.network.nodes) if self.network and self.outside_clients != "none" else None

    @property
    def workload_policy(self) -> str | None:
        """Name of the placement policy that multi-host slices of some generations need, else None."""
        generation = self.settings.slices.generation
        if not self.shape.multi_host or generation.multi_host_placement != "workload-policy":
            return None
        return self.names.workload_policy(generation.accelerator, self.shape.topology)

    @property
    def totals(self) -> dict[str, object]:
        """What the stack adds up to, as the output `totals`."""
        needs, network = self.addresses, self.network
        nodes, pods = {"used": needs.nodes}, {"used": needs.pods}
        if network:
            nodes["available"], pods["available"] = network.node_addresses, network.pod_addresses
        return {
            "slices": self.slice_count,
            "hosts": self.hosts,
            "chips": self.chips,
            "headVcpu": self.head_machine.vcpu,
            "nodeAddresses": nodes,
            "podAddresses": pods,
        }


def derive(settings: Settings) -> Plan:
    """The plan of a valid stack file."""
    return Plan(settings)


def names_of(settings: Settings) -> Names:
    """The names of a stack."""
    return Names(settings.project, settings.prefix, settings.workload.name)


def address_needs(settings: Settings) -> AddressNeeds:
    """Addresses that the pools of a stack take; an existing cluster has its system pool already."""
    system = 0 if isinstance(settings.cluster, ExistingCluster) else SYSTEM_NODES
    return AddressNeeds(settings.slices.count * settings.slices.shape.hosts, settings.slices.max_pods_per_node, system)


def images_of(settings: Settings) -> Iterator[tuple[str, str]]:
    """The images a stack file names itself, each with its key; each is read after those before it are dealt with."""
    images = settings.runtime.images
    if images.server:
        yield "runtime.images.server", images.server
    if images.proxy:
        yield "runtime.images.proxy", images.proxy
    if images.colocated_python:
        yield "runtime.images.colocatedPython", images.colocated_python
    if settings.runtime.colocated_python and settings.runtime.colocated_python.image:
        yield "runtime.colocatedPython.image", settings.runtime.colocated_python.image
    if isinstance(settings.workload, Batch):
        yield "workload.image", settings.workload.image


def repositories_of(plan: Plan) -> list[tuple[str, str, str]]:
    """The Artifact Registry repositories the images come from: (project, location, repository), sorted, each once."""
    found = set()
    for reference in plan.images.values():
        repository = RegistryRepository.of(Image.parse(reference).repository)
        if repository:
            found.add((repository.project, repository.location, repository.name))
    return sorted(found)
