"""What a decision means for those who use the stack: its impact, and a sentence in the field's words.

Rules that are a choice:
- What is only created has impact `none`: nothing that runs feels it. (A new slice still restarts the workload, by the
  JobSet that is replaced to use it.)
- A slice that is removed has `restarts-workload`, not `replaces-slice`: hosts and chips leave as planned, no capacity
  has to be found again; the sentence says how many.
- A cluster that goes for good has `replaces-cluster` like one that is replaced, for all in it goes too.
- What goes with its cluster or namespace keeps the impact of its own kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from offline.diff import google, kubernetes, roll
from offline.diff.decision import Decision
from offline.diff.model import Impact, Operation
from offline.diff.slices import Slice
from offline.diff.words import change_of, changed, item, value
from offline.glossary import physical_name
from offline.recording import Resource
from offline.urn import PROVIDER_PREFIX

Verdict = tuple[Impact, str]


@dataclass(frozen=True, slots=True)
class Situation:
    """What a verdict needs to know of the whole.

    Attributes:
        before: the slices of the base by their URN there.
        after: the slices of the head by URN.
        resources: all resources by URN, the head's before the base's.
    """

    before: Mapping[str, Slice]
    after: Mapping[str, Slice]
    resources: Mapping[str, Resource]


def verdict(decision: Decision, situation: Situation) -> Verdict:
    """The impact and the sentence of a decision that is not SAME."""
    resource = decision.resource
    old = decision.old
    if not resource.custom:
        return Impact.NONE, f"{item(resource)}: {decision.operation.value}d; it only groups resources"
    if resource.type.startswith(PROVIDER_PREFIX):
        return _provider(decision)
    target = situation.resources.get(decision.goes_with or "")
    if old is not None and old.options.retain_on_delete and target is None:
        return _kept(decision, item(old))
    if resource.urn in situation.after or (old is not None and old.urn in situation.before):
        return _slice(decision, situation)
    rule = _BY_TYPE.get(resource.type)
    if rule is None and resource.type.startswith(kubernetes.JOB_SET_PREFIX):
        rule = _job_set
    if rule is None and resource.type.startswith(kubernetes.CRD_PREFIX):
        rule = _definition
    impact, sentence = (rule or _other)(decision)
    if target is not None:
        sentence = f"{item(resource)} goes with {item(target)}{_again(decision)}"
    return impact, sentence


def _kept(decision: Decision, label: str) -> Verdict:
    match decision.operation:
        case Operation.DELETE:
            return Impact.NONE, f"{label} leaves the stack and stays in the cloud"
        case Operation.REPLACE:
            return Impact.IN_PLACE, f"another {label} is made, the old one stays in the cloud: {changed(decision)}"
    return _other(decision)


def _provider(decision: Decision) -> Verdict:
    label = item(decision.resource)
    if decision.operation is Operation.UPDATE:
        return Impact.NONE, f"{label}: how Pulumi reaches it changes; nothing in the cloud does"
    if decision.operation is Operation.REPLACE:
        return Impact.IN_PLACE, f"{label} now means another cluster or account: all that it manages is replaced"
    return Impact.NONE, f"{label} is {decision.operation.value}d"


def _slice(decision: Decision, situation: Situation) -> Verdict:
    old = situation.before.get(decision.old.urn) if decision.old else None
    new = situation.after.get(decision.new.urn) if decision.new else None
    match decision.operation:
        case Operation.CREATE if new:
            return Impact.NONE, f"{new.label} is added: {_hosts(new)} join, capacity must be found {new.capacity}"
        case Operation.DELETE if old:
            return (
                Impact.RESTARTS_WORKLOAD,
                f"{old.label} is removed: its {_hosts(old)} leave, their capacity is given back",
            )
        case Operation.REPLACE if old and new:
            return Impact.REPLACES_SLICE, (
                f"{old.label} is recreated: its {_hosts(old)} leave, capacity for {_hosts(new)} must be found again "
                f"{new.capacity}"
            )
    found = new or old
    return roll.slice_update(decision, found.label if found else item(decision.resource))


def _hosts(found: Slice) -> str:
    return f"{found.hosts} host{'s' if found.hosts != 1 else ''} with {found.chips} chips"


def _pool(decision: Decision) -> Verdict:
    head = "HeadPool" in decision.resource.urn
    what = (
        "the head's node pool" if head else "the system node pool" if "SystemPool" in decision.resource.urn else "the"
    )
    label = f"{what} {physical_name(decision.resource)}" if what != "the" else item(decision.resource)
    felt = Impact.RESTARTS_WORKLOAD if head else Impact.IN_PLACE
    after = "the job's head stops and the job starts again" if head else "what runs on it moves; running jobs go on"
    match decision.operation:
        case Operation.CREATE:
            return Impact.NONE, f"{label} is added"
        case Operation.UPDATE:
            return roll.pool_update(decision, label, felt, after)
        case Operation.DELETE:
            return felt, f"{label} is removed: {after if not head else 'the job has no head to run on'}"
    return felt, f"{label} is recreated: {after}"


def _cluster(decision: Decision) -> Verdict:
    label = item(decision.resource)
    match decision.operation:
        case Operation.CREATE:
            return Impact.NONE, f"{label} is created"
        case Operation.UPDATE:
            return Impact.IN_PLACE, f"{label} is changed while it runs: {changed(decision)}"
        case Operation.DELETE:
            return Impact.REPLACES_CLUSTER, f"{label} is deleted with all node pools and everything that runs in it"
    return Impact.REPLACES_CLUSTER, f"{label} is deleted with everything in it and made again: {changed(decision)}"


def _bucket(decision: Decision) -> Verdict:
    label = item(decision.resource)
    match decision.operation:
        case Operation.CREATE:
            return Impact.NONE, f"{label} is created"
        case Operation.UPDATE:
            return Impact.IN_PLACE, f"{label} is changed in place: {changed(decision)}{_shorter(decision)}"
        case Operation.DELETE:
            return Impact.DESTROYS_DATA, f"{label} is deleted with every object in it"
    return (
        Impact.DESTROYS_DATA,
        f"{label} is deleted with every object in it, and an empty one made: {changed(decision)}",
    )


def _shorter(decision: Decision) -> str:
    ages = [
        (path.old, path.new)
        for path in decision.paths
        if path.path and path.path[-1] == "age" and isinstance(path.old, int) and isinstance(path.new, int)
    ]
    falls = [new for old, new in ages if new < old]
    return f"; objects older than {falls[0]} days are deleted within a day" if falls else ""


def _job_set(decision: Decision) -> Verdict:
    label = f"job {physical_name(decision.resource)}"
    match decision.operation:
        case Operation.CREATE:
            return Impact.NONE, f"{label} is started"
        case Operation.UPDATE:
            return Impact.IN_PLACE, f"{label} goes on; {changed(decision)}"
        case Operation.DELETE:
            return Impact.RESTARTS_WORKLOAD, f"{label} is ended and not started again"
    return Impact.RESTARTS_WORKLOAD, f"{label} is ended and started again: {changed(decision)}"


def _namespace(decision: Decision) -> Verdict:
    if decision.operation in (Operation.DELETE, Operation.REPLACE):
        return Impact.RESTARTS_WORKLOAD, f"{item(decision.resource)} is deleted with everything in it{_again(decision)}"
    return _other(decision)


def _definition(decision: Decision) -> Verdict:
    if decision.operation in (Operation.DELETE, Operation.REPLACE):
        return (
            Impact.RESTARTS_WORKLOAD,
            f"{item(decision.resource)} is deleted with every object of its kind in the cluster",
        )
    if decision.operation is Operation.UPDATE:
        return Impact.IN_PLACE, f"{item(decision.resource)} is updated; the objects of this kind stay"
    return _other(decision)


def _service(decision: Decision) -> Verdict:
    if decision.operation in (Operation.DELETE, Operation.REPLACE):
        return (
            Impact.IN_PLACE,
            f"{item(decision.resource)} goes{_again(decision)}: clients outside are cut off, its address changes",
        )
    return _other(decision)


def _release(decision: Decision) -> Verdict:
    label = f"Helm release {physical_name(decision.resource)}"
    match decision.operation:
        case Operation.UPDATE:
            return (
                Impact.IN_PLACE,
                f"{label} is upgraded, its controller restarts, running jobs go on: {changed(decision)}",
            )
        case Operation.DELETE:
            return Impact.IN_PLACE, f"{label} goes: nothing starts or repairs jobs any more"
        case Operation.REPLACE:
            return Impact.IN_PLACE, f"{label} goes and is made again: until then nothing starts or repairs jobs"
    return _other(decision)


def _member(decision: Decision) -> Verdict:
    inputs = decision.resource.inputs
    grant = f"{value(inputs.get('role'))} for {value(inputs.get('member'))}"
    match decision.operation:
        case Operation.CREATE:
            return Impact.NONE, f"granted: {grant}"
        case Operation.DELETE:
            return Impact.IN_PLACE, f"taken away: {grant}"
    return Impact.IN_PLACE, f"granted anew: {grant}; {changed(decision)}"


def _api(decision: Decision) -> Verdict:
    old = decision.old
    if decision.operation is Operation.DELETE and old is not None and old.inputs.get("disableOnDestroy") is False:
        return Impact.NONE, f"{item(old)}: no longer watched; it stays switched on"
    return _other(decision)


def _other(decision: Decision) -> Verdict:
    label = item(decision.resource)
    match decision.operation:
        case Operation.CREATE:
            return Impact.NONE, f"{label} is created"
        case Operation.UPDATE:
            return Impact.IN_PLACE, f"{label} is changed in place: {changed(decision)}"
        case Operation.DELETE:
            return Impact.IN_PLACE, f"{label} is deleted"
    return Impact.IN_PLACE, f"{label} is deleted and made again: {change_of(decision)}"


def _again(decision: Decision) -> str:
    return " and is made again" if decision.operation is Operation.REPLACE else ""


_BY_TYPE: Mapping[str, Callable[[Decision], Verdict]] = {
    google.NODE_POOL: _pool,
    google.CLUSTER: _cluster,
    google.BUCKET: _bucket,
    google.PROJECT_SERVICE: _api,
    "gcp:projects/iAMMember:IAMMember": _member,
    "gcp:serviceaccount/iAMMember:IAMMember": _member,
    "gcp:storage/bucketIAMMember:BucketIAMMember": _member,
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": _member,
    kubernetes.NAMESPACE: _namespace,
    kubernetes.SERVICE: _service,
    kubernetes.RELEASE: _release,
}
