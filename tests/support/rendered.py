"""Every rule that each accepted stack holds, over its recording."""

from __future__ import annotations

from collections.abc import Callable

from tests.support import rendered_options as options
from tests.support import rendered_pools as pools
from tests.support import rendered_workload as workload
from tests.support.recording import Recording
from tests.support.rendered_text import texts_resolved

Rule = Callable[[Recording], list[str]]

# The rules that need nothing but the recording. `protected` and `images_pinned` need a setting as well.
RULES: tuple[Rule, ...] = (
    workload.one_jobset,
    workload.references_declared,
    workload.sidecars,
    workload.user_environment,
    workload.head_is_plain,
    workload.ports_agree,
    workload.host_network,
    workload.exclusive_placement,
    pools.flex_start,
    pools.spot,
    pools.counts_agree,
    pools.slices_numbered,
    pools.replacement,
    options.providers_explicit,
    options.cluster_identifier,
    options.deleted_with,
    options.names_explicit,
    options.iam_members_only,
    options.option_paths,
    options.jobset_replaced,
    texts_resolved,
)


def problems(recording: Recording, *, environment: str | None = None, mutable_tags: bool = False) -> list[str]:
    """What a recording does not hold, as `TYPE name: path: problem`.

    Args:
        recording: the stack, from `recording.read`.
        environment: the stack file's; by default the last part of the stack's name.
        mutable_tags: whether the stack file allows them.
    """
    found = [line for rule in RULES for line in rule(recording)]
    found += options.protected(recording, environment=environment)
    return found + workload.images_pinned(recording, mutable_tags=mutable_tags)
