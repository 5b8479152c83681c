from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.pathways.support import ABSENT, INTERACTIVE, Refused, check_refused, faults, merged, no


def job(**values: Any) -> dict[str, Any]:
    return {"workload": values}


@pytest.mark.parametrize(
    "case",
    [
        no("workload.mode", job(mode=ABSENT), "is missing", "batch, interactive", "write mode: batch"),
        no("workload.mode", job(mode="Batch"), "Batch is not a choice", "write batch"),
        no("workload.mode", job(mode="serving"), "serving is not supported yet", "write one of batch, interactive"),
        no("workload.mode", job(mode=3), "3 is not a choice"),
        no("workload.name", job(name=ABSENT), "is missing", "write name: train"),
        no("workload.name", job(name="a" * 23), "has 23 characters", "at most 22"),
        no("workload.name", job(name="1train"), "starts with a letter"),
        no("workload.name", job(name="train-"), "lower-case"),
        no("workload.name", job(name="a.b"), "lower-case"),
        no("workload.runId", job(runId="Run 2"), "not allowed", "up to 63"),
        no("workload.runId", job(runId=2), "a number (2)", 'write it in quotes: "2"'),
        no("workload.runId", job(runId=1.0), "a number (1.0)", 'as text, for example "run-2"'),
        no("workload.runId", job(runId=None), "has no value (null)", "remove runId"),
        no("workload.image", job(image=ABSENT), "is missing", "write image: us-docker.pkg.dev/"),
        no("workload.image", job(image="Repo/App:1"), "lower case", "write repo/app:1"),
        no("workload.image", job(image="app:1 "), '"app:1 " is not allowed', "write app:1"),
        no("workload.image", job(image="app;rm:1"), "without blanks"),
        no("workload.image", job(image="app:1\nx"), "app:1\\nx"),
        no("workload.image", job(image="http://app:1"), "not allowed"),
        no("workload.image", job(image="app:ü"), "not allowed"),
        no("workload.image", job(image="app@sha256:abc"), "sha256:DIGEST"),
        no("workload.image", job(image="a/" * 256 + "a"), "at most 512"),
        no("workload.command", job(command="python train.py"), "text (python train.py)", "a list", "write it as ["),
        no("workload.command", job(command=["python", ""]), "an empty word", "a list of words", "remove it"),
        no("workload.command[1]", job(command=["python", 3]), "a number (3)", "text"),
        no("workload.args[0]", job(args=[None]), "nothing (null)", "text"),
        no("workload.args[0]", job(args=[["a"]]), 'a list (["a"])', "text"),
        no("workload.args[0]", job(args=["a\0b"]), "a\\x00b is not allowed", "no NUL"),
        no("workload.env.A", job(env={"A": "\0"}), "no NUL"),
        no("workload.env.STEPS", job(env={"STEPS": 1}), "a number (1)", "text"),
        no("workload.env.DEBUG", job(env={"DEBUG": True}), "true or false (true)", "text"),
        no("workload.env", job(env=["A=1"]), "a list", "a map", "write it as {"),
        no("workload.env.MY-VAR", job(env={"MY-VAR": "1"}), "MY-VAR is not allowed", "letters, digits and _"),
        no("workload.env", job(env={"JAX_PLATFORMS": "cpu"}), "JAX_PLATFORMS is set by the stack", "managed", "remove"),
        no("workload.env", job(env={"PATHWAYS_HEAD": "x"}), "PATHWAYS_HEAD is set by the stack"),
        no(
            "workload.env",
            job(env={"A": "$(B)", "B": "1"}),
            "$(B) in A is not declared",
            "earlier",
            "declare B above A",
        ),
        no("workload.env", job(env={"A": "$(A)"}), "$(A) in A is not declared before it", "$$(A)"),
        no("workload.env", job(env={"PYTHONUNBUFFERED": "$(PYTHONUNBUFFERED)"}), "not declared before"),
        no("workload.resources.cpu", job(resources={"cpu": 0}), "0 is not a CPU quantity", "write for example 24"),
        no("workload.resources.cpu", job(resources={"cpu": True}), "true is not a CPU quantity"),
        no("workload.resources.cpu", job(resources={"cpu": "1e3"}), "1e3 is not a CPU quantity"),
        no("workload.resources.cpu", job(resources={"cpu": 1.5}), "1.5 is not a CPU quantity", "500m"),
        no("workload.resources.cpu", job(resources={"cpu": "24"}), "not a CPU quantity"),
        no("workload.resources.memory", job(resources={"memory": "100"}), "its unit", "write for example 100G"),
        no("workload.resources.memory", job(resources={"memory": "100 GB"}), "its unit"),
        no("workload.resources.memory", job(resources={"memory": "0Gi"}), "whole number"),
        no("workload.resources.memory", job(resources={"memory": 100}), "a number (100)", '"100G"'),
        no("workload.resources.memory", job(resources={"memory": "1k"}), "1k is too little", "16Mi", "example 100G"),
        no("workload.ttl", job(ttl="0h"), "a duration", "write for example 24h"),
        no("workload.ttl", job(ttl="10000d"), "at most 9999d"),
        no("workload.ttl", job(ttl=""), "a duration"),
        no("workload.notebook", job(notebook={}), "not supported yet", "later release", "remove notebook"),
        no("workload.port", job(port=80), "unknown key (port)", "mode, image, command"),
        no("workload.image", merged(INTERACTIVE, job(image="app:1")), "unknown key (image)", "access"),
        no(
            "workload.access", merged(INTERACTIVE, job(access="ilb")), "not a choice", "port-forward, internal-load-bal"
        ),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        job(name="a" * 22),
        job(name="a"),
        job(runId="2026-12-01"),
        job(runId="a.b_c-1"),
        job(image="localhost:5000/a/b__c.d-e:V1.2_3-x"),
        job(command=ABSENT),
        job(command=[], args=["", "a b", 'quote"', "line\nbreak", "ü"]),
        job(env={"A": "1", "B": "$(A)-$(PATHWAYS_HEAD)-$(PYTHONUNBUFFERED)", "_c": ""}),
        job(env={"PYTHONUNBUFFERED": "0", "B": "$(PYTHONUNBUFFERED)"}),
        job(env={"ENABLE_PATHWAYS_PERSISTENCE": "0"}),
        job(resources={"cpu": "23500m", "memory": "90Gi", "ephemeralStorage": "20Gi"}),
        job(resources={}),
        job(ttl="9999d"),
        INTERACTIVE,
        *(merged(INTERACTIVE, job(access=each)) for each in ("port-forward", "internal-load-balancer", "dns")),
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []
