"""Comparisons for the tests of the comment."""

from __future__ import annotations

from typing import Any

from offline.diff.form import form
from offline.diff.model import Amount, Change, Diff, Impact, Kind, Obstacle, Operation, PathChange, Step
from offline.diff.paths import Item

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"
SUBNET = "gcp:compute/subnetwork:Subnetwork"


def change(type_: str = POOL, operation: Operation = Operation.REPLACE, **more: Any) -> Change:
    name = more.pop("name", "slices-0")
    return Change(
        **{
            "urn": f"urn:pulumi:vision-dev::pathways::{type_}::{name}",
            "type": type_,
            "name": name,
            "label": f"pool {name}",
            "custom": True,
            "operation": operation,
            "impact": Impact.REPLACES_SLICE,
            "sentence": "slice 1 of 2 is recreated",
            "source": "components/pools.py:10",
            **more,
        }
    )


def diff(stack: str = "vision-dev", *changes: Change, **more: Any) -> Diff:
    return Diff(**{"project": "pathways", "stack": stack, "base": "HEAD^1", "changes": changes, "same": 30, **more})


# Every field, and every kind of path.
WHOLE = diff(
    "vision-dev",
    change(
        old_urn="urn:old",
        because=("its cluster is replaced",),
        paths=(
            PathChange(("nodeConfig", "labels", "a/b"), Kind.UPDATE, "x", 1, replaces=True),
            PathChange(("list", 0, "key"), Kind.ADD, None, {"$secret": True}),
            PathChange(("containers", Item("main", 2), "image"), Kind.DELETE, {"$unknown": True}, None),
        ),
        delete_before_replace=True,
        goes_with="urn:cluster",
        kept=True,
    ),
    change(SUBNET, Operation.UPDATE, custom=False, impact=Impact.IN_PLACE, source=None),
    totals={"chips": Amount(32, 48), "nodeAddresses": Amount(None, 3)},
    obstacles=(Obstacle("urn:x", "protected", "it is protected"),),
    notes=("code only",),
    steps=(Step("create-replacement", "urn:x"),),
)


def planned(value: Diff) -> dict[str, Any]:
    return {"kind": "diff", "stack": value.stack, "diff": form(value)}
