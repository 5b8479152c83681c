from __future__ import annotations

from pathways.containers import MANAGED_FLAGS
from pathways.flags import proxy_flags, resource_manager_flags, worker_flags
from tests.pathways.support import plan

FULL = {
    "runtime": {
        "ports": {"proxy": 30000, "resourceManager": 30001, "worker": 30005},
        "elasticSlices": 1,
        "colocatedPython": {"image": "a/sidecar:jax-0.11.1"},
        "flags": {"resourceManager": ["--a=1"], "proxy": ["--xla_b=2"], "worker": ["--megascale_c=3"]},
    },
    "scratch": {"existing": "bucket", "prefix": "p/q"},
}
SCRATCH = "--gcs_scratch_location=gs://bucket/p/q"


def test_command_lines() -> None:
    made = plan(FULL)
    assert resource_manager_flags(made) == [
        *("--server_port=30001", "--node_type=resource_manager", "--instance_count=2", "--instance_type=tpuv6e:4x4"),
        *(SCRATCH, "--enable_gcs_olm=false", "--a=1"),
    ]
    assert proxy_flags(made, "head", "gke") == [
        *("--resource_manager_address=head:30001", "--server_port=30000", SCRATCH),
        *("--num_elastic_slices=1", "--sidecar_name=external", "--xla_b=2"),
    ]
    assert worker_flags(made, "head") == [
        *("--server_port=30005", "--resource_manager_address=head:30001", SCRATCH, "--enable_gcs_olm=false"),
        *("--cloud_pathways_sidecar_shm_directory=/tmp/sidecar", "--megascale_c=3"),
    ]
    assert "--num_elastic_instances=1" in proxy_flags(made, "head", "slurm")


def test_what_is_not_asked_for_is_not_there() -> None:
    words = " ".join(proxy_flags(plan(), "head", "gke") + worker_flags(plan(), "head"))
    assert "elastic" not in words
    assert "sidecar" not in words


def test_every_flag_of_ours_is_managed() -> None:
    made = plan(FULL)
    lines = {
        "resource_manager": resource_manager_flags(made)[:-1],
        "proxy": proxy_flags(made, "head", "gke")[:-1],
        "worker": worker_flags(made, "head")[:-1],
    }
    for role, flags in lines.items():
        assert {flag.removeprefix("--").partition("=")[0] for flag in flags} <= MANAGED_FLAGS[role]
