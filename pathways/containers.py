"""Which flags and variables of each Pathways container are ours, on any platform; the stack file may not set these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Role = Literal["resource_manager", "proxy", "worker", "user"]
"""The containers of a Pathways job that a stack file can add flags or environment to."""

SIDECAR_PORT = 50051
"""gRPC port of the colocated-python sidecar."""
SHARED_MEMORY_DIRECTORY = "/tmp/sidecar"  # noqa: S108  a mount point inside the containers
"""Where worker and sidecar mount the memory they share."""

MANAGED_FLAGS: Mapping[str, frozenset[str]] = {
    "resource_manager": frozenset(
        {"server_port", "node_type", "instance_count", "instance_type", "gcs_scratch_location", "enable_gcs_olm"}
    ),
    "proxy": frozenset(
        {
            "resource_manager_address",
            "server_port",
            "gcs_scratch_location",
            "num_elastic_slices",
            "num_elastic_instances",
            "sidecar_name",
        }
    ),
    "worker": frozenset(
        {
            "server_port",
            "resource_manager_address",
            "gcs_scratch_location",
            "enable_gcs_olm",
            "cloud_pathways_sidecar_shm_directory",
        }
    ),
}

ALL_MANAGED_FLAGS = frozenset[str]().union(*MANAGED_FLAGS.values())
"""Ours on any container: a server ends at once on a flag it does not know, so none may move to another."""

INDIRECT_FLAGS = frozenset({"flagfile", "fromenv", "tryfromenv", "undefok"})
"""Flags of every server that bring in other flags, or hide that one is unknown."""

REMOVED_FLAGS = frozenset(
    {
        "pathways_expected_instances",
        "pathways_tmp_dir_pattern",
        "pathways_compilation_mode",
        "pathways_persistent_compilation_cache",
        "pathways_device_type",
        "pathways_server_provides_devices",
        "pathways_resource_manager_expected_num_worker_jobs",
        "cluster_name",
        "project_id",
    }
)
"""Flags that public generators still emit and current servers refuse."""

MANAGED_ENV: Mapping[str, tuple[str, ...]] = {
    "resource_manager": ("HOST_ADDRESS", "REPLICATED_JOB_NAME", "JOBSET_NAME", "TPU_SKIP_MDS_QUERY"),
    "proxy": ("PATHWAYS_HEAD",),
    "worker": (
        "PATHWAYS_HEAD",
        "REPLICATED_JOB_NAME",
        "JOBSET_NAME",
        "MEGASCALE_NUM_SLICES",
        "MEGASCALE_SLICE_ID",
        "MEGASCALE_COORDINATOR_ADDRESS",
    ),
    "user": ("PATHWAYS_HEAD", "JAX_PLATFORMS", "JAX_BACKEND_TARGET", "XCLOUD_ENVIRONMENT"),
}

HOST_ENV = (
    "TPU_ACCELERATOR_TYPE",
    "TPU_CHIPS_PER_HOST_BOUNDS",
    "TPU_HOST_BOUNDS",
    "TPU_TOPOLOGY",
    "TPU_VISIBLE_CHIPS",
    "TPU_VISIBLE_DEVICES",
    "TPU_WORKER_HOSTNAMES",
    "TPU_WORKER_ID",
)
"""What GKE sets in each TPU pod by the host it is on; one value for all workers would be wrong on all but one."""

DEFAULT_ENV: Mapping[str, Mapping[str, str]] = {
    "resource_manager": {},
    "proxy": {},
    "worker": {
        # Works around a crash of the transport's tracer (xpk, pull request 375).
        "MEGASCALE_GRPC_ENABLE_XOR_TRACER": "false",
        "TPU_MIN_LOG_LEVEL": "0",
        "TF_CPP_MIN_LOG_LEVEL": "0",
        "XCLOUD_ENVIRONMENT": "GCP",
    },
    "user": {
        "ENABLE_PATHWAYS_PERSISTENCE": "1",
        # Cold TPU pools take minutes; the client's own default gives up after one.
        "PATHWAYS_PROXY_CONNECTION_TIMEOUT_SECS": "600",
        "PYTHONUNBUFFERED": "1",
    },
}
"""Variables that have a value of ours unless the stack file gives another."""
