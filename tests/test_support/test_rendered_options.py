"""The rules about options, providers, names and rights each find their fault."""

from __future__ import annotations

import pytest

from tests.support import rendered_options as options
from tests.support.rendered import Rule
from tests.test_support import sample
from tests.test_support.changes import Change, Fault, add, changed, existing_bucket, load_balancer, set_input
from tests.test_support.sample import UNKNOWN

FAULTS: list[Fault] = [
    (options.providers_explicit, [set_input("scratch", "options.provider", None)], "Bucket scratch: options.provider"),
    (
        options.providers_explicit,
        [set_input("scratch", "options.provider", sample.KUBERNETES_URN)],
        "is no pulumi:providers:gcp",
    ),
    (options.providers_explicit, [set_input("train", "options.provider", "urn:elsewhere")], "JobSet train"),
    (options.providers_explicit, [existing_bucket, set_input("scratch", "options.provider", None)], "Bucket scratch"),
    (options.cluster_identifier, [set_input("kubernetes", "inputs.clusterIdentifier", None)], "clusterIdentifier"),
    (options.cluster_identifier, [set_input("kubernetes", "inputs.clusterIdentifier", UNKNOWN)], "no plain text"),
    (options.cluster_identifier, [set_input("kubernetes", "inputs.kubeconfig", None)], "kubeconfig: not given"),
    (options.cluster_identifier, [set_input("kubernetes", "inputs.kubeconfig", "token: x")], "holds a token"),
    (options.cluster_identifier, [set_input("kubernetes", "inputs.kubeconfig", "{}")], "gke-gcloud-auth-plugin"),
    (options.cluster_identifier, [set_input("kubernetes", "inputs.deleteUnreachable", "true")], "deleteUnreachable"),
    (options.deleted_with, [set_input("train", "options.deletedWith", None)], "JobSet train: options.deletedWith"),
    (options.deleted_with, [set_input("train", "options.deletedWith", sample.GCP_URN)], "is not the stack's cluster"),
    (options.deleted_with, [add(load_balancer(deletedWith=sample.CLUSTER_URN))], "strand the load balancer"),
    (options.names_explicit, [set_input("slice-1", "inputs.name", "vision-dev-slice-0")], "slice-0 is there 2 times"),
    (options.names_explicit, [set_input("scratch", "inputs.name", None)], "Bucket scratch: name: not given"),
    (options.names_explicit, [set_input("scratch", "options.deleteBeforeReplace", None)], "not set on a named"),
    (options.names_explicit, [set_input("namespace", "inputs.metadata", {})], "metadata.name: not given"),
    (
        options.names_explicit,
        [add(sample.kubernetes("kubernetes:core/v1:Namespace", "again", sample.namespace()))],
        "namespace, again: name: vision is there 2 times",
    ),
    (
        options.iam_members_only,
        [add(sample.google("gcp:storage/bucketIAMBinding:BucketIAMBinding", "all", {}))],
        "authoritative",
    ),
    (
        options.iam_members_only,
        [add(sample.google("gcp:serviceaccount/iAMPolicy:IAMPolicy", "all", {}))],
        "authoritative",
    ),
    (options.iam_members_only, [set_input("node-role", "inputs.role", "roles/storage.admin")], "on the whole project"),
    (options.iam_members_only, [set_input("node-role", "inputs.role", "roles/editor")], "on the whole project"),
    (options.option_paths, [set_input("head", "options.ignoreChanges", ["node_config.labels"])], "node_config.labels"),
    (
        options.option_paths,
        [set_input("train", "options.replaceOnChanges", ["spec.a_b"])],
        "replaceOnChanges: spec.a_b",
    ),
    (options.jobset_replaced, [set_input("train", "options.replaceOnChanges", None)], "replaceOnChanges of spec"),
    (options.jobset_replaced, [set_input("train", "options.deleteBeforeReplace", None)], "deleteBeforeReplace"),
    (options.protected, [set_input("scratch", "options.protect", None)], "Bucket scratch: options.protect"),
    (options.protected, [set_input("cluster", "inputs.deletionProtection", True)], "options.protect is False"),
    (options.protected, [set_input("cluster", "inputs.deletionProtection", None)], "deletionProtection: None"),
    (options.protected, [lambda d: d.update(stack="vision-prod")], "not set in prod"),
]


@pytest.mark.parametrize(("rule", "changes", "part"), FAULTS)
def test_each_rule_finds_its_fault(rule: Rule, changes: list[Change], part: str) -> None:
    lines = rule(changed(*changes))
    assert any(part in line for line in lines), lines


def test_the_environment_can_be_told_instead_of_read_from_the_stack_name() -> None:
    assert options.protected(changed(), environment="prod")
    assert not options.protected(changed(lambda document: document.update(stack="vision-prod")), environment="dev")
