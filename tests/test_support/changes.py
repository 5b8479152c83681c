"""Changes to the sample recording: what a right stack may look like else, and how one goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.recording import Recording, read
from tests.support.rendered import Rule
from tests.test_support import sample
from tests.test_support.sample import find, pod

Document = dict[str, Any]
Change = Callable[[Document], object]

# A rule that must see a fault, what is changed, and a part of what the rule then says.
Fault = tuple[Rule, list[Change], str]

SPOT = "cloud.google.com/gke-spot"


def changed(*changes: Change) -> Recording:
    document = sample.document()
    for change in changes:
        change(document)
    return read(document)


def set_input(name: str, path: str, value: Any) -> Change:
    """Sets an input (`inputs.…`) or option (`options.…`) of a resource; None takes it away."""

    def change(document: Document) -> None:
        *parents, last = path.split(".")
        at = find(document, name)
        for step in parents:
            at = at.setdefault(step, {})
        if value is None:
            at.pop(last, None)
        else:
            at[last] = value

    return change


def in_pod(index: int, path: str, value: Any) -> Change:
    """Sets a value in the head's (0) or the worker's (1) pod spec; a number in the path is a list's index."""

    def change(document: Document) -> None:
        *parents, last = path.split(".")
        at: Any = pod(document, index)
        for step in parents:
            at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
        if value is None:
            at.pop(last, None)
        else:
            at[int(last) if isinstance(at, list) else last] = value

    return change


def in_job(index: int, path: str, value: Any) -> Change:
    def change(document: Document) -> None:
        *parents, last = path.split(".")
        at: Any = find(document, "train")["inputs"]["spec"]["replicatedJobs"][index]
        for step in parents:
            at = at[step]
        at[last] = value

    return change


def add(*resources: Document) -> Change:
    return lambda document: document["resources"].extend(resources)


def drop(name: str) -> Change:
    return lambda document: document["resources"].remove(find(document, name))


def set_output(key: str, value: Any) -> Change:
    return lambda document: document["outputs"].__setitem__(key, value)


def user_env(*entries: Document) -> Change:
    return lambda document: pod(document, 0)["containers"][0]["env"].extend(entries)


def headless(document: Document) -> None:
    """What interactive mode makes of the head."""
    spec = pod(document, 0)
    plain = spec.pop("initContainers")
    for container in plain:
        del container["restartPolicy"]
    spec["containers"] = plain


def spot(document: Document) -> None:
    for index in range(2):
        find(document, f"slice-{index}")["inputs"]["nodeConfig"]["spot"] = True
    worker = pod(document, 1)
    worker["nodeSelector"][SPOT] = "true"
    worker["tolerations"].append({"key": SPOT, "operator": "Equal", "value": "true", "effect": "NoSchedule"})


def flex(document: Document) -> None:
    for index in range(2):
        inputs = find(document, f"slice-{index}")["inputs"]
        del inputs["nodeCount"]
        inputs["initialNodeCount"] = 0
        inputs["autoscaling"] = {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}
        inputs["management"] = {"autoRepair": False, "autoUpgrade": True}
        inputs["nodeConfig"] |= {
            "flexStart": True,
            "maxRunDuration": "3600s",
            "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
        }


def on_host_network(document: Document) -> None:
    for index in range(2):
        pod(document, index).update(hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")
    labels = find(document, "namespace")["inputs"]["metadata"]["labels"]
    labels["pod-security.kubernetes.io/enforce"] = "privileged"


def existing_cluster(document: Document) -> None:
    cluster = find(document, "cluster")
    cluster |= {"inputs": {}, "read": "acme-ml-dev/us-east5/shared"}
    for entry in document["resources"]:
        entry["options"].pop("deletedWith", None)


def existing_bucket(document: Document) -> None:
    bucket = find(document, "scratch")
    bucket |= {"inputs": {}, "read": "shared-scratch", "options": {"provider": sample.GCP_URN}}


def load_balancer(**opts: Any) -> Document:
    inputs = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "proxy"}, "spec": {"type": "LoadBalancer"}}
    return sample.resource("kubernetes:core/v1:Service", "proxy", inputs, provider=sample.KUBERNETES_URN, **opts)


def colocated_sidecar(document: Document) -> None:
    pod(document, 1)["initContainers"] = [{"name": "colocated", "image": "r/sidecar:1", "restartPolicy": "Always"}]
