"""The whole stack: which components there are, and what each waits for."""

from typing import Any

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as kubernetes
from pulumi import InvokeOutputOptions, Output, ResourceOptions

from components.cluster import Cluster, ClusterHandle, existing_cluster
from components.common import Place
from components.identity import BucketAccess, NodeIdentity, workload_principal
from components.lookup import Lookup
from components.network import Network, Subnet, existing_subnet
from components.operators import Operators
from components.placement import SlicePlacement
from components.pools import HeadPool, SystemPool, TpuSlices
from components.protection import Protection
from components.scratch import ScratchBucket, existing_bucket
from components.services import ProjectServices
from components.workload import ProxyDoor, Tenancy, Workload
from pathways.client import client_environment, connect_commands, console_links, proxy_host, reached_at
from pathways.machines import system_machine
from pathways.plan import Plan, repositories_of
from pathways.settings.platform import CreatedCluster, CreatedScratch, ExistingNetwork


class PathwaysStack(pulumi.ComponentResource):
    """Pathways on GKE, from the project's APIs to the running job."""

    outputs: dict[str, Any]

    def __init__(self, name: str, plan: Plan, *, file: str, opts: ResourceOptions | None = None) -> None:
        """Create everything the plan of the stack file `file` has; `outputs` is what the program exports."""
        super().__init__("pathways:index:PathwaysStack", name, {}, opts)
        self._plan, self._file = plan, file
        self._place = Place(
            project=plan.settings.project, region=plan.settings.region, zone=plan.settings.zone, labels=plan.labels
        )
        self._google = gcp.Provider(
            "google",
            project=plan.settings.project,
            region=plan.settings.region,
            zone=plan.settings.zone,
            default_labels=plan.labels,
            opts=ResourceOptions(parent=self),
        )
        self.outputs = self._build()
        self.register_outputs({})

    def _build(self) -> dict[str, Any]:
        plan, place = self._plan, self._place
        services = ProjectServices("services", place, opts=self._options())
        subnet, network = self._subnet(services)
        repositories = [(where, name) for project, where, name in repositories_of(plan) if project == place.project]
        nodes = NodeIdentity("nodes", place, plan.names, repositories=repositories, opts=self._options(services))
        bucket, scratch = self._bucket(services)
        placement = self._placement(services)
        # The bucket too: a deletion ends at it, and by then the cluster has to be gone with all that goes with it.
        before: list[pulumi.Resource] = [services, nodes, *scratch, *([placement] if placement else [])]
        cluster, system = self._cluster(subnet, nodes, before, network)
        on_cluster: dict[str, Any] = {
            "cluster": cluster,
            "node_service_account": nodes.email,
            "pod_range": subnet.pod_range if subnet and isinstance(plan.settings.network, ExistingNetwork) else None,
        }
        in_cluster = self._kubernetes("kubernetes", cluster)
        # A pool that is replaced has the JobSet deleted first; the engine can do that only once it knows the provider.
        waiting = self._options(nodes, *system, in_cluster)
        head = HeadPool("head", place, plan, **on_cluster, opts=waiting)
        policy = placement.policy if placement else None
        slices = TpuSlices("slices", place, plan, **on_cluster, policy=policy, opts=waiting)
        access = self._bucket_access(services, bucket, nodes, cluster)
        operators = self._operators(in_cluster, cluster, system)
        outside = plan.outside_clients != "none"
        client_range = subnet.client_range if subnet and outside else None
        inside = self._inside(in_cluster, cluster)
        tenancy = Tenancy("tenancy", plan, client_range=client_range, opts=inside)
        awaited = [head, slices, access, tenancy, *operators]
        options = ResourceOptions.merge(inside, ResourceOptions(depends_on=awaited))
        workload = Workload("workload", plan, pools=[head.pool, *slices.pools], opts=options)
        address: pulumi.Input[str] = proxy_host(plan)
        last: list[pulumi.Resource] = [workload]
        if plan.outside_clients == "load-balancer" and client_range is not None:
            # Not `inside`: what it owns outside the cluster would stay behind if its deletion were skipped.
            with_cluster: list[pulumi.Resource] | None = [cluster.resource] if cluster.resource else None
            options = ResourceOptions(
                parent=self, providers=[in_cluster], depends_on=[tenancy], replace_with=with_cluster
            )
            door = ProxyDoor("door", plan, client_range=client_range, opts=options)
            address, last = door.address, [workload, door]
        Protection("protection", protect=plan.protect, awaited=last, parent=self)
        return self._outputs(cluster, bucket, slices, workload, address)

    def _options(self, *awaited: pulumi.Resource) -> ResourceOptions:
        """Options of a component of Google resources."""
        return ResourceOptions(parent=self, providers=[self._google], depends_on=list(awaited))

    def _lookup(self, *awaited: pulumi.Resource) -> Lookup:
        opts = InvokeOutputOptions(parent=self, provider=self._google, depends_on=list(awaited))
        return Lookup(file=self._file, opts=opts)

    def _subnet(self, services: ProjectServices) -> tuple[Subnet | None, list[Network]]:
        """The network, created or looked up; None for that of an existing cluster which nobody named."""
        settings, plan = self._plan.settings.network, self._plan.network
        if isinstance(settings, ExistingNetwork):
            return existing_subnet(self._place, settings.existing, self._lookup()), []
        if plan is None:
            return None, []
        names, options = self._plan.names, self._options(services)
        network = Network("network", self._place, names, plan, mtu=settings.mtu, opts=options)
        return network.subnet, [network]

    def _bucket(self, services: ProjectServices) -> tuple[Output[str], list[ScratchBucket]]:
        """The bucket's name, and the bucket where it is ours."""
        scratch = self._plan.settings.scratch
        if isinstance(scratch, CreatedScratch):
            name, options = self._plan.bucket, self._options(services)
            made = ScratchBucket("scratch", self._place, scratch, bucket_name=name, opts=options)
            return made.bucket, [made]
        return existing_bucket(scratch.existing, self._place.region, self._lookup()), []

    def _placement(self, services: ProjectServices) -> SlicePlacement | None:
        """The workload policy of the slices, where their generation needs one."""
        name, topology = self._plan.workload_policy, self._plan.shape.topology
        if name is None:
            return None
        options = self._options(services)
        return SlicePlacement("placement", self._place, policy_name=name, topology=topology, opts=options)

    def _cluster(
        self, subnet: Subnet | None, nodes: NodeIdentity, awaited: list[pulumi.Resource], network: list[Network]
    ) -> tuple[ClusterHandle, list[SystemPool]]:
        """The cluster and, where it is ours, its system pool, whose nodes need the way out of the whole network."""
        settings, place, plan = self._plan.settings.cluster, self._place, self._plan
        if not isinstance(settings, CreatedCluster) or subnet is None:
            return existing_cluster(plan, self._lookup()), []
        account = nodes.email
        cluster = Cluster(
            "cluster",
            place,
            plan,
            settings,
            subnet=subnet,
            node_service_account=account,
            opts=self._options(*awaited),
        ).handle
        machine = system_machine()
        options = self._options(nodes, *network)
        pool = SystemPool("system", place, plan, machine, cluster=cluster, node_service_account=account, opts=options)
        return cluster, [pool]

    def _bucket_access(
        self, services: ProjectServices, bucket: Output[str], nodes: NodeIdentity, cluster: ClusterHandle
    ) -> BucketAccess:
        """Bucket roles of whom the pods act as: their service account, or under host network the node's."""
        if self._plan.settings.runtime.host_network:
            return BucketAccess("access", bucket=bucket, member=nodes.member, opts=self._options())
        # The project's number can be asked for only once the API that tells it is on.
        number = self._lookup(services)
        principal = workload_principal(self._place, self._plan.names, self._plan.workload_pool, number)
        # The workload identity pool exists only once a cluster of the project has it.
        awaited = [cluster.resource] if cluster.resource else []
        return BucketAccess("access", bucket=bucket, member=principal, opts=self._options(*awaited))

    def _kubernetes(self, name: str, cluster: ClusterHandle, **options: Any) -> kubernetes.Provider:
        """A Kubernetes provider that is never replaced while project, location and name stay the same."""
        return kubernetes.Provider(
            name,
            kubeconfig=cluster.kubeconfig,
            cluster_identifier=self._plan.cluster_identifier,
            **options,
            opts=ResourceOptions(parent=self),
        )

    def _inside(self, provider: kubernetes.Provider, cluster: ClusterHandle) -> ResourceOptions:
        """Options of a component of objects that go with the cluster."""
        return ResourceOptions(parent=self, providers=[provider], deleted_with=cluster.resource)

    def _operators(
        self, provider: kubernetes.Provider, cluster: ClusterHandle, system: list[SystemPool]
    ) -> list[Operators]:
        settings = self._plan.settings.operators.jobset
        if not settings.install:
            return []
        # A provider apart, since only the CRD may be taken over from whoever left it.
        crds = self._kubernetes("kubernetes-crds", cluster, upsert_existing_objects=True)
        options = ResourceOptions.merge(self._inside(provider, cluster), ResourceOptions(depends_on=system))
        return [Operators("operators", self._plan, settings, crd_provider=crds, opts=options)]

    def _outputs(
        self, cluster: ClusterHandle, bucket: Output[str], slices: TpuSlices, job: Workload, address: pulumi.Input[str]
    ) -> dict[str, Any]:
        plan, port = self._plan, self._plan.settings.runtime.ports.proxy
        shape = {"topology": plan.shape.topology, "hosts": plan.shape.hosts, "chips": plan.shape.chips}
        host = reached_at(plan) or address
        return {
            "clusterName": cluster.name,
            "location": cluster.location,
            "namespace": job.metadata["namespace"],
            "jobSetName": job.metadata["name"],
            "proxyAddress": Output.concat(address, f":{port}"),
            "jaxEnvironment": Output.from_input(host).apply(lambda at: client_environment(at, port)),
            "scratchLocation": Output.concat("gs://", bucket, f"/{plan.settings.scratch.prefix}"),
            "slices": [{"pool": pool.name, **shape} for pool in slices.pools],
            "totals": plan.totals,
            "connect": connect_commands(plan),
            "links": console_links(plan),
        }
