"""The rules between values of a stack file; each is a function that yields the faults it finds.

A rule reads what it needs from `Settings`. Where a value is itself wrong, reading it raises AttributeError and the rule
is passed over: the fault has been said already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pathways.errors import Problem
from pathways.rules import containers, images, platform
from pathways.settings.stack import Settings

Rule = Callable[[Settings], Iterator[Problem]]

RULES: tuple[Rule, ...] = (
    containers.elastic_within_slices,
    containers.head_holds_containers,
    containers.head_holds_storage,
    containers.sidecar_memory_fits_host,
    images.images_pinned,
    images.mutable_tags_not_for_prod,
    images.images_of_the_jax_release,
    images.one_release,
    images.sidecar_image_once,
    containers.ports_distinct,
    containers.texts_fit,
    containers.references_declared,
    containers.flag_references_declared,
    platform.versions_offer_features,
    platform.endpoint_networks,
    platform.maintenance_long_enough,
    platform.one_region,
    platform.one_network_project,
    platform.ranges_of_existing_network,
    platform.network_of_existing_cluster,
    platform.client_range_known,
    platform.ranges_large_enough,
    platform.ranges_disjoint,
    platform.cluster_large_enough,
    platform.names_within_budget,
)
