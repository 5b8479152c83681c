"""What is written for Checkov, and what is made of its answer."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from offline.errors import OfflineError
from policy.model import Waiver
from policy.pods import documents
from policy.scan import CHECKOV, findings, main, scan
from policy.terraform import TABLE, plan, snake, table
from policy.waivers import is_scanner_rule, load
from tests.policy.good import changed, good
from tests.program.support import CHECKOUT, config, run

DAY = date(2026, 12, 1)
SCHEMA = "PATHWAYS_GCP_SCHEMA"
REAL = CHECKOUT / CHECKOV


def values(name: str) -> Any:
    """The planned values of one resource of the good stack."""
    resources = plan(good())["planned_values"]["root_module"]["resources"]
    (found,) = [each["values"] for each in resources if each["name"] == name]
    return found


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)


@pytest.mark.parametrize(
    ("name", "snaked"),
    [("name", "name"), ("nodeConfig", "node_config"), ("enableL4IlbSubsetting", "enable_l4_ilb_subsetting")],
)
def test_most_names_follow_from_pulumis(name: str, snaked: str) -> None:
    assert snake(name) == snaked


def test_blocks_are_lists_of_one_and_lists_have_the_providers_singular() -> None:
    cluster, pool, bucket = values("cluster-cluster"), values("head-pool"), values("scratch-bucket")
    assert cluster["private_cluster_config"] == [{"enable_private_endpoint": True, "enable_private_nodes": True}]
    assert cluster["control_plane_endpoints_config"][0]["ip_endpoints_config"] == [{"enabled": False}]
    assert pool["node_config"][0]["taint"][0]["key"] == "pathways/head"
    assert bucket["lifecycle_rule"][0]["condition"] == [{"age": 14, "matches_prefix": ["pathways-scratch/"]}]
    assert values("network-nodes")["secondary_ip_range"][0]["range_name"] == "demo-prod-pods"


def test_keys_of_the_users_own_stay_as_they_are() -> None:
    assert values("cluster-cluster")["resource_labels"]["managed-by"] == "pulumi"
    assert values("head-pool")["node_config"][0]["metadata"] == {"disable-legacy-endpoints": "true"}


def test_what_is_not_known_is_left_out() -> None:
    assert "service_account" not in values("head-pool")["node_config"][0]
    assert "$unknown" not in json.dumps(plan(good()))


def test_references_are_those_of_the_program() -> None:
    resources = plan(good())["configuration"]["root_module"]["resources"]
    (subnet,) = [each for each in resources if each["name"] == "network-nodes"]
    assert subnet["expressions"]["network"] == {"references": ["google_compute_network.network-vpc"]}


def test_every_google_resource_of_the_program_is_in_the_plan() -> None:
    recorded = run(config(), "up")
    google = {each.name for each in recorded.resources if each.type.startswith("gcp:")}
    written = plan(recorded)
    assert {each["name"] for each in written["resource_changes"]} == google
    blocks = [each["values"] for each in written["planned_values"]["root_module"]["resources"]]
    own_words = {"managed-by", "disable-legacy-endpoints", "pathways/stack"}
    assert [key for key in keys(blocks) if not re.fullmatch(r"[a-z0-9_]+", key) and key not in own_words] == []


def test_the_table_agrees_with_the_providers_schema() -> None:
    if SCHEMA not in os.environ:
        pytest.skip(f"{SCHEMA} does not name the provider's schema")
    script = CHECKOUT / "scripts" / "terraform_names.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "terraform.json agrees with the schema\n")


def test_the_check_of_the_table_sees_a_difference(tmp_path: Path) -> None:
    """A schema of only this table's types, with one name that differs."""
    types = json.loads(TABLE.read_text())
    resources = {type_: {"tf": each["type"], "properties": {}} for type_, each in types.items()}
    (tmp_path / "schema.json").write_text(json.dumps({"resources": resources}))
    environment = {**os.environ, SCHEMA: str(tmp_path / "schema.json")}
    script = CHECKOUT / "scripts" / "terraform_names.py"
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "gcp:container/cluster:Cluster: the schema says" in done.stdout
    # Types without anything of their own agree.
    assert "gcp:projects/service:Service" not in done.stdout


