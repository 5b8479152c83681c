from __future__ import annotations

from typing import Any

import pytest

from tests.support.network_policy import NamedPort, Pod, allows, selects

NAMESPACES = {"vision": {"team": "vision"}, "other": {"team": "other"}, "tools": {"team": "vision"}}
TARGET = Pod("vision", {"app": "head"}, (NamedPort("proxy", 29000), NamedPort("probe", 53, "UDP")))
FRIEND = Pod("vision", {"app": "worker", "tier": "a"})
STRANGER = Pod("vision", {"app": "notebook"})
FOREIGN = Pod("other", {"app": "worker"})
TOOL = Pod("tools", {"app": "worker"})

HEAD = {"matchLabels": {"app": "head"}}
WORKER = {"matchLabels": {"app": "worker"}}


def policy(*ingress: dict[str, Any], selector: dict[str, Any] = HEAD, **spec: Any) -> dict[str, Any]:
    body = {"podSelector": selector, "ingress": list(ingress), **spec}
    return {"metadata": {"name": "p", "namespace": "vision"}, "spec": body}


def peer(**entry: Any) -> dict[str, Any]:
    return {"from": [entry]}


def test_without_a_policy_everything_is_open() -> None:
    assert allows([], NAMESPACES, FOREIGN, TARGET, 29000)


@pytest.mark.parametrize(
    ("only", "isolates"),
    [
        (policy(), True),
        (policy(selector={}), True),
        (policy(selector=WORKER), False),
        (policy(policyTypes=["Egress"]), False),
        (policy(policyTypes=["Ingress", "Egress"]), True),
        ({"metadata": {"namespace": "vision"}, "spec": {"podSelector": HEAD}}, True),
        ({"metadata": {"namespace": "vision"}, "spec": {"podSelector": HEAD, "egress": [{}]}}, True),
        ({"metadata": {"namespace": "other"}, "spec": {"podSelector": HEAD}}, False),
    ],
)
def test_a_policy_isolates_the_pods_that_it_selects_for_ingress(only: dict[str, Any], isolates: bool) -> None:
    assert allows([only], NAMESPACES, STRANGER, TARGET, 29000) is not isolates


