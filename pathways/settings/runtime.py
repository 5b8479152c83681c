"""`head` and `runtime`: the head's machine, and the Pathways containers' images, ports, flags and environment."""

from __future__ import annotations

import re
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from pathways.containers import (
    ALL_MANAGED_FLAGS,
    DEFAULT_ENV,
    HOST_ENV,
    INDIRECT_FLAGS,
    MANAGED_ENV,
    REMOVED_FLAGS,
    Role,
)
from pathways.errors import listed, shown, violation
from pathways.images import REFERENCE_PATTERN, REPOSITORY_PATTERN, Image, RegistryRepository
from pathways.machines import cpu_machine
from pathways.model import EnvValues, Items, Memory, Section, Text, Word, default

DEFAULT_REPOSITORY = "us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways"
_DNS_PART = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?"


def _with_project(path: str) -> str:
    """A repository of Artifact Registry belongs to a project."""
    try:
        RegistryRepository.of(path)
    except ValueError:
        raise violation(
            f"{path} names no repository of Artifact Registry",
            "one is LOCATION-docker.pkg.dev/PROJECT/REPOSITORY",
            f"write for example {DEFAULT_REPOSITORY}",
        ) from None
    return path


def _in_a_repository(reference: str) -> str:
    """An image of Artifact Registry stands in a repository."""
    repository = RegistryRepository.of(_with_project(Image.parse(reference).repository))
    if repository and not repository.below:
        raise violation(
            f"{reference} names a repository of Artifact Registry and no image in it",
            "an image there is LOCATION-docker.pkg.dev/PROJECT/REPOSITORY/IMAGE:TAG",
            "write for example us-docker.pkg.dev/acme-ml/train/app:1.2.3",
        )
    return reference


ImageReference = Annotated[
    str,
    Text(
        REFERENCE_PATTERN,
        "an image is REPOSITORY:TAG or REPOSITORY@sha256:DIGEST, in lower case, without blanks",
        "us-docker.pkg.dev/acme-ml/train/app:1.2.3",
        max_length=512,
    ),
    AfterValidator(_in_a_repository),
]
Port = Annotated[int, Field(ge=1, le=65534)]


class Head(Section):
    """The head: one CPU node for resource manager, proxy and the user's container."""

    machine_type: Annotated[str, Field(examples=["n2-standard-64"])] = "n2-standard-64"
    """CPU machine of the head; it has to hold the limits of the head's containers beside the system."""

    @field_validator("machine_type")
    @classmethod
    def _known(cls, value: str) -> str:
        if cpu_machine(value):
            return value
        raise violation(
            f"{shown(value)} is not a known CPU machine type",
            "the head runs on e2, n2, n2d, n4 or c3 machines, whose size is known here",
            "write for example n2-standard-64",
        )


class Images(Section):
    """Where the Pathways images come from; absent parts follow `repository` and `runtime.jaxVersion`."""

    repository: Annotated[
        str,
        Text(REPOSITORY_PATTERN, "a repository is HOST/PATH without tag or trailing slash", DEFAULT_REPOSITORY),
        AfterValidator(_with_project),
    ] = DEFAULT_REPOSITORY
    """Repository that holds `server` and `proxy_server`."""
    server: ImageReference | None = None
    """Image of resource manager and workers; absent: `<repository>/server:jax-<jaxVersion>`."""
    proxy: ImageReference | None = None
    """Image of the IFRT proxy; absent: `<repository>/proxy_server:jax-<jaxVersion>`. Same release as `server`."""
    colocated_python: ImageReference | None = None
    """Image of the colocated-python sidecar; here or as `runtime.colocatedPython.image`."""
    allow_mutable_tags: Annotated[bool, Field(examples=[True])] = False
    """Allow tags such as `latest` that name other bytes tomorrow. Not for prod."""
    pull_secret: Annotated[
        str | None,
        Text(
            rf"{_DNS_PART}(\.{_DNS_PART})*",
            "a Secret's name is a DNS name in lower case",
            "registry-credentials",
            max_length=253,
        ),
    ] = None
    """Name of an image pull Secret in the stack's namespace, made by you; only its name stands here."""


