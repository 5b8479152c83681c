"""The checker of command lines finds what does not exist, and lets pass what does."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.docs.usage import problem
from tests.support.recordings import committed


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("pulumi frobnicate", "no such subcommand"),
        ("pulumi stack frobnicate -s x", "arguments"),
        ("pulumi up --stak=x", "no such option"),
        ("pulumi up --yes=no", "takes no value"),
        ("pulumi up --target-replace", "needs a value"),
        ("pulumi up -s --yes", "needs a value"),
        ("pulumi destroy --target-replace=x", "no such option"),
        ("pulumi refresh --clear-pending", "no such option"),
        ("pulumi state delete -s x", "arguments"),
        ("kubectl get", "arguments"),
        ("kubectl logs -n x -c main --folow", "no such option"),
        ("gcloud container node-pool list", "no such subcommand"),
        ("curl https://example.com", "not a program"),
    ],
)
def test_what_does_not_exist_is_found(line: str, wrong: str) -> None:
    assert wrong in str(problem(shlex.split(line)))


@pytest.mark.parametrize(
    "line",
    [
        "pulumi up -s vision-dev --target-replace urn:pulumi:x --yes",
        "pulumi -C bootstrap stack init acme --secrets-provider gcpkms://x",
        "pulumi preview --refresh --expect-no-changes --stack=x",
        "pulumi login --local",
        "gcloud container operations list --location=us-east5 --project=p --filter=status=RUNNING",
        "kubectl get jobset,pods -n x -w",
    ],
)
def test_what_exists_is_right(line: str) -> None:
    assert problem(shlex.split(line)) is None


def test_in_a_sentence_arguments_may_be_left_out() -> None:
    assert problem(["pulumi", "state", "delete"], whole=False) is None
    assert problem(["pulumi", "state", "delete"]) is not None


@pytest.mark.parametrize("stack", ["vision-dev", "vision-prod", "research-dev", "shared-dev"])
def test_the_commands_a_stack_prints_are_right(stack: str) -> None:
    printed = committed(stack).to_json()["outputs"]["connect"]
    lines = [part for line in printed.values() for part in (re.sub(r"\$\((.*)\)", "POD", line), *nested(line))]
    assert len(lines) >= len(printed) >= 4
    assert [found for line in lines if (found := problem(shlex.split(line)))] == []


def nested(line: str) -> list[str]:
    """The command whose output stands in a command."""
    return re.findall(r"\$\((.*)\)", line)