@pytest.mark.parametrize(
    ("rule", "source", "allowed"),
    [
        ({}, FOREIGN, True),
        ({"from": []}, FOREIGN, True),
        ({"from": []}, "203.0.113.9", True),
        (peer(podSelector=WORKER), FRIEND, True),
        (peer(podSelector=WORKER), STRANGER, False),
        (peer(podSelector=WORKER), FOREIGN, False),
        (peer(podSelector={}), STRANGER, True),
        (peer(podSelector={}), FOREIGN, False),
        (peer(podSelector={}), "10.0.0.1", False),
        (peer(namespaceSelector={}), FOREIGN, True),
        (peer(namespaceSelector={}), "10.0.0.1", False),
        (peer(namespaceSelector={"matchLabels": {"team": "vision"}}), TOOL, True),
        (peer(namespaceSelector={"matchLabels": {"team": "vision"}}), FOREIGN, False),
        (peer(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "other"}}), FOREIGN, True),
        (peer(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "other"}}), TOOL, False),
        (peer(namespaceSelector={"matchLabels": {"team": "vision"}}, podSelector=WORKER), TOOL, True),
        (peer(namespaceSelector={"matchLabels": {"team": "vision"}}, podSelector=HEAD), TOOL, False),
        (peer(ipBlock={"cidr": "10.0.0.0/8"}), "10.1.2.3", True),
        (peer(ipBlock={"cidr": "10.0.0.0/8"}), "11.1.2.3", False),
        (peer(ipBlock={"cidr": "10.0.0.0/8"}), "fd00::1", False),
        (peer(ipBlock={"cidr": "fd00::/8"}), "fd00::1", True),
        (peer(ipBlock={"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}), "10.1.2.3", False),
        (peer(ipBlock={"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}), "10.2.2.3", True),
        (peer(ipBlock={"cidr": "0.0.0.0/0"}), FRIEND, False),
        (peer(ipBlock={"cidr": "0.0.0.0/0"}), Pod("vision", host_network=True, node_address="10.0.0.7"), True),
        (peer(ipBlock={"cidr": "0.0.0.0/0"}), Pod("vision", host_network=True), False),
        (peer(podSelector=WORKER), Pod("vision", {"app": "worker"}, host_network=True), False),
        ({"from": [{"podSelector": WORKER}, {"ipBlock": {"cidr": "10.0.0.0/8"}}]}, "10.0.0.1", True),
    ],
)
def test_peers(rule: dict[str, Any], source: Pod | str, allowed: bool) -> None:
    assert allows([policy(rule)], NAMESPACES, source, TARGET, 29000) is allowed


@pytest.mark.parametrize(
    ("ports", "port", "protocol", "allowed"),
    [
        ([], 1, "TCP", True),
        ([{"port": 29000}], 29000, "TCP", True),
        ([{"port": 29000}], 29001, "TCP", False),
        ([{"port": 29000}], 29000, "UDP", False),
        ([{"port": 29000, "protocol": "UDP"}], 29000, "UDP", True),
        ([{"port": 29000, "protocol": "UDP"}], 29000, "TCP", False),
        ([{"protocol": "TCP"}], 5, "TCP", True),
        ([{"protocol": "TCP"}], 5, "UDP", False),
        ([{"port": 29000, "endPort": 29002}], 29002, "TCP", True),
        ([{"port": 29000, "endPort": 29002}], 29003, "TCP", False),
        ([{"port": 29000, "endPort": 29002}], 28999, "TCP", False),
        ([{"port": "proxy"}], 29000, "TCP", True),
        ([{"port": "proxy"}], 29001, "TCP", False),
        ([{"port": "absent"}], 29000, "TCP", False),
        ([{"port": "probe"}], 53, "TCP", False),
        ([{"port": "probe", "protocol": "UDP"}], 53, "UDP", True),
        ([{"port": 1}, {"port": 29000}], 29000, "TCP", True),
    ],
)
def test_ports(ports: list[dict[str, Any]], port: int, protocol: str, allowed: bool) -> None:
    assert allows([policy({"ports": ports})], NAMESPACES, FRIEND, TARGET, port, protocol=protocol) is allowed


def test_a_rule_needs_both_its_peer_and_its_port() -> None:
    rule = {**peer(podSelector=WORKER), "ports": [{"port": 29000}]}
    assert allows([policy(rule)], NAMESPACES, FRIEND, TARGET, 29000)
    assert not allows([policy(rule)], NAMESPACES, FRIEND, TARGET, 29001)
    assert not allows([policy(rule)], NAMESPACES, STRANGER, TARGET, 29000)


def test_policies_and_rules_add_up() -> None:
    closed, open_for_workers = policy(), policy(peer(podSelector=HEAD), peer(podSelector=WORKER), selector={})
    assert allows([closed, open_for_workers], NAMESPACES, FRIEND, TARGET, 29000)
    assert not allows([closed, open_for_workers], NAMESPACES, STRANGER, TARGET, 29000)


def test_policies_that_do_not_select_the_target_open_nothing() -> None:
    elsewhere = policy({}, selector=WORKER)
    assert not allows([policy(), elsewhere], NAMESPACES, FRIEND, TARGET, 29000)


def test_a_host_network_target_is_never_isolated() -> None:
    target = Pod("vision", {"app": "head"}, host_network=True)
    assert allows([policy(selector={})], NAMESPACES, FOREIGN, target, 29000)


def test_a_pod_reaches_itself() -> None:
    assert allows([policy()], NAMESPACES, TARGET, TARGET, 29000)


@pytest.mark.parametrize(
    ("expression", "labels", "selected"),
    [
        ({"operator": "In", "values": ["a", "b"]}, {"k": "b"}, True),
        ({"operator": "In", "values": ["a"]}, {"k": "b"}, False),
        ({"operator": "In", "values": ["a"]}, {}, False),
        ({"operator": "NotIn", "values": ["a"]}, {"k": "a"}, False),
        ({"operator": "NotIn", "values": ["a"]}, {"k": "b"}, True),
        ({"operator": "NotIn", "values": ["a"]}, {}, True),
        ({"operator": "Exists"}, {"k": ""}, True),
        ({"operator": "Exists"}, {}, False),
        ({"operator": "DoesNotExist"}, {"k": ""}, False),
        ({"operator": "DoesNotExist"}, {}, True),
    ],
)
def test_match_expressions(expression: dict[str, Any], labels: dict[str, str], selected: bool) -> None:
    assert selects({"matchExpressions": [{"key": "k", **expression}]}, labels) is selected


def test_labels_and_expressions_of_a_selector_hold_together() -> None:
    selector = {"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}
    assert selects(selector, {"a": "1", "b": "2"})
    assert not selects(selector, {"a": "1"})
    assert not selects(selector, {"b": "2"})


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        (peer(), "needs a podSelector"),
        (peer(podSelector={}, ipBlock={"cidr": "10.0.0.0/8"}), "takes no selector"),
        (peer(podSelector={"matchExpressions": [{"key": "k", "operator": "Gt", "values": ["1"]}]}), "'Gt'"),
        ({"ports": [{"port": "proxy", "endPort": 3}]}, "endPort 3"),
        ({"ports": [{"port": 9, "endPort": 3}]}, "endPort 3"),
    ],
)
def test_what_the_api_server_would_refuse_is_an_error(rule: dict[str, Any], part: str) -> None:
    with pytest.raises(ValueError, match=part):
        allows([policy(rule)], NAMESPACES, FRIEND, TARGET, 29000)


def test_a_namespace_without_labels_given_is_an_error() -> None:
    with pytest.raises(ValueError, match="'lost'"):
        allows([policy(peer(namespaceSelector={}))], NAMESPACES, Pod("lost"), TARGET, 29000)


def test_a_pod_is_read_from_its_template_with_the_labels_a_controller_adds() -> None:
    container = {"ports": [{"name": "proxy", "containerPort": 29000}, {"containerPort": 1}]}
    sidecar = {"ports": [{"name": "dns", "containerPort": 53, "protocol": "UDP"}]}
    template = {
        "metadata": {"labels": {"app": "head"}},
        "spec": {"hostNetwork": True, "initContainers": [sidecar], "containers": [container]},
    }
    ports = (NamedPort("dns", 53, "UDP"), NamedPort("proxy", 29000))
    expected = Pod("vision", {"app": "head", "job": "0"}, ports, host_network=True)
    assert Pod.from_template(template, "vision", {"job": "0"}) == expected
