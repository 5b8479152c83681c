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


def child(parent: pulumi.Resource, **options: Any) -> ResourceOptions:
    """Options of a resource inside a component."""
    return ResourceOptions(parent=parent, **options)


def named_child(parent: pulumi.Resource, **options: Any) -> ResourceOptions:
    """The same for one whose physical name is fixed: the old one has to go before a new one can have the name."""
    return ResourceOptions(parent=parent, delete_before_replace=True, **options)
