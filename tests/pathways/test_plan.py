"""What follows from a stack file: totals, protection, labels, places, connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pathways.client import client_environment, connect_commands, console_links, in_head_target, proxy_host
from pathways.cluster import created_server, existing_server, kubeconfig
from pathways.operators import job_set_values
from pathways.settings.platform import JobSetOperator
from tests.pathways.support import EXISTING_CLUSTER, EXISTING_NETWORK, INTERACTIVE, merged, plan

DNS = merged(INTERACTIVE, {"workload": {"access": "dns"}})


def test_totals() -> None:
    assert plan().totals == {
        "slices": 2,
        "hosts": 8,
        "chips": 32,
        "headVcpu": 64,
        "nodeAddresses": {"used": 12, "available": 16_380},
        "podAddresses": {"used": 1280, "available": 262_144},
    }
    existing = plan(EXISTING_CLUSTER, EXISTING_NETWORK).totals
    assert existing["nodeAddresses"] == {"used": 9}
    assert existing["podAddresses"] == {"used": 8 * 32 + 256}


@pytest.mark.parametrize(
    ("changes", "protect"),
    [
        ({}, False),
        ({"environment": "prod"}, True),
        ({"environment": "prod", "cluster": {"deletionProtection": False}}, False),
        ({"cluster": {"deletionProtection": True}}, True),
        (merged({"environment": "prod"}, EXISTING_CLUSTER), True),
    ],
)
def test_protection(changes: Mapping[str, Any], *, protect: bool) -> None:
    assert plan(changes).protect is protect


def test_places() -> None:
    made = plan({"scratch": {"prefix": "a/b"}})
    assert made.scratch_location == "gs://demo-project-demo-dev-scratch/a/b"
    assert plan({"scratch": {"existing": "mine"}}).scratch_location == "gs://mine/pathways-scratch/shared"
    assert made.cluster_identifier == "demo-project/us-east5/demo-dev"
    assert plan(EXISTING_CLUSTER).cluster_identifier == "demo-project/us-east5/shared"
    assert plan(EXISTING_CLUSTER).network is None
    assert plan(EXISTING_NETWORK).network is None
    assert made.workload_pool == "demo-project.svc.id.goog"
    assert made.labels == {"team": "demo", "environment": "dev", "managed-by": "pulumi"}


def test_clients() -> None:
    assert in_head_target(plan({"runtime": {"ports": {"proxy": 30000}}})) == "grpc://127.0.0.1:30000"
    assert proxy_host(plan()) == "train-pathways-head-0-0.train.demo-dev.svc.cluster.local"
    assert proxy_host(plan(DNS)) == "train-pathways-head-0-0.train.demo-dev.svc.demo-dev.pathways"
    environment = client_environment("h", 1)
    assert environment["JAX_PLATFORMS"] == "proxy"
    assert environment["JAX_BACKEND_TARGET"] == "grpc://h:1"
    assert plan(INTERACTIVE).outside_clients == "none"
    assert plan(DNS).outside_clients == "dns"


@pytest.mark.parametrize(
    ("changes", "flag"),
    [
        ({}, "--dns-endpoint"),
        ({"cluster": {"endpoint": "private"}}, "--internal-ip"),
        ({"cluster": {"endpoint": "authorized", "authorizedNetworks": ["8.0.0.0/8"]}}, "--project=demo-project"),
        (EXISTING_CLUSTER, "--project=demo-project"),
    ],
)
def test_credentials(changes: Mapping[str, Any], flag: str) -> None:
    assert connect_commands(plan(changes))["credentials"].endswith(flag)


def test_connection_commands_follow_the_mode() -> None:
    assert "portForward" not in connect_commands(plan())
    assert "-c main " in connect_commands(plan())["logs"]
    interactive = connect_commands(plan(INTERACTIVE, {"runtime": {"ports": {"proxy": 30000}}}))
    assert interactive["portForward"].endswith("30000:30000")
    assert "-c pathways-proxy " in interactive["logs"]
    assert all("project=demo-project" in link for link in console_links(plan()).values())


def test_control_planes() -> None:
    known = {"dns": "d", "ip": "1", "private_ip": "2", "ca": "c"}
    servers = {endpoint: created_server(endpoint, known) for endpoint in ("dns", "private", "authorized")}
    assert [(each.url, each.ca) for each in servers.values()] == [
        ("https://d", None),
        ("https://2", "c"),
        ("https://1", "c"),
    ]
    assert existing_server("1", "c", None).url == "https://1"
    assert existing_server("1", "c", "d").ca is None
    config = kubeconfig("name", servers["private"])
    assert config["clusters"][0]["cluster"] == {"server": "https://2", "certificate-authority-data": "c"}
    assert config["users"][0]["user"]["exec"]["command"] == "gke-gcloud-auth-plugin"
    assert "token" not in str(config["users"])


@pytest.mark.parametrize(("count", "memory"), [(2, "4096Mi"), (200, "15365Mi")])
def test_the_controllers_memory_grows_with_the_nodes(count: int, memory: str) -> None:
    values = job_set_values(plan({"slices": {"topology": "16x16", "count": count}}), JobSetOperator())
    assert values["controller"]["resources"]["limits"]["memory"] == memory
    assert values["image"]["tag"] == "v0.11.1"
