"""Every physical name of a stack, in one place, and the length each may have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pathways.errors import Problem

HEAD_JOB = "pathways-head"
WORKER_JOB = "worker"
LABEL_BUDGET = 63
"""Kubernetes label values and pod names, and Cloud Storage bucket names (bytes)."""
_POD_SUFFIX = "-xxxxx"
JOB_SET_NAME_BUDGET = (LABEL_BUDGET - len(f"-{HEAD_JOB}-0-0.")) // 2
"""22: the coordinator label is `<js>-pathways-head-0-0.<js>`, since the subdomain defaults to the JobSet's name."""
POOL_BUDGET = 40
"""GKE clusters and node pools."""
BUCKET_WITHOUT_GOOGLE = r"(?!goog)(?!.*g[o0]{2}g[l1]e)"
"""Beginning of the pattern of a bucket's name: Cloud Storage refuses its owner's, and what looks like it."""
SERVICE_ACCOUNT_BUDGET = 30


@dataclass(frozen=True)
class Names:
    """The names of one stack; `prefix` is `<team>-<environment>`, unique in a project."""

    project: str
    prefix: str
    job_set: str

    @property
    def cluster(self) -> str:
        """GKE cluster."""
        return self.prefix

    @property
    def network(self) -> str:
        """VPC network; router, NAT and subnet add their role."""
        return self.prefix

    @property
    def subnetwork(self) -> str:
        """Subnet of the nodes."""
        return f"{self.prefix}-nodes"

    @property
    def router(self) -> str:
        """Cloud Router."""
        return f"{self.prefix}-router"

    @property
    def nat(self) -> str:
        """Cloud NAT."""
        return f"{self.prefix}-nat"

    @property
    def pod_range(self) -> str:
        """Secondary range of the pods."""
        return f"{self.prefix}-pods"

    @property
    def service_range(self) -> str:
        """Secondary range of the services."""
        return f"{self.prefix}-services"

    @property
    def system_pool(self) -> str:
        """Node pool of kube-system and the operators."""
        return f"{self.prefix}-system"

    @property
    def head_pool(self) -> str:
        """Node pool of the head."""
        return f"{self.prefix}-head"

    def slice_pool(self, index: int) -> str:
        """Node pool of slice `index`, from 0; it does not carry the shape, so that a shape can change under it."""
        return f"{self.prefix}-slice-{index}"

    def workload_policy(self, accelerator: str, topology: str) -> str:
        """Placement policy of a topology: policies cannot be changed, so another shape needs another name."""
        return f"{self.prefix}-{accelerator}-{topology}"

    @property
    def node_service_account(self) -> str:
        """Account id of the nodes' service account."""
        return f"{self.prefix}-nodes"

    @property
    def bucket(self) -> str:
        """Scratch bucket; bucket names are global, so the project is part of it."""
        return f"{self.project}-{self.prefix}-scratch"

    @property
    def namespace(self) -> str:
        """Kubernetes namespace."""
        return self.prefix

    @property
    def service_account(self) -> str:
        """Kubernetes service account; rights are bound to namespace and name, so the namespace is the team's own."""
        return "pathways"

    @property
    def proxy_service(self) -> str:
        """Service in front of the proxy, with internal load balancing."""
        return f"{self.job_set}-proxy"

    @property
    def head_host(self) -> str:
        """Host name of the head pod inside its namespace; also the coordinator label."""
        return f"{self.job_set}-{HEAD_JOB}-0-0.{self.job_set}"

    def longest_worker_pod(self, slices: int, hosts: int) -> str:
        """The longest pod name a worker job can have."""
        return f"{self.job_set}-{WORKER_JOB}-{slices - 1}-{hosts - 1}{_POD_SUFFIX}"

    def problems(self, slices: int, hosts: int, topology: str, accelerator: str) -> Iterator[Problem]:
        """The rendered names that are too long or not allowed, each as a fault of the key to change."""
        pod, label = self.longest_worker_pod(slices, hosts), self.head_host
        checks = (
            ("workload.name", "coordinator label", label, LABEL_BUDGET),
            ("workload.name", "name of the last worker pod", pod, LABEL_BUDGET),
            ("team", "node pool", self.slice_pool(slices - 1), POOL_BUDGET),
            ("team", "service account id", self.node_service_account, SERVICE_ACCOUNT_BUDGET),
            ("team", "bucket", self.bucket, LABEL_BUDGET),
            ("team", "workload policy", self.workload_policy(accelerator, topology), LABEL_BUDGET),
        )
        for key, what, name, budget in checks:
            if len(name) > budget:
                over = len(name) - budget
                yield Problem(
                    key,
                    f"the {what} {name} has {len(name)} characters",
                    f"at most {budget} are allowed",
                    f"shorten it by {over}",
                )
        if not re.match(BUCKET_WITHOUT_GOOGLE, self.bucket):
            by_project = not re.match(BUCKET_WITHOUT_GOOGLE, self.project)
            yield Problem(
                "gcp:project" if by_project else "team",
                f"the bucket name {self.bucket} holds 'google', or what looks like it",
                "Cloud Storage refuses such names",
                "use scratch.existing" if by_project else "write another team or use scratch.existing",
            )
