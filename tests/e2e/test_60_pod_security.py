"""Pod Security: each stack's namespace enforces what it says, its pods pass, and one level stricter is reported."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from tests.e2e.cluster.kube import KubeError, Object
from tests.e2e.lifecycle import Life

PREFIX = "pod-security.kubernetes.io/"
LEVELS = ("privileged", "baseline", "restricted")

# For each level a pod that only a laxer one lets in.
REFUSED_BY: dict[str, Object] = {
    "baseline": {"hostPID": True, "containers": [{"name": "c", "image": "example.invalid/c:1"}]},
    "restricted": {"containers": [{"name": "c", "image": "example.invalid/c:1"}]},
}


def labels(life: Life) -> dict[str, str]:
    namespace = life.kube.get("Namespace", life.stack)
    assert namespace is not None
    return dict(namespace["metadata"]["labels"])


def stricter(life: Life) -> str:
    return LEVELS[LEVELS.index(labels(life)[PREFIX + "enforce"]) + 1]


def warnings_of(life: Life, level: str) -> str:
    """What the API server would warn of if the namespace enforced this level (a dry run)."""
    plane = life.world.plane
    answer = requests.patch(
        plane.server + life.kube.path("Namespace", None, life.stack),
        params={"dryRun": "All"},
        json={"metadata": {"labels": {PREFIX + "enforce": level}}},
        headers={
            "Content-Type": "application/merge-patch+json",
            "Authorization": f"Bearer {plane.credentials.admin_token}",
        },
        verify=str(plane.credentials.ca_file),
        timeout=30,
    )
    answer.raise_for_status()
    return answer.headers.get("Warning", "")


def like(life: Life, pod: Object, namespace: str) -> Object:
    """A new pod of the same spec, as its author would write it."""
    spec: dict[str, Any] = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    account = {"serviceAccountName", "serviceAccount"}
    spec = {key: value for key, value in spec.items() if key not in account}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "like-", "namespace": namespace, "labels": {"app": "like"}},
        "spec": spec,
    }


def one_of_each(life: Life) -> list[Object]:
    return [life.head, life.workers[0]]


def test_the_namespace_enforces_the_level_of_its_pods_and_audits_the_next(life: Life) -> None:
    enforced = "privileged" if life.host_network else "baseline"
    found = labels(life)
    assert found[PREFIX + "enforce"] == enforced
    assert found[PREFIX + "audit"] == stricter(life)


def test_the_server_refuses_a_pod_that_is_above_the_level(life: Life) -> None:
    level = labels(life)[PREFIX + "enforce"]
    if level == "privileged":
        pod = {"metadata": {"namespace": life.stack}, "spec": REFUSED_BY["baseline"]}
        assert life.kube.create(like(life, pod, life.stack), dry_run=True)  # all is let in
        return
    pod = {"metadata": {}, "spec": REFUSED_BY[level]}
    with pytest.raises(KubeError, match=f'violates PodSecurity "{level}:latest"') as refusal:
        life.kube.create(like(life, pod, life.stack), dry_run=True)
    assert refusal.value.code == 403


def test_our_pods_pass_at_the_level_that_is_enforced(life: Life) -> None:
    assert warnings_of(life, labels(life)[PREFIX + "enforce"]) == ""
    for pod in one_of_each(life):
        assert life.kube.create(like(life, pod, life.stack), dry_run=True)


def test_one_level_stricter_is_reported_for_every_kind_of_pod(life: Life) -> None:
    warning = warnings_of(life, stricter(life))
    assert f'existing pods in namespace \\"{life.stack}\\" violate the new PodSecurity enforce level' in warning
    assert f"{stricter(life)}:latest" in warning
    assert ("host namespaces" if life.host_network else "runAsNonRoot != true") in warning


def test_one_level_stricter_would_refuse_our_pods(life: Life) -> None:
    name = f"{life.stack}-stricter"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    namespace["metadata"] = {"name": name, "labels": {PREFIX + "enforce": stricter(life)}}
    life.kube.create(namespace)
    try:
        for pod in one_of_each(life):
            with pytest.raises(KubeError, match=f'violates PodSecurity "{stricter(life)}:latest"'):
                life.kube.create(like(life, pod, name), dry_run=True)
    finally:
        life.kube.delete("Namespace", name)
