"""What all components share: where things go, and how a child is attached."""

from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi import ResourceOptions


@dataclass(frozen=True, kw_only=True)
class Place:
    """Project, region and zone of a stack, and the labels on everything that can carry them."""

    project: str
    region: str
    zone: str
    labels: dict[str, str] = field(default_factory=dict)


def child(parent: pulumi.Resource, opts: ResourceOptions | None, **options: Any) -> ResourceOptions:
    """Options of a resource inside a component that was given `opts`.

    What the component waits for, its children wait for by name: so the plan says it of each resource, and a deletion
    goes the other way round.
    """
    awaited = [*_awaited(opts), *options.pop("depends_on", ())]
    return ResourceOptions(parent=parent, depends_on=awaited or None, **options)


def named_child(parent: pulumi.Resource, opts: ResourceOptions | None, **options: Any) -> ResourceOptions:
    """The same for one whose physical name is fixed: the old one has to go before a new one can have the name."""
    return child(parent, opts, delete_before_replace=True, **options)


def _awaited(opts: ResourceOptions | None) -> list[pulumi.Resource]:
    given: Any = opts.depends_on if opts else None
    return list(given or ())
