"""The Kubernetes objects of a recording in a form that scanners read: a JobSet as the Jobs that it makes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from offline.recording import Recording, Resource
from policy.expect import JOB_SET, at, items

_LABEL = "jobset.sigs.k8s.io/jobset-name"


def documents(recording: Recording) -> str:
    """All objects but definitions of kinds, as YAML documents (each in JSON, which YAML includes)."""
    objects = [each for each in recording.resources if each.type.startswith("kubernetes:") and "kind" in each.inputs]
    found = [
        document
        for each in objects
        if each.read_id is None and each.inputs["kind"] != "CustomResourceDefinition"
        for document in (jobs(each) if each.type == JOB_SET else [each.inputs])
    ]
    return "".join(f"---\n{json.dumps(document, indent=1)}\n" for document in found)


def jobs(job_set: Resource) -> list[Mapping[str, Any]]:
    """One Job for each replicated job, its pods with the label that the JobSet controller puts on them."""
    name, namespace = (at(job_set.inputs, f"metadata.{key}") for key in ("name", "namespace"))
    return [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": f"{name}-{at(job, 'name')}", "namespace": namespace},
            "spec": _labelled(at(job, "template.spec") or {}, name),
        }
        for job in items(job_set.inputs, "spec.replicatedJobs")
    ]


def _labelled(spec: Mapping[str, Any], job_set: object) -> dict[str, Any]:
    template = spec.get("template", {})
    metadata = template.get("metadata", {})
    labels = {**metadata.get("labels", {}), _LABEL: job_set}
    return {**spec, "template": {**template, "metadata": {**metadata, "labels": labels}}}
