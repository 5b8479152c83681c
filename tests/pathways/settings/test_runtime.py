from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pathways.containers import ALL_MANAGED_FLAGS, HOST_ENV, INDIRECT_FLAGS, MANAGED_ENV, REMOVED_FLAGS
from pathways.settings.runtime import references
from tests.pathways.support import Refused, check_refused, faults, no

ROLES = {"resource_manager": "resourceManager", "proxy": "proxy", "worker": "worker"}


def runtime(**values: Any) -> dict[str, Any]:
    return {"runtime": values}


def flags(role: str, *values: Any) -> dict[str, Any]:
    return runtime(flags={role: list(values)})


def env(role: str, **values: Any) -> dict[str, Any]:
    return runtime(env={role: values})


@pytest.mark.parametrize(
    "case",
    [
        no(
            "head.machineType", {"head": {"machineType": "n2-standard-65"}}, "not a known CPU machine", "n2-standard-64"
        ),
        no("head.machineType", {"head": {"machineType": "n2-standard-٦٤"}}, "not a known CPU machine"),
        no("head.machineType", {"head": {"machineType": "ct6e-standard-4t"}}, "e2, n2, n2d, n4 or c3"),
        no("head.machine", {"head": {"machine": "n2-standard-64"}}, "unknown key", "did you mean machineType?"),
        no("runtime.jaxVersion", runtime(jaxVersion="0.11"), "three numbers", "write for example 0.11.1"),
        no("runtime.jaxVersion", runtime(jaxVersion=0.11), "a number (0.11)", '"0.11.1"'),
        no("runtime.jaxVersion", runtime(jaxVersion="0.11.1.dev0"), "three numbers"),
        no("runtime.jaxVersion", runtime(jaxVersion="٠.١.٢"), "three numbers"),
        no("runtime.jaxVersion", runtime(jaxVersion="0.11.99999"), "three numbers"),
        no("runtime.jaxVersion", runtime(jaxVersion="00.11.1"), "without leading zeros"),
        no("runtime.ports.proxy", runtime(ports={"proxy": 0}), "0 is out of range", "from 1 to 65535", "29000"),
        no("runtime.ports.proxy", runtime(ports={"proxy": 65536}), "65536 is out of range"),
        no("runtime.ports.worker", runtime(ports={"worker": 65535}), "from 1 to 65534"),
        no("runtime.ports.resourceManager", runtime(ports={"resourceManager": 65535}), "from 1 to 65534"),
        no("runtime.ports.worker", runtime(ports={"worker": "29001"}), "text (29001)", "write 29001, without quotes"),
        no("runtime.hostNetwork", runtime(hostNetwork="true"), "text (true)", "write true, without quotes"),
        no("runtime.hostNetwork", runtime(hostNetwork="false"), "write false, without quotes"),
        no("runtime.hostNetwork", runtime(hostNetwork=1), "a number (1)", "true or false"),
        no("runtime.hostNetwork", runtime(hostNetwork="yes"), "text (yes)", "true or false"),
        no("runtime.elasticSlices", runtime(elasticSlices=-1), "-1 is out of range", "from 0 to 1024"),
        no("runtime.maxRestarts", runtime(maxRestarts=-1), "from 0 to 1000"),
        no("runtime.maxSliceRestarts", runtime(maxSliceRestarts=0), "from 1 to 10000"),
        no("runtime.images.repository", runtime(images={"repository": "host/path:tag"}), "without tag"),
        no("runtime.images.repository", runtime(images={"repository": "host/path/"}), "trailing slash"),
        no("runtime.images.server", runtime(images={"server": None}), "has no value (null)", "remove server"),
        no("runtime.images.server", runtime(images={"server": "a b:jax-0.11.1"}), "without blanks"),
        no(
            "runtime.images.repository",
            runtime(images={"repository": "us-docker.pkg.dev/pathways"}),
            *("names no repository of Artifact Registry", "PROJECT/REPOSITORY"),
        ),
        no(
            "runtime.images.server", runtime(images={"server": "us-docker.pkg.dev/s:jax-0.11.1"}), "names no repository"
        ),
        no(
            "runtime.images.server",
            runtime(images={"server": "us-docker.pkg.dev/p/s:jax-0.11.1"}),
            "and no image in it",
        ),
        no("runtime.images.pullSecret", runtime(images={"pullSecret": "My_Secret"}), "write my-secret"),
        no("runtime.images.pullSecret", runtime(images={"pullSecret": "a..b"}), "a DNS name"),
        no("runtime.images.pullSecret", runtime(images={"pullSecret": "a.-b"}), "a DNS name"),
        no("runtime.images.allowMutableTags", runtime(images={"allowMutableTags": "true"}), "without quotes"),
        no("runtime.colocatedPython", runtime(colocatedPython=None), "has no value (null)", "remove colocatedPython"),
        no("runtime.colocatedPython", runtime(colocatedPython=True), "true or false (true)", "a map"),
        no(
            "runtime.colocatedPython.sharedMemory",
            runtime(colocatedPython={"image": "s:jax-0.11.1", "sharedMemory": "64"}),
            *("its unit", "write for example"),
        ),
        no(
            "runtime.flags.proxy",
            flags("proxy", "xla_a=1"),
            "xla_a=1 is not a flag",
            "--name=value",
            "write for example",
        ),
        no("runtime.flags.proxy", flags("proxy", "-server_port=1"), "is not a flag"),
        no("runtime.flags.proxy", flags("proxy", "--"), "is not a flag"),
        no("runtime.flags.proxy", flags("proxy", "--a b"), "is not a flag"),
        no("runtime.flags.proxy", flags("proxy", "--a\n--server_port=1"), "is not a flag"),
        no("runtime.flags.proxy", flags("proxy", ""), "is not a flag"),
        no("runtime.flags.proxy", flags("proxy", "--xla_a=1", "--xla_a=2"), "stands 2 times", "keep one"),
        no("runtime.flags.proxy", flags("proxy", "--server_port=1"), "set by the stack", "remove --server_port"),
        no("runtime.flags.proxy", flags("proxy", "--noenable_gcs_olm"), "set by the stack"),
        no("runtime.flags.proxy", flags("proxy", "--enable_gcs_olm=false"), "set by the stack"),
        no("runtime.flags.worker", flags("worker", "--node_type=worker"), "set by the stack"),
        no("runtime.flags.worker", flags("worker", "--xla_a=1"), "belongs on the proxy", "runtime.flags.proxy"),
        no("runtime.flags.worker", flags("worker", "--noxla_a"), "belongs on the proxy"),
        no("runtime.flags.proxy", flags("proxy", "--megascale_a=1"), "belongs on the worker", "runtime.flags.worker"),
        no("runtime.flags.resourceManager", flags("resourceManager", "--megascale_a=1"), "belongs on the worker"),
        no("runtime.flags.worker[0]", flags("worker", "--a=\0"), "no NUL"),
        no("runtime.flags.proxy[0]", flags("proxy", 1), "a number (1)", "text"),
        no("runtime.flags.proxy", runtime(flags={"proxy": "--a=1"}), "text (--a=1)", "a list"),
        no("runtime.flags.user", runtime(flags={"user": []}), "unknown key (user)", "resourceManager, proxy, worker"),
        no("runtime.env.worker", env("worker", A="$(B)"), "$(B) in A is not declared", "declare B above A"),
        no("runtime.env.worker", env("worker", TPU_MIN_LOG_LEVEL="$(TPU_MIN_LOG_LEVEL)"), "is not declared before"),
        no("runtime.env.resourceManager", env("resourceManager", A="$(PATHWAYS_HEAD)"), "is not declared"),
        no("runtime.env.proxy", env("proxy", ABSL_FLAGS="--vmodule=a=1 --server_port=1"), "--server_port is set by"),
        no("runtime.env.worker", env("worker", ABSL_FLAGS="--xla_a=1"), "belongs on the proxy"),
        no("runtime.env.worker.A", env("worker", A=1), "a number (1)", "text"),
        no("runtime.env.worker.a-b", env("worker", **{"a-b": "1"}), "letters, digits and _"),
        *(
            no(f"runtime.flags.{role}", flags(role, f"--{flag}=x"), f"--{flag} ", f"remove --{flag}")
            for role in ROLES.values()
            for flag in sorted(ALL_MANAGED_FLAGS | REMOVED_FLAGS | INDIRECT_FLAGS)
        ),
        *(
            no(
                "runtime.env.worker",
                env("worker", **{name: "0"}),
                f"{name} is set by GKE on each host",
                f"remove {name}",
            )
            for name in HOST_ENV
        ),
        no("runtime.flags.proxy", flags("proxy", "--xla_a=1 --xla_b=2"), "holds several flags", "one item for each"),
        *(
            no(f"runtime.env.{ROLES[role]}", env(ROLES[role], **{name: "x"}), f"{name} is set by", f"remove {name}")
            for role in ROLES
            for name in MANAGED_ENV[role]
        ),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        runtime(jaxVersion="1.0.0"),
        runtime(maxRestarts=1000, maxSliceRestarts=1, elasticSlices=0, hostNetwork=False),
        runtime(images={"repository": "mirror.acme.com:5000/pathways", "pullSecret": "registry.credentials-1"}),
        flags("proxy", "--xla_tpu_scoped_vmem_limit_kib=98304", "--noshow", "--vmodule=a=1,b=2", "--virtual_slices=x"),
        flags("worker", "--megascale_grpc_premap_memory_bytes=17179869184", "--tpu_premapped_buffer_size=1024"),
        *(flags(role, "--xla_tpu_use_enhanced_launch_barrier=true") for role in ROLES.values()),
        flags("proxy", "--text=a -- b --1"),
        flags("proxy", "--temporary_flags_for_debugging=a=b;;;c=d", "--text=with blank and\nline"),
        env("worker", TPU_MIN_LOG_LEVEL="2", A="$(PATHWAYS_HEAD)", B="$(A) $$(C) $(XCLOUD_ENVIRONMENT)"),
        env("proxy", ABSL_FLAGS="--pathways_pipe_unreachable_timeout=60s", XLA_FLAGS="--xla_dump_to=/dumps"),
        env("resourceManager", A="$(HOST_ADDRESS)"),
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("$(A)", ["A"]),
        ("$(A)$(B)", ["A", "B"]),
        ("$$(A)", []),
        ("$$$(A)", ["A"]),
        ("$A ${A} $( $) ()", []),
        ("$(A B)", []),
        ("$(a.b-c)", ["a.b-c"]),
    ],
)
def test_references(text: str, names: list[str]) -> None:
    assert references(text) == names
