"""Rules between teams: who reaches whose proxy, and who acts as whom.

Whoever reaches the proxy's port runs programs on the slices: it asks nobody who they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from offline.recording import UNKNOWN, Resource
from policy.expect import JOB_SET, NETWORK_POLICY, SERVICE, SERVICE_ACCOUNT, at, hidden, items, shown
from policy.model import Each, Rule, Whole
from policy.rules.workload import Pod, pods

_JOB_SET_LABEL = "jobset.sigs.k8s.io/jobset-name"
_BALANCER = "networking.gke.io/load-balancer-type"


def _pod_labels(job_set: Resource, pod: Pod) -> dict[str, Any]:
    """The labels of a pod as the JobSet controller makes them."""
    return {**pod.labels, _JOB_SET_LABEL: at(job_set.inputs, "metadata.name")}


def _selects(policy: Resource, namespace: object, labels: Mapping[str, Any]) -> bool:
    if at(policy.inputs, "metadata.namespace") != namespace or at(policy.inputs, "spec.podSelector.matchExpressions"):
        return False
    wanted = at(policy.inputs, "spec.podSelector.matchLabels") or {}
    kinds = items(policy.inputs, "spec.policyTypes") or ["Ingress"]
    return "Ingress" in kinds and all(labels.get(key) == value for key, value in wanted.items())


def _closed(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """JobSets with pods on the pod network that no policy selects."""
    policies = [resource for resource in resources if resource.type == NETWORK_POLICY]
    for job_set in (resource for resource in resources if resource.type == JOB_SET):
        namespace = at(job_set.inputs, "metadata.namespace")
        for pod in pods(job_set):
            inside = at(pod.spec, "hostNetwork") is not True
            labels = _pod_labels(job_set, pod)
            if inside and not any(_selects(policy, namespace, labels) for policy in policies):
                yield job_set, f"no NetworkPolicy of {namespace} selects {pod.job}: every pod reaches its ports"


def _narrow(policy: Resource) -> str | None:
    for index, rule in enumerate(items(policy.inputs, "spec.ingress")):
        where, peers = f"spec.ingress[{index}]", at(rule, "from")
        if peers in (None, []):
            return f"{where} has no from: it lets everybody in"
        for peer in items(rule, "from"):
            detail = _wide_peer(peer)
            if detail:
                return f"{where}: {detail}"
    return None


def _wide_peer(peer: Any) -> str | None:
    cidr = at(peer, "ipBlock.cidr")
    if cidr in ("0.0.0.0/0", "::/0"):
        return f"ipBlock {cidr} lets everybody in"
    selector = at(peer, "namespaceSelector")
    if isinstance(selector, Mapping) and not any(selector.values()) and not at(peer, "podSelector"):
        return "an empty namespaceSelector lets every team's pods in"
    return None


def _host_network(job_set: Resource) -> str | None:
    shared = [pod.job for pod in pods(job_set) if at(pod.spec, "hostNetwork") is True]
    return f"hostNetwork is true for {', '.join(shared)}" if shared else None


def _internal(service: Resource) -> str | None:
    if at(service.inputs, "spec.type") != "LoadBalancer":
        return None
    annotations = at(service.inputs, "metadata.annotations") or {}
    if not hidden(annotations) and annotations.get(_BALANCER) not in ("Internal", UNKNOWN):
        return f"{_BALANCER} is {shown(annotations.get(_BALANCER))}, not Internal"
    ranges = at(service.inputs, "spec.loadBalancerSourceRanges")
    if ranges in (None, []) or "0.0.0.0/0" in items(service.inputs, "spec.loadBalancerSourceRanges"):
        return "spec.loadBalancerSourceRanges names nobody"
    return None


def _own_account(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """JobSets whose pods run as a service account that is not the stack's own, or another team's."""
    accounts = {
        (at(each.inputs, "metadata.namespace"), at(each.inputs, "metadata.name")): each
        for each in resources
        if each.type == SERVICE_ACCOUNT and isinstance(at(each.inputs, "metadata.name"), str)
    }
    for job_set in (resource for resource in resources if resource.type == JOB_SET):
        namespace, team = (at(job_set.inputs, f"metadata.{part}") for part in ("namespace", "labels.team"))
        for name in sorted({str(at(pod.spec, "serviceAccountName") or "default") for pod in pods(job_set)}):
            account = accounts.get((namespace, name))
            if account is None:
                yield job_set, f"serviceAccountName {name} of {namespace} is none that this stack makes"
            elif at(account.inputs, "metadata.labels.team") != team:
                theirs = shown(at(account.inputs, "metadata.labels.team"))
                yield job_set, f"the service account {name} is of team {theirs}, and the job of {shown(team)}"


RULES: tuple[Rule, ...] = (
    Rule(
        id="proxy-closed",
        level="mandatory",
        source=("ours", "CKV2_K8S_6"),
        sentence="A NetworkPolicy closes every pod of the job: whoever reaches the proxy's port runs on the slices.",
        fix="a NetworkPolicy that selects the pods by their JobSet's name",
        check=Whole(_closed),
    ),
    Rule(
        id="proxy-not-open-to-all",
        level="mandatory",
        source=("ours",),
        sentence="What a NetworkPolicy lets in, it names.",
        fix="from: [{podSelector: …}] or an ipBlock of the clients' network",
        check=Each((NETWORK_POLICY,), _narrow),
    ),
    Rule(
        id="proxy-on-host-network",
        level="advisory",
        source=("ours", "CKV_K8S_19"),
        sentence="On the nodes' network no NetworkPolicy holds: a VPC firewall has to guard the ports.",
        fix="pathways:runtime: {hostNetwork: false}",
        check=Each((JOB_SET,), _host_network),
    ),
    Rule(
        id="service-internal",
        level="mandatory",
        source=("ours",),
        sentence="A load balancer before the proxy has an internal address and names its clients.",
        fix=f"annotation {_BALANCER}: Internal and spec.loadBalancerSourceRanges",
        check=Each((SERVICE,), _internal),
    ),
    Rule(
        id="ksa-of-one-team",
        level="mandatory",
        source=("ours", "CKV_K8S_41"),
        sentence="A job runs as the service account of its own team and stack: the account's roles are the bucket's.",
        fix="serviceAccountName: an account of this stack, in its namespace, with its labels",
        check=Whole(_own_account),
    ),
)
