"""The rules by which kwok plays the kubelets."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.e2e.cluster.host import HOSTED_LABEL, HOSTED_NAMES

# No pod-complete: a pod ends when a test says so.
_STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-delete.yaml",
)


def stage_files(kwok_folder: Path, folder: Path) -> list[Path]:
    """Write kwok's own stages with two changes and return their files.

    Pods whose process really runs here become ready when that process is, not at once; and a deleted pod keeps its
    finalizers, since no kubelet takes the Job controller's away.
    """
    folder.mkdir()
    files = []
    for source in _STAGES:
        stage = yaml.safe_load((kwok_folder / "kustomize" / "stage" / source).read_text())
        if stage["metadata"]["name"] == "pod-ready":
            hosted = {"key": f'.metadata.labels["{HOSTED_LABEL}"]', "operator": "NotIn", "values": list(HOSTED_NAMES)}
            stage["spec"]["selector"]["matchExpressions"].append(hosted)
        stage["spec"]["next"].pop("finalizers", None)
        file = folder / Path(source).name
        file.write_text(yaml.safe_dump(stage))
        files.append(file)
    return files
