"""Changes of the program with the same stack file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.e2e.changes.decisions import Rewrite
from tests.offline.diff.table import JOB

_SLICES = 'TpuSlices("slices", place, plan, **on_cluster, policy=policy, opts=waiting)'
_ALIASED = "ResourceOptions.merge(waiting, ResourceOptions(aliases=[pulumi.Alias(name='slices')]))"


@dataclass(frozen=True)
class CodeChange:
    """One change of the program.

    Attributes:
        name: What is changed.
        rewrite: How.
        operations: Operation by logical name of all resources that change.
    """

    name: str
    rewrite: Rewrite
    operations: Mapping[str, str]


LABELLED = dict.fromkeys(
    (
        *("google", "scratch-bucket", "cluster-cluster", "system-pool", "head-pool", "slices-0", "slices-1"),
        *("tenancy-namespace", "tenancy-account", "tenancy-policy"),
    ),
    "update",
)

CODE_CHANGES = (
    CodeChange(
        "a comment",
        Rewrite("pathways/machines.py", "NODE_DISK_GB = 100", "# Enough for images and logs.\nNODE_DISK_GB = 100"),
        {},
    ),
    CodeChange(
        "a constant of the pods",
        Rewrite("pathways/manifests/job_set.py", '"restartPolicy": "OnFailure",', '"restartPolicy": "Never",'),
        JOB,
    ),
    CodeChange(
        "one label more on everything",
        Rewrite("pathways/plan.py", 'LABEL_MANAGED_BY: "pulumi"}', 'LABEL_MANAGED_BY: "pulumi", "cost": "research"}'),
        {**LABELLED, **JOB},
    ),
    CodeChange(
        "a renamed component with an alias",
        Rewrite("components/stack.py", _SLICES, _SLICES.replace('"slices"', '"tpu"').replace("waiting", _ALIASED)),
        {},
    ),
    CodeChange(
        "a renamed component without an alias",
        Rewrite("components/stack.py", _SLICES, _SLICES.replace('"slices"', '"tpu"')),
        {"slices-0": "delete", "slices-1": "delete", "tpu-0": "create", "tpu-1": "create"},
    ),
)
