from __future__ import annotations

import re

import pytest

from pathways.names import JOB_SET_NAME_BUDGET, Names
from tests.pathways.support import plan

LONGEST = {
    "gcp:project": "p" * 30,
    "team": "t" * 16,
    "environment": "staging",
    "slices": {"topology": "2x2", "count": 1024},
    "workload": {"name": "j" * 22},
}


def test_the_longest_names_fit() -> None:
    made = plan(LONGEST)
    names = made.names
    assert len(names.head_host) == 63
    assert len(names.bucket) == 63
    assert len(names.node_service_account) == 30
    assert len(names.slice_pool(1023)) <= 40
    assert len(names.longest_worker_pod(1024, 2304)) <= 63
    assert len(names.workload_policy("tpu7x", "16x24x24")) <= 63
    assert len(names.proxy_service) <= 63
    assert list(names.problems(1024, 2304, "16x24x24", "tpu7x")) == []


def test_names_are_what_google_and_kubernetes_take() -> None:
    names = plan({"team": "a", "environment": "dev"}).names
    for name in (names.cluster, names.network, names.subnetwork, names.router, names.nat, names.pod_range):
        assert re.fullmatch(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?", name)
    assert 6 <= len(names.node_service_account) <= 30
    assert len(set(vars(type(names)))) > 10
    rendered = [names.system_pool, names.head_pool, *(names.slice_pool(index) for index in range(3))]
    assert len(set(rendered)) == len(rendered)


@pytest.mark.parametrize(
    ("names", "key", "words"),
    [
        (Names("project", "team-dev", "j" * 23), "workload.name", "has 65 characters"),
        (Names("project", "t" * 33, "j"), "team", "node pool"),
        (Names("project", "t" * 25, "j"), "team", "service account id"),
        (Names("p" * 30, "t" * 25, "j"), "team", "bucket"),
        (Names("project", "t" * 60, "j"), "team", "workload policy"),
        (Names("goog-project", "team-dev", "j"), "gcp:project", "'google'"),
        (Names("project", "google-dev", "j"), "team", "'google'"),
    ],
)
def test_names_over_budget_are_told(names: Names, key: str, words: str) -> None:
    found = list(names.problems(1, 64, "16x16", "tpu-v6e-slice"))
    assert any(problem.key == key and words in problem.what for problem in found), found


def test_the_job_name_budget_follows_from_the_coordinator_label() -> None:
    assert JOB_SET_NAME_BUDGET == 22
    assert plan().names.head_host == "train-pathways-head-0-0.train"


def test_pool_names_do_not_carry_the_shape() -> None:
    assert plan().names.slice_pool(0) == plan({"slices": {"topology": "2x4"}}).names.slice_pool(0) == "demo-dev-slice-0"