class Ports(Section):
    """The ports of the three servers; each flows to arguments, environment, container ports and policies."""

    proxy: Annotated[int, Field(ge=1, le=65535, examples=[29000])] = 29000
    """IFRT proxy server (gRPC)."""
    resource_manager: Annotated[Port, Field(examples=[29001])] = 29001
    """Resource manager; it also uses the port after this one."""
    worker: Annotated[Port, Field(examples=[29001])] = 29001
    """Workers; each also uses the port after this one."""


class Flags(Section):
    """More flags for a container, after ours."""

    resource_manager: Annotated[Items[Word], Field(examples=[["--vmodule=resource_manager=2"]])] = ()
    """Flags of the resource manager."""
    proxy: Annotated[Items[Word], Field(examples=[["--xla_tpu_scoped_vmem_limit_kib=98304"]])] = ()
    """Flags of the proxy; it compiles, so `--xla_*` belongs here."""
    worker: Annotated[Items[Word], Field(examples=[["--megascale_grpc_premap_memory_bytes=17179869184"]])] = ()
    """Flags of the workers; `--megascale_*` belongs here."""

    @field_validator("resource_manager", "proxy", "worker")
    @classmethod
    def _allowed(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        role = cast("Role", info.field_name)
        names = [flag_name(role, flag) for flag in value]
        for name in names:
            if names.count(name) > 1:
                raise violation(
                    f"--{name} stands {names.count(name)} times", "each flag is given once", "keep one of them"
                )
        return value


class ContainerEnv(Section):
    """More environment for a container, after ours; `$(NAME)` refers to what stands before it."""

    resource_manager: Annotated[EnvValues, Field(examples=[{"TPU_MIN_LOG_LEVEL": "0"}])] = {}
    """Variables of the resource manager."""
    proxy: Annotated[EnvValues, Field(examples=[{"XLA_FLAGS": "--xla_dump_to=/dumps"}])] = {}
    """Variables of the proxy."""
    worker: Annotated[EnvValues, Field(examples=[{"TPU_MIN_LOG_LEVEL": "2"}])] = {}
    """Variables of the workers."""

    @field_validator("resource_manager", "proxy", "worker")
    @classmethod
    def _not_managed(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        role = cast("Role", info.field_name)
        check_env(role, value)
        return value


class ColocatedPython(Section):
    """A colocated-python sidecar beside every worker: user Python near the chips."""

    image: ImageReference | None = None
    """Image of the sidecar; here or as `runtime.images.colocatedPython`. Its Python and JAX have to be the client's."""
    shared_memory: Annotated[Memory | None, Field(examples=["64Gi"])] = None
    """Limit of the memory that worker and sidecar share; it comes out of the host's. Absent: no limit of its own."""


class Runtime(Section):
    """How Pathways runs; everything has a default."""

    jax_version: Annotated[
        str,
        Text(
            r"(0|[1-9]\d{0,3})(\.(0|[1-9]\d{0,3})){2}",
            "a JAX version is text of three numbers without leading zeros, X.Y.Z",
            "0.11.1",
        ),
    ] = "0.11.1"
    """JAX release of client, proxy and server; gives the image tag."""
    images: Annotated[Images, Field(examples=[{"repository": DEFAULT_REPOSITORY}])] = default(Images)
    """Images, where the default ones will not do."""
    ports: Annotated[Ports, Field(examples=[{"proxy": 29000}])] = default(Ports)
    """Ports."""
    host_network: Annotated[bool, Field(examples=[True])] = False
    """Head and workers use the node's network: they act as its service account, and no NetworkPolicy reaches them."""
    elastic_slices: Annotated[int, Field(ge=0, le=1024, examples=[1])] = 0
    """Slices that may be missing while the client's connection survives; at most `slices.count`."""
    max_restarts: Annotated[int, Field(ge=0, le=1000, examples=[3])] = 0
    """Restarts of the whole JobSet before it has failed."""
    max_slice_restarts: Annotated[int, Field(ge=1, le=10000, examples=[4])] = 4
    """Failures allowed per host of a slice before the slice has failed."""
    flags: Annotated[Flags, Field(examples=[{"proxy": ["--xla_tpu_scoped_vmem_limit_kib=98304"]}])] = default(Flags)
    """More flags."""
    env: Annotated[ContainerEnv, Field(examples=[{"worker": {"TPU_MIN_LOG_LEVEL": "2"}}])] = default(ContainerEnv)
    """More environment."""
    colocated_python: Annotated[ColocatedPython | None, Field(examples=[{"sharedMemory": "64Gi"}])] = None
    """Run the colocated-python sidecar on every worker."""


def check_env(role: Role, env: dict[str, str]) -> None:
    """Refuse variables that we set ourselves, and `$(NAME)` that nothing before it declares."""
    known = {*MANAGED_ENV[role], *DEFAULT_ENV[role]} - set(env)
    for name, value in env.items():
        if name in MANAGED_ENV[role]:
            raise violation(
                f"{name} is set by the stack",
                f"managed variables are {listed(sorted(MANAGED_ENV[role]))}",
                f"remove {name}",
            )
        if role == "worker" and name in HOST_ENV:
            raise violation(
                f"{name} is set by GKE on each host",
                f"variables of a host are {listed(HOST_ENV)}",
                f"remove {name}; a worker takes all chips of its host",
            )
        for reference in references(value):
            if reference not in known:
                raise violation(
                    f"$({reference}) in {name} is not declared before it",
                    "Kubernetes expands only variables of the same container that stand earlier",
                    f"declare {reference} above {name}, or write $$({reference}) for the text itself",
                )
        if name == "ABSL_FLAGS" and role != "user":
            for flag in value.split():
                flag_name(role, flag)
        known.add(name)


def references(text: str) -> list[str]:
    """The variables that Kubernetes would expand in a text: `$(NAME)`, where `$$(NAME)` is an escape."""
    return [match[1] for match in re.finditer(r"\$\$|\$\(([^()\s]+)\)", text) if match[1]]


def flag_name(role: Role, flag: str) -> str:
    """The name of a flag that a stack file may give to a container; raises a violation for any other."""
    match = re.fullmatch(r"--([A-Za-z][A-Za-z0-9_]*)(=.*)?", flag, re.DOTALL)
    if match is None:
        raise violation(
            f"{shown(flag)} is not a flag",
            "a flag is one text --name=value",
            "write for example --vmodule=ifrt_backend=3",
        )
    if re.search(r"\s--[A-Za-z]", flag):
        raise violation(
            f"{shown(flag)} holds several flags",
            "each item of the list is one flag, and the server takes what follows it as part of its value",
            "write one item for each",
        )
    name = match[1]
    positive = name.removeprefix("no")
    if name in ALL_MANAGED_FLAGS or positive in ALL_MANAGED_FLAGS:
        raise violation(
            f"--{name} is set by the stack, where it is known",
            f"managed flags are {listed('--' + each for each in sorted(ALL_MANAGED_FLAGS))}",
            f"remove --{name}",
        )
    if name in INDIRECT_FLAGS:
        raise violation(
            f"--{name} brings in flags that are not seen here",
            "each flag stands in the stack file",
            f"remove --{name} and write the flags themselves",
        )
    if name in REMOVED_FLAGS:
        raise violation(
            f"--{name} no longer exists", "a server ends at once on a flag it does not know", f"remove --{name}"
        )
    target: dict[str, Literal["proxy", "worker"]] = {"xla_": "proxy", "megascale_": "worker"}
    for prefix, owner in target.items():
        if (
            (name.startswith(prefix) or positive.startswith(prefix))
            and role != owner
            and name != "xla_tpu_use_enhanced_launch_barrier"
        ):
            raise violation(
                f"--{name} does nothing on this container",
                f"--{prefix}* belongs on the {owner}",
                f"move it to runtime.flags.{owner}",
            )
    return name
