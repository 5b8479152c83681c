"""The workflow files: what a linter does not know of this house's rules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.version import Version

from tests.project.checkout import ROOT
from tests.project.test_requirements import pins, version
from workflows.artifacts import PREFIX
from workflows.cli import _parser

FOLDER = ROOT / ".github/workflows"
FILES = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.yml"))}
TEXTS = {path.stem: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.yml"))}
JOBS = {f"{file}.{name}": job for file, content in FILES.items() for name, job in content["jobs"].items()}
ON = True
"""YAML 1.1 reads the key `on` so."""

each_job = pytest.mark.parametrize("job", JOBS.values(), ids=list(JOBS))

RIGHTS = {
    "ci.check": {"contents": "read"},
    "ci.test": {"contents": "read"},
    "ci.engine": {"contents": "read"},
    "ci.plan": {"contents": "read"},
    "preview.discover": {"contents": "read"},
    "preview.diff": {"contents": "read"},
    "preview.engine": {"contents": "read", "id-token": "write"},
    "comment.comment": {"contents": "read", "actions": "read", "pull-requests": "write"},
    "deploy.discover": {"contents": "read"},
    "deploy.up": {"contents": "read", "id-token": "write"},
    "drift.discover": {"contents": "read"},
    "drift.drift": {"contents": "read", "id-token": "write"},
}
SIGNED_IN = {name for name, rights in RIGHTS.items() if "id-token" in rights}
ENVIRONMENTS = {"preview.engine": "preview", "deploy.up": "apply", "drift.drift": "drift"}


def steps(job: dict[str, Any], action: str) -> list[dict[str, Any]]:
    return [step for step in job["steps"] if step.get("uses", "").startswith(f"{action}@")]


def scripts(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_each_job_has_its_rights_and_no_more() -> None:
    assert {name: job["permissions"] for name, job in JOBS.items()} == RIGHTS
    assert all(file["permissions"] == {} for file in FILES.values())


def test_who_signs_in_does_so_in_an_environment_and_where_the_repository_is_set_up_for_it() -> None:
    assert {name: job["environment"] for name, job in JOBS.items() if "environment" in job} == ENVIRONMENTS
    assert {name for name, job in JOBS.items() if steps(job, "google-github-actions/auth")} == SIGNED_IN
    for name in SIGNED_IN:
        file = FILES[name.split(".")[0]]
        guards = [job.get("if", "") for job in file["jobs"].values()]
        assert any("vars.PATHWAYS_IDENTITY_PROVIDER != ''" in guard for guard in guards)


def test_only_a_pull_request_of_this_repository_meets_credentials() -> None:
    assert FILES["preview"][ON] == {"pull_request": None}
    guard = JOBS["preview.engine"]["if"]
    assert guard.startswith("github.event.pull_request.head.repo.full_name == github.repository && ")
    assert "||" not in guard


def test_only_the_deployed_branch_is_applied_or_compared() -> None:
    for name in ("deploy.discover", "drift.discover"):
        assert JOBS[name]["if"].startswith("github.ref == 'refs/heads/main' && ")
    for file, name in (("deploy", "up"), ("drift", "drift")):
        assert FILES[file]["jobs"][name]["needs"] == "discover"
    assert FILES["deploy"][ON]["push"] == {"branches": ["main"]}


def test_accounts_are_not_mixed_up() -> None:
    accounts = {
        name: steps(JOBS[name], "google-github-actions/auth")[0]["with"]["service_account"] for name in SIGNED_IN
    }
    assert accounts == {
        "preview.engine": "${{ vars.PATHWAYS_PREVIEW_ACCOUNT }}",
        "drift.drift": "${{ vars.PATHWAYS_PREVIEW_ACCOUNT }}",
        "deploy.up": "${{ vars.PATHWAYS_APPLY_ACCOUNT }}",
    }


def test_the_commenting_job_runs_the_default_branch_s_code_and_nothing_else() -> None:
    (job,) = FILES["comment"]["jobs"].values()
    assert list(FILES["comment"][ON]) == ["workflow_run"]
    assert [step.get("uses", "").split("@")[0] or step["run"] for step in job["steps"]] == [
        "actions/checkout",
        "python3 -m workflows comment",
    ]
    assert job["steps"][0]["with"] == {"persist-credentials": False}, "no ref, no repository: the default branch"
    assert "environment" not in job
    assert "vars." not in TEXTS["comment"]
    assert "secrets." not in "".join(TEXTS.values())


def test_no_workflow_runs_on_what_strangers_can_cause_but_pull_requests() -> None:
    events = {event for file in FILES.values() for event in (file[ON] if isinstance(file[ON], dict) else [file[ON]])}
    assert events == {"pull_request", "push", "schedule", "workflow_dispatch", "workflow_run"}


def test_the_linter_is_told_to_look_away_once() -> None:
    found = [(name, line) for name, text in TEXTS.items() for line in text.splitlines() if "zizmor:" in line]
    assert found == [("comment", "  workflow_run: # zizmor: ignore[dangerous-triggers]")]
    assert not list(FOLDER.parent.rglob("zizmor.y*ml"))


@each_job
def test_a_checkout_leaves_no_token(job: dict[str, Any]) -> None:
    (checkout,) = steps(job, "actions/checkout")
    assert checkout["with"]["persist-credentials"] is False
    assert not {"ref", "repository", "token"} & checkout["with"].keys()


@each_job
def test_no_expression_stands_in_a_script(job: dict[str, Any]) -> None:
    assert [script for script in scripts(job) if "${{" in script] == []


@each_job
def test_a_job_ends_by_itself_and_names_its_machine(job: dict[str, Any]) -> None:
    assert 5 <= job["timeout-minutes"] <= 360
    assert job["runs-on"] == "ubuntu-24.04"


@each_job
def test_a_matrix_of_stacks_goes_on_after_a_failure_and_waits_stack_by_stack(job: dict[str, Any]) -> None:
    if "stack" in job.get("strategy", {}).get("matrix", {}):
        assert job["strategy"]["fail-fast"] is False
        assert job["concurrency"]["group"].endswith("-${{ matrix.stack }}")
        assert job["concurrency"]["cancel-in-progress"] is ("pull_request" in job["concurrency"]["group"])


def test_groups_of_different_jobs_differ() -> None:
    groups = [file["concurrency"]["group"] for file in FILES.values()]
    groups += [job["concurrency"]["group"] for job in JOBS.values() if "concurrency" in job]
    assert len(set(groups)) == len(groups)


def test_an_action_has_one_commit_and_says_its_version() -> None:
    lines = [
        line.strip().removeprefix("- ") for text in TEXTS.values() for line in text.splitlines() if "uses:" in line
    ]
    found = [re.fullmatch(r"uses: ([\w-]+/[\w-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+", line) for line in lines]
    assert [line for line, match in zip(lines, found, strict=True) if match is None] == []
    commits: dict[str, set[str]] = {}
    for match in found:
        assert match
        commits.setdefault(match[1], set()).add(match[2])
    assert {action: found for action, found in commits.items() if len(found) > 1} == {}


def test_every_step_of_ours_parses() -> None:
    lines = [line for job in JOBS.values() for script in scripts(job) for line in script.splitlines()]
    ours = [line.split(" -m workflows ")[1].replace('"', "") for line in lines if " -m workflows " in line]
    assert len(ours) >= 8
    for line in ours:
        _parser().parse_args([{"$STACK": "vision-dev"}.get(word, word) for word in line.split()])


def test_every_make_target_is_there() -> None:
    targets = {line.split()[1] for job in JOBS.values() for line in scripts(job) if line.startswith("make ")}
    known = set(re.findall(r"^([a-z0-9]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert {"check", "test", "preview"} <= targets <= known


def test_pieces_of_the_comment_are_named_as_the_comment_looks_for_them() -> None:
    names = [step["with"]["name"] for job in JOBS.values() for step in steps(job, "actions/upload-artifact")]
    assert sorted(names) == [
        "details-${{ matrix.stack }}",
        f"{PREFIX}diff-${{{{ matrix.stack }}}}",
        f"{PREFIX}engine-${{{{ matrix.stack }}}}",
        f"{PREFIX}scope",
    ]


def test_the_engine_is_the_sdk_s_version_and_not_too_old() -> None:
    engine = (ROOT / ".pulumi.version").read_text("utf-8").strip()
    assert engine == version(pins("requirements.txt")["pulumi"])
    for project in (ROOT / "Pulumi.yaml", ROOT / "bootstrap/Pulumi.yaml"):
        oldest = yaml.safe_load(project.read_text("utf-8"))["requiredPulumiVersion"].removeprefix(">=")
        assert Version(oldest) <= Version(engine)


def test_the_sign_in_s_file_is_never_committed() -> None:
    assert "gha-creds-*.json" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.thorough
def test_the_linters_find_nothing_and_would_find_something(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    for folder in (good, bad):
        folder.mkdir()
        for name, text in TEXTS.items():
            (folder / f"{name}.yml").write_text(text, "utf-8")
    text = (
        TEXTS["ci"].replace("run: make check", "run: echo ${{ github.head_ref }}").replace("timeout-minutes", "timeout")
    )
    (bad / "ci.yml").write_text(text, "utf-8")
    tools = Path(sys.executable).parent
    for tool, *options in (
        ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
        ("zizmor", "--offline", "--quiet", "--persona", "auditor"),
    ):
        for folder, expected in ((good, True), (bad, False)):
            files = [str(path) for path in sorted(folder.glob("*.yml"))]
            done = subprocess.run([tools / tool, *options, *files], capture_output=True, check=False, text=True)
            assert (done.returncode == 0) is expected, done.stdout + done.stderr
