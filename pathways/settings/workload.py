"""`workload`: what runs on the slices, as a union on `mode`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from pathways.containers import DEFAULT_ENV, MANAGED_ENV
from pathways.errors import violation
from pathways.model import Cpu, Duration, EnvValues, Items, Memory, Section, Text, Word, default
from pathways.names import JOB_SET_NAME_BUDGET
from pathways.settings.runtime import ImageReference, check_env, references

JobName = Annotated[
    str,
    Text(
        r"[a-z]([a-z0-9-]*[a-z0-9])?",
        "a job's name is lower-case letters, digits and -, starts with a letter, and with its suffixes fits the "
        "coordinator label of 63",
        "train",
        max_length=JOB_SET_NAME_BUDGET,
    ),
]
RunId = Annotated[
    str,
    Text(
        r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?",
        "a run id is up to 63 lower-case letters, digits, -, _ and ., as text (in quotes if it looks like a number or "
        "a date)",
        "run-2",
    ),
]


class Resources(Section):
    """What the user's container may use of the head: request and limit at once."""

    cpu: Annotated[Cpu, Field()] = 24
    """Cores."""
    memory: Annotated[Memory, Field()] = "100G"
    """Memory."""
    ephemeral_storage: Annotated[Memory | None, Field(examples=["20Gi"])] = None
    """Local disk; absent: no limit of its own."""


class _Workload(Section):
    """What both modes have."""

    name: JobName
    """Name of the JobSet, at most 22 characters: the coordinator label repeats it twice within 63."""
    run_id: Annotated[RunId | None, Field(examples=["run-2"])] = None
    """Any text; changing it runs the job again."""


class Batch(_Workload):
    """A job: the user's container runs in the head, and the JobSet ends when it ends."""

    mode: Literal["batch"]
    """Kind of workload."""
    image: ImageReference
    """Image of the user's container, with `jax` and `pathwaysutils`."""
    command: Annotated[Items[Word], Field(examples=[["python", "train.py"]])] = ()
    """Command, one list item a word; absent: the image's own entry point."""
    args: Annotated[Items[Word], Field(examples=[["--steps=1000"]])] = ()
    """Arguments, one list item each."""
    env: Annotated[EnvValues, Field(examples=[{"LOG_LEVEL": "info"}])] = {}
    """Environment of the user's container, after ours; values are text."""
    resources: Annotated[Resources, Field(examples=[{"cpu": 24, "memory": "100G"}])] = default(Resources)
    """What the user's container may use of the head."""
    ttl: Annotated[Duration | None, Field(examples=["24h"])] = None
    """Delete the finished JobSet after this time; absent: it stays until the stack changes."""

    @field_validator("env")
    @classmethod
    def _env_not_managed(cls, value: dict[str, str]) -> dict[str, str]:
        check_env("user", value)
        return value

    @field_validator("command", "args")
    @classmethod
    def _declared(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.field_name == "command" and any(word == "" for word in value):
            raise violation("an empty word stands in the command", "a command is a list of words", "remove it")
        return value

    def undeclared(self) -> list[tuple[Literal["command", "args"], str]]:
        """The `$(NAME)` in command and arguments that no variable of the container declares: (key, name)."""
        declared = {*MANAGED_ENV["user"], *DEFAULT_ENV["user"], *self.env}
        parts: tuple[tuple[Literal["command", "args"], tuple[str, ...]], ...] = (
            ("command", self.command),
            ("args", self.args),
        )
        return [
            (key, name) for key, words in parts for word in words for name in references(word) if name not in declared
        ]


Access = Literal["port-forward", "internal-load-balancer", "dns"]


class Interactive(_Workload):
    """A running Pathways without a job: clients connect from outside until it is deleted."""

    mode: Literal["interactive"]
    """Kind of workload."""
    access: Annotated[Access, Field(examples=["port-forward"])] = "port-forward"
    """How clients reach the proxy: by `kubectl port-forward`, an internal load balancer, or Cloud DNS in the VPC."""


Workload = Annotated[Batch | Interactive, Field(discriminator="mode")]
"""The modes a stack file can name."""
