"""The command lines of the Pathways servers, the same on every platform but for one flag."""

from __future__ import annotations

from typing import Literal

from pathways.containers import SHARED_MEMORY_DIRECTORY
from pathways.plan import Plan

Platform = Literal["gke", "slurm"]

# The stack owns the bucket's lifecycle; a server that writes rules of its own needs more rights and fights the stack.
_NO_LIFECYCLE = "--enable_gcs_olm=false"
# The same flag under two names: Pathways on GKE counts slices, on Cluster Director instances.
_ELASTIC: dict[Platform, str] = {"gke": "num_elastic_slices", "slurm": "num_elastic_instances"}


def resource_manager_flags(plan: Plan) -> list[str]:
    """Flags of the resource manager."""
    runtime = plan.settings.runtime
    return [
        f"--server_port={runtime.ports.resource_manager}",
        "--node_type=resource_manager",
        f"--instance_count={plan.slice_count}",
        f"--instance_type={plan.shape.instance_type}",
        f"--gcs_scratch_location={plan.scratch_location}",
        _NO_LIFECYCLE,
        *runtime.flags.resource_manager,
    ]


def proxy_flags(plan: Plan, head: str, platform: Platform) -> list[str]:
    """Flags of the IFRT proxy; `head` is the resource manager's host, or the variable that holds it."""
    runtime = plan.settings.runtime
    elastic = [f"--{_ELASTIC[platform]}={runtime.elastic_slices}"] if runtime.elastic_slices else []
    sidecar = ["--sidecar_name=external"] if runtime.colocated_python else []
    return [
        f"--resource_manager_address={head}:{runtime.ports.resource_manager}",
        f"--server_port={runtime.ports.proxy}",
        f"--gcs_scratch_location={plan.scratch_location}",
        *elastic,
        *sidecar,
        *runtime.flags.proxy,
    ]


def worker_flags(plan: Plan, head: str) -> list[str]:
    """Flags of a worker; `head` is the resource manager's host, or the variable that holds it."""
    runtime = plan.settings.runtime
    sidecar = [f"--cloud_pathways_sidecar_shm_directory={SHARED_MEMORY_DIRECTORY}"] if runtime.colocated_python else []
    return [
        f"--server_port={runtime.ports.worker}",
        f"--resource_manager_address={head}:{runtime.ports.resource_manager}",
        f"--gcs_scratch_location={plan.scratch_location}",
        _NO_LIFECYCLE,
        *sidecar,
        *runtime.flags.worker,
    ]
