from __future__ import annotations

from pathways.manifests import client_rule, namespace, network_policy, proxy_service, service_account
from tests.pathways.support import INTERACTIVE, merged, plan


def test_only_the_jobs_own_pods_reach_it() -> None:
    policy = network_policy(plan())
    assert policy is not None
    own = {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": "train"}}
    assert policy["spec"]["podSelector"] == own
    assert policy["spec"]["policyTypes"] == ["Ingress"]
    assert policy["spec"]["ingress"] == [{"from": [{"podSelector": own}]}]
    assert network_policy(plan({"runtime": {"hostNetwork": True}})) is None


def test_clients_reach_the_proxy_port_and_no_other() -> None:
    made = plan({"runtime": {"ports": {"proxy": 30000}}})
    assert client_rule(made, "10.0.0.0/18") == {
        "from": [{"ipBlock": {"cidr": "10.0.0.0/18"}}],
        "ports": [{"protocol": "TCP", "port": 30000}],
    }


def test_the_load_balancer_is_internal() -> None:
    access = {"workload": {"access": "internal-load-balancer"}}
    service = proxy_service(plan(merged(INTERACTIVE, access)), "10.0.0.0/18")
    assert service["spec"]["loadBalancerSourceRanges"] == ["10.0.0.0/18"]
    assert service["metadata"]["name"] == "train-proxy"
    assert service["metadata"]["annotations"] == {"networking.gke.io/load-balancer-type": "Internal"}
    assert service["spec"]["selector"]["jobset.sigs.k8s.io/replicatedjob-name"] == "pathways-head"
    assert service["spec"]["ports"][0]["port"] == service["spec"]["ports"][0]["targetPort"] == 29000


def test_the_namespace_enforces_what_the_pods_pass() -> None:
    labels = namespace(plan())["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "baseline"
    assert labels["team"] == "demo"
    on_host = namespace(plan({"runtime": {"hostNetwork": True}}))["metadata"]["labels"]
    assert on_host["pod-security.kubernetes.io/enforce"] == "privileged"


def test_the_service_account_mounts_no_token_and_names_the_pull_secret() -> None:
    account = service_account(plan())
    assert account["automountServiceAccountToken"] is False
    assert "imagePullSecrets" not in account
    with_secret = service_account(plan({"runtime": {"images": {"pullSecret": "creds"}}}))
    assert with_secret["imagePullSecrets"] == [{"name": "creds"}]
