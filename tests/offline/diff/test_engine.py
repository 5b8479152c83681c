"""The engine's rules, on recordings made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from offline.diff.model import Diff, Operation
from offline.recording import UNKNOWN, Resource
from tests.offline.diff.made import (
    ACCOUNT,
    BUCKET,
    CLUSTER,
    GROUP,
    JOB_SET,
    MEMBER,
    POOL,
    SERVICE,
    SUBNET,
    TEAM,
    between,
    made,
    name_of,
    operations,
)

C, U, R, D = Operation.CREATE, Operation.UPDATE, Operation.REPLACE, Operation.DELETE
PROVIDER = "pulumi:providers:kubernetes"
GROUP_A, GROUP_B = name_of(GROUP, "a"), name_of(GROUP, "b")


def cluster(location: str = "us-east5", **options: Any) -> Resource:
    inputs = {"name": "c", "location": location, "deletionProtection": False}
    return made(CLUSTER, "cluster", inputs, delete_before_replace=True, **options)


def steps(diff: Diff) -> list[str]:
    return [f"{step.operation} {step.urn.rsplit('::', 1)[1]}" for step in diff.steps]


def rules(diff: Diff) -> list[str]:
    return [obstacle.rule for obstacle in diff.obstacles]


def test_ignored_inputs_keep_their_old_value() -> None:
    base = made(POOL, "p", {"nodeCount": 1, "nodeConfig": {"spot": False, "labels": {"a": "1"}}})
    head = {"nodeCount": 1, "nodeConfig": {"spot": True, "labels": {"a": "2"}}}
    ignored = made(POOL, "p", head, ignore_changes=("nodeConfig.spot", "nodeConfig.labels"))
    assert operations(between([base], [made(POOL, "p", head)])) == {"p": R}
    assert not between([base], [ignored]).different


def test_ignoring_everything_ignores_what_is_new_too() -> None:
    head = made(POOL, "p", {"nodeCount": 2, "version": "1"}, ignore_changes=("*",))
    assert not between([made(POOL, "p", {"nodeCount": 1})], [head]).different


@pytest.mark.parametrize(
    ("pattern", "operation"),
    [("spec", R), ("spec.jobs[0].replicas", R), ("spec.jobs[*].replicas", R), ("*", R), ("spec.other", U), ("sp", U)],
)
def test_replace_on_changes_covers_what_is_below(pattern: str, operation: Operation) -> None:
    base = made(JOB_SET, "j", {"spec": {"jobs": [{"name": "w", "replicas": 1}]}})
    head = made(JOB_SET, "j", {"spec": {"jobs": [{"name": "w", "replicas": 2}]}}, replace_on_changes=(pattern,))
    assert operations(between([base], [head])) == {"j": operation}


def test_what_the_provider_drops_is_not_replaced_by_an_option() -> None:
    base = made(POOL, "p", {"nodeCount": 4})
    diff = between([base], [made(POOL, "p", {}, replace_on_changes=("nodeCount",))])
    assert diff.changes == ()
    assert diff.notes == ("node pool p: nodeCount is left out; the provider keeps what the cloud has",)


def test_an_unknown_of_a_replaced_source_replaces_what_cannot_live_with_it() -> None:
    def stack(project: str, network: Any) -> list[Resource]:
        vpc = made("gcp:compute/network:Network", "vpc", {"name": "n", "project": project})
        return [vpc, made(SUBNET, "subnet", {"network": network}, sources={"network": (vpc.urn,)})]

    same_answer = "projects/x/global/networks/n"
    base, head = stack("a", same_answer), stack("b", same_answer)
    diff = between(base, head, stack("b", UNKNOWN))
    assert operations(diff) == {"vpc": R, "subnet": R}
    (path,) = next(change for change in diff.changes if change.name == "subnet").paths
    assert (path.old, path.new, path.replaces) == (same_answer, UNKNOWN, True)


def test_an_unknown_of_a_source_that_stays_is_no_change() -> None:
    vpc = made("gcp:compute/network:Network", "vpc", {"name": "n", "mtu": 1460})
    wider = made("gcp:compute/network:Network", "vpc", {"name": "n", "mtu": 8896})
    known = made(SUBNET, "subnet", {"network": "n"}, sources={"network": (vpc.urn,)})
    preview = made(SUBNET, "subnet", {"network": UNKNOWN}, sources={"network": (vpc.urn,)})
    assert operations(between([vpc, known], [wider, known], [wider, preview])) == {"vpc": U}


def test_a_saved_preview_counts_its_unknowns_as_unchanged() -> None:
    base = made(SUBNET, "subnet", {"network": UNKNOWN, "logConfig": {"metadata": UNKNOWN}})
    head = made(SUBNET, "subnet", {"network": "n", "logConfig": {"metadata": "m"}})
    assert not between([base], [head]).different
    assert not between([head], [base]).different


def test_what_is_deleted_first_takes_those_along_that_need_it() -> None:
    """A whole input counts as unknown then, even where a known part of the source went into it."""
    account = [made(ACCOUNT, "account", {"accountId": name}, delete_before_replace=True) for name in ("one", "two")]
    urn = account[0].urn
    pool = made(POOL, "pool", {"name": "p", "nodeConfig": {"serviceAccount": "e"}}, sources={"nodeConfig": (urn,)})
    policy = made(SERVICE, "service", {"metadata": {"name": "s"}, "spec": {"a": 1}}, sources={"spec": (urn,)})
    waits = made(JOB_SET, "job", {"spec": {}}, depends_on=(urn,), replace_on_changes=("spec",))
    diff = between([account[0], pool, policy, waits], [account[1], pool, policy, waits])
    assert operations(diff) == {"account": R, "pool": R}
    assert steps(diff) == [
        "delete-replaced pool",
        "delete-replaced account",
        "create-replacement account",
        "create-replacement pool",
    ]


def test_a_saved_plan_takes_from_the_head_where_values_come_from() -> None:
    account = [made(ACCOUNT, "account", {"accountId": name}, delete_before_replace=True) for name in ("one", "two")]
    inputs = {"name": "p", "nodeConfig": {"serviceAccount": "e"}}
    saved = made(POOL, "pool", inputs, depends_on=(account[0].urn,))
    pool = made(POOL, "pool", inputs, sources={"nodeConfig": (account[0].urn,)})
    assert operations(between([account[0], saved], [account[1], pool])) == {"account": R, "pool": R}


def test_replace_on_changes_counts_for_those_taken_along() -> None:
    account = [made(ACCOUNT, "account", {"accountId": name}, delete_before_replace=True) for name in ("one", "two")]
    sources = {"spec": (account[0].urn,)}
    job = made(JOB_SET, "job", {"spec": {"a": 1}}, sources=sources, replace_on_changes=("spec",))
    ignoring = made(JOB_SET, "other", {"spec": {"a": 1}}, sources=sources, ignore_changes=("spec",))
    assert operations(between([account[0], job, ignoring], [account[1], job, ignoring])) == {"account": R, "job": R}


def test_a_replacement_made_first_leaves_known_values_alone() -> None:
    base = made(ACCOUNT, "account", {"accountId": "one"}, delete_before_replace=False)
    head = made(ACCOUNT, "account", {"accountId": "two"}, delete_before_replace=False)
    pool = made(POOL, "pool", {"nodeConfig": {"serviceAccount": "e"}}, sources={"nodeConfig": (base.urn,)})
    diff = between([base, pool], [head, pool], [head, pool])
    assert operations(diff) == {"account": R}
    assert steps(diff) == ["create-replacement account", "delete-replaced account"]


def test_what_lives_in_a_replaced_resource_is_replaced_without_a_call() -> None:
    base, head = cluster(), cluster("us-west4")
    space = made("kubernetes:core/v1:Namespace", "space", {"metadata": {"name": "s"}}, deleted_with=base.urn)
    diff = between([base, space], [head, space])
    assert operations(diff) == {"cluster": R, "space": R}
    change = next(change for change in diff.changes if change.name == "space")
    assert change.goes_with == base.urn
    assert change.because == ("what it lives in is replaced: GKE cluster c",)
    gone = between([base, space], [])
    assert {change.name: change.goes_with for change in gone.changes} == {"cluster": None, "space": base.urn}


def test_what_is_replaced_together_goes_first_and_comes_last() -> None:
    pools = [made(POOL, "pool", {"nodeConfig": {"spot": spot}}, delete_before_replace=True) for spot in (False, True)]
    job = made(JOB_SET, "job", {}, depends_on=(pools[0].urn,), replace_with=(pools[0].urn,), delete_before_replace=True)
    diff = between([pools[0], job], [pools[1], job])
    assert operations(diff) == {"pool": R, "job": R}
    assert next(change for change in diff.changes if change.name == "job").because == (
        "it is replaced together with node pool pool",
    )
    assert steps(diff) == [
        "delete-replaced job",
        "delete-replaced pool",
        "create-replacement pool",
        "create-replacement job",
    ]
    made_new = made(POOL, "other", {}, delete_before_replace=True)
    joined = made(JOB_SET, "job", {}, replace_with=(pools[0].urn, made_new.urn), delete_before_replace=True)
    assert operations(between([pools[0], job], [pools[0], made_new, joined])) == {"other": C}


def test_a_provider_that_leads_elsewhere_replaces_its_objects() -> None:
    def stack(identifier: str | None, server: str) -> list[Resource]:
        clusters = f'[{{"name": "a", "cluster": {{"server": "{server}"}}}}]'
        contexts = '[{"name": "x", "context": {"cluster": "a"}}]'
        config = f'{{"current-context": "x", "contexts": {contexts}, "clusters": {clusters}}}'
        given = {"clusterIdentifier": identifier} if identifier else {}
        provider = made(PROVIDER, "k8s", {"kubeconfig": config, **given})
        return [provider, made(SERVICE, "service", {"metadata": {"name": "s"}}, provider=provider.urn)]

    assert operations(between(stack("one", "a"), stack("one", "b"))) == {"k8s": U}
    assert operations(between(stack("one", "a"), stack("two", "a"))) == {"k8s": R, "service": R}
    assert operations(between(stack(None, "a"), stack("one", "b"))) == {"k8s": U}
    assert operations(between(stack(None, "a"), stack(None, "b"))) == {"k8s": R, "service": R}


def test_another_provider_replaces_but_a_renamed_one_does_not() -> None:
    one, two = made(PROVIDER, "one", {"clusterIdentifier": "c"}), made(PROVIDER, "two", {"clusterIdentifier": "c"})
    renamed = made(PROVIDER, "two", {"clusterIdentifier": "c"}, aliases=({"name": "one"},))
    old = made(SERVICE, "s", {"metadata": {"name": "s"}}, provider=one.urn)
    new = made(SERVICE, "s", {"metadata": {"name": "s"}}, provider=two.urn)
    assert operations(between([one, old], [two, new])) == {"one": D, "two": C, "s": R}
    assert not between([one, old], [renamed, new]).different


@pytest.mark.parametrize(
    "alias",
    [name_of(BUCKET, "old", GROUP_A), {"name": "old", "parentUrn": GROUP_A}],
    ids=["urn", "parts"],
)
def test_an_alias_keeps_what_is_renamed_and_moved(alias: Any) -> None:
    base = [made(GROUP, "a"), made(BUCKET, "old", {"name": "b"}, parent=GROUP_A)]
    head = [made(GROUP, "b"), made(BUCKET, "new", {"name": "b"}, parent=GROUP_B, aliases=(alias,))]
    assert operations(between(base, head)) == {"a": D, "b": C}


def test_children_inherit_the_alias_of_a_renamed_parent() -> None:
    base = [made(GROUP, "a"), made(BUCKET, "a-bucket", {"name": "b"}, parent=GROUP_A)]
    renamed = made(GROUP, "b", aliases=({"name": "a"},))
    head = [renamed, made(BUCKET, "b-bucket", {"name": "b"}, parent=GROUP_B)]
    assert not between(base, head).different
    from_root = [made(BUCKET, "x", {"name": "b"})]
    moved = [made(GROUP, "a"), made(BUCKET, "x", {"name": "b"}, parent=GROUP_A, aliases=({"noParent": True},))]
    assert operations(between(from_root, moved)) == {"a": C}


def test_a_move_without_an_alias_collides_and_undoes_its_grants() -> None:
    def stack(group: str) -> list[Resource]:
        parent = name_of(group, "group")
        return [
            made(group, "group"),
            made(BUCKET, "bucket", {"name": "b"}, parent=parent),
            made(MEMBER, "member", {"role": "r", "member": "m", "project": "p"}, parent=parent),
        ]

    diff = between(stack(GROUP), stack(TEAM))
    assert sorted((change.name, change.operation.value) for change in diff.changes if change.custom) == [
        ("bucket", "create"),
        ("bucket", "delete"),
        ("member", "create"),
        ("member", "delete"),
    ]
    assert rules(diff) == ["bucket-not-empty", "name-taken", "name-taken"]
    assert sorted(steps(diff)[:3]) == ["create bucket", "create group", "create member"]
    assert steps(diff)[-1] == "delete group"


def test_a_parent_of_the_same_type_does_not_show_in_a_urn() -> None:
    bucket = [made(BUCKET, "bucket", {"name": "b"}, parent=parent) for parent in (GROUP_A, GROUP_B)]
    assert operations(between([made(GROUP, "a"), bucket[0]], [made(GROUP, "b"), bucket[1]])) == {"a": D, "b": C}


@pytest.mark.parametrize(
    ("before", "after", "stopped"),
    [(True, True, ["protected"]), (True, False, []), (False, True, [])],
)
def test_protection_stops_a_replacement_unless_it_is_taken_off(before: bool, after: bool, stopped: list[str]) -> None:
    diff = between([cluster(protect=before)], [cluster("us-west4", protect=after)])
    assert rules(diff) == stopped
    assert bool(diff.notes) == (before != after)


def test_protection_stops_a_deletion_and_what_is_taken_along() -> None:
    assert rules(between([cluster(protect=True)], [])) == ["protected"]
    account = [made(ACCOUNT, "a", {"accountId": name}, delete_before_replace=True) for name in ("one", "two")]
    sources = {"nodeConfig": (account[0].urn,)}
    inputs = {"name": "p", "nodeConfig": {"serviceAccount": "e"}}
    pool = made(POOL, "p", inputs, sources=sources, protect=True)
    loose = made(POOL, "p", inputs, sources=sources)
    assert rules(between([account[0], pool], [account[1], loose])) == ["protected"]


@pytest.mark.parametrize(
    ("resource", "rule"),
    [
        (made(CLUSTER, "c", {"name": "c", "deletionProtection": True}), "deletion-protection"),
        (made(CLUSTER, "c", {"name": "c"}), "deletion-protection"),
        (made(BUCKET, "b", {"name": "b"}), "bucket-not-empty"),
    ],
)
def test_what_the_provider_would_refuse_to_delete(resource: Resource, rule: str) -> None:
    assert rules(between([resource], [])) == [rule]


@pytest.mark.parametrize(
    "resource",
    [
        made(CLUSTER, "c", {"name": "c", "deletionProtection": False}),
        made(BUCKET, "b", {"name": "b", "forceDestroy": True}),
        made(BUCKET, "b", {"name": "b"}, retain_on_delete=True),
    ],
)
def test_what_it_would_delete(resource: Resource) -> None:
    assert rules(between([resource], [])) == []


def test_what_is_kept_destroys_nothing() -> None:
    kept = made(BUCKET, "b", {"name": "b", "location": "US"}, retain_on_delete=True)
    (change,) = between([kept], []).changes
    assert (change.impact.word, change.kept) == ("none", True)
    other = made(BUCKET, "b", {"name": "c", "location": "EU"}, retain_on_delete=True)
    assert between([kept], [other]).impact.word == "in-place"


def test_a_name_is_taken_while_the_old_one_is_there() -> None:
    first = {"name": "b", "location": "US"}
    second = {"name": "b", "location": "US", "enableObjectRetention": True}
    keep = made(BUCKET, "b", second, delete_before_replace=False)
    assert "name-taken" in rules(between([made(BUCKET, "b", first)], [keep]))
    assert "name-taken" not in rules(between([made(BUCKET, "b", first)], [made(BUCKET, "b", second)]))


def test_components_are_not_counted() -> None:
    diff = between([], [made(GROUP, "a"), made(BUCKET, "b", {"name": "b"}, parent=GROUP_A)])
    assert (diff.count(C), diff.same, diff.impact.word) == (1, 0, "none")
    assert steps(diff) == ["create a", "create b"]