def test_a_jobset_is_shown_as_the_jobs_it_makes() -> None:
    shown = {
        (each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(documents(run(config(), "up")))
    }
    head, worker = shown["Job", "train-pathways-head"], shown["Job", "train-worker"]
    for job in (head, worker):
        template = job["spec"]["template"]
        assert template["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] == "train"
        assert job["metadata"]["namespace"] == "demo-dev"
    assert [each["name"] for each in head["spec"]["template"]["spec"]["initContainers"]] == [
        "pathways-rm",
        "pathways-proxy",
    ]
    assert ("NetworkPolicy", "train") in shown
    assert not {"JobSet", "CustomResourceDefinition", "Release"} & {kind for kind, _ in shown}
    assert len(table()) > 10


REPORT = {
    "check_id": "CKV_GCP_78",
    "check_name": "Ensure Cloud storage has versioning enabled",
    "check_result": {"result": "FAILED", "evaluated_keys": ["versioning"]},
    "file_path": "/demo-prod.plan.json",
    "resource": "google_storage_bucket.scratch-bucket",
}


def checkov(folder: Path, answer: object, code: int = 0) -> Path:
    """A program that answers as Checkov would."""
    program = folder / "checkov"
    (folder / "answer").write_text(answer if isinstance(answer, str) else json.dumps(answer))
    program.write_text(f"#!/bin/sh\ncat '{folder}/answer'\nexit {code}\n")
    program.chmod(0o755)
    return program


def answer(resources: int, errors: int = 0, checks: tuple[object, ...] = ()) -> list[dict[str, Any]]:
    summary = {"resource_count": resources, "parsing_errors": errors}
    return [
        {"check_type": "terraform_plan", "summary": summary, "results": {"failed_checks": list(checks)}},
        {"check_type": "kubernetes", "summary": {"parsing_errors": 0}, "results": {"failed_checks": []}},
    ]


def written() -> int:
    return len(plan(good())["resource_changes"])


def test_a_finding_names_stack_rule_and_resource(tmp_path: Path) -> None:
    checked = scan([good()], checkov(tmp_path, answer(written(), checks=(REPORT,))))
    (found,) = findings(checked, "demo-prod", [], DAY)
    assert (found.rule, found.name, found.detail, found.stops) == (
        "CKV_GCP_78",
        "google_storage_bucket.scratch-bucket",
        "versioning",
        True,
    )
    assert findings(checked, "demo", [], DAY) == []


@pytest.mark.parametrize(
    ("waiver", "stops"),
    [
        ({}, False),
        ({"resources": "google_storage_bucket.*"}, False),
        ({"resources": "scratch-bucket"}, True),
        ({"stacks": "*-dev"}, True),
        ({"until": date(2026, 11, 30)}, True),
    ],
)
def test_a_waiver_covers_checkovs_findings(waiver: dict[str, Any], stops: bool) -> None:
    given = Waiver(**{"rule": "CKV_GCP_78", "stacks": "*", "resources": "*", "reason": "why", "until": DAY, **waiver})
    (found,) = findings([REPORT], "demo-prod", [given], DAY)
    assert found.stops is stops


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (lambda: answer(written() - 1), "of .* resources"),
        (lambda: answer(written(), errors=1), "could not read a file"),
        (lambda: {"passed": 0, "failed": 0, "resource_count": 0}, "read 0 of"),
        (lambda: "Traceback", "ended with 0"),
    ],
)
def test_a_scan_that_did_not_read_everything_fails(tmp_path: Path, said: Any, problem: str) -> None:
    with pytest.raises(OfflineError, match=problem):
        scan([good()], checkov(tmp_path, said()))


def test_a_missing_checkov_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["vision-dev", "--project", str(CHECKOUT), "--checkov", "nowhere/checkov"]
    assert main(arguments, today=DAY) == 1
    assert capsys.readouterr().err.startswith("nowhere/checkov: cannot be run (No such file or directory)")


@pytest.mark.thorough
@pytest.mark.skipif(not REAL.exists(), reason="Checkov's environment was not made (make scan)")
def test_checkov_itself_finds_what_is_wrong() -> None:
    bad = changed(run(config(), "up"), "scratch-bucket", {"uniformBucketLevelAccess": False})
    waivers = [each for each in load() if is_scanner_rule(each.rule)]
    found = findings(scan([bad], REAL), "demo-dev", waivers, DAY)
    assert [(each.rule, each.name) for each in found if each.stops] == [
        ("CKV_GCP_29", "google_storage_bucket.scratch-bucket")
    ]
