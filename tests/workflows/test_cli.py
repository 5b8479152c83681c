"""The steps as the runner starts them."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.project.checkout import ROOT
from tests.workflows.samples import change, diff, planned
from tests.workflows.server import TOKEN, GitHub
from tests.workflows.test_affected import Repository
from tests.workflows.test_pull_request import EVENT, pull
from workflows import cli
from workflows.body import MARKER
from workflows.pieces import Outcome, Planned, Refused, engine_file, parse, scope_file

PULUMI = """#!/bin/sh
echo "$@" >>{log}
cat {text}
exit $(cat {code})
"""


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The runner's files; their folder is returned."""
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
    return tmp_path


class Pulumi:
    """A command line that prints and ends as it is told."""

    def __init__(self, folder: Path) -> None:
        self.log, self._text, self._code = folder / "log", folder / "text", folder / "code"
        program = folder / "bin/pulumi"
        program.parent.mkdir()
        program.write_text(PULUMI.format(log=self.log, text=self._text, code=self._code))
        program.chmod(0o755)
        self.answers("", 0)

    def answers(self, text: str, code: int) -> None:
        self._text.write_text(text)
        self._code.write_text(str(code))


@pytest.fixture
def pulumi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pulumi:
    made = Pulumi(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return made


def outputs(runner: Path) -> dict[str, Any]:
    lines = (runner / "GITHUB_OUTPUT").read_text().splitlines()
    return {key: json.loads(value) for key, _, value in (line.partition("=") for line in lines)}


@pytest.mark.parametrize(
    ("arguments", "stacks", "present"),
    [
        (["--base", "HEAD^1"], ["a-dev", "b-dev"], ["b-dev"]),
        (["--base", "0" * 40], ["b-dev", "c-dev"], ["b-dev", "c-dev"]),
        (["--all"], ["b-dev", "c-dev"], ["b-dev", "c-dev"]),
        (["--stack", "c-dev"], ["c-dev"], ["c-dev"]),
    ],
)
def test_discover_sets_the_outputs(
    runner: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    arguments: list[str],
    stacks: list[str],
    present: list[str],
) -> None:
    (runner / "checkout").mkdir()
    repository = Repository(runner / "checkout")
    repository.commit(a_dev="1", c_dev="1")
    repository.commit(a_dev=None, b_dev="1")
    monkeypatch.chdir(repository.folder)
    assert cli.main(["discover", *arguments, "--into", str(runner / "pieces")]) == 0
    assert outputs(runner) == {"stacks": stacks, "present": present}
    assert (runner / "pieces/scope.json").read_text() == scope_file(stacks)[1]


def test_discover_refuses_a_stack_that_is_not_there(
    runner: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Repository(runner).commit(a_dev="1")
    monkeypatch.chdir(runner)
    assert cli.main(["discover", "--stack", "b-dev"]) == 1
    assert capsys.readouterr().err.startswith("::error::b-dev: no such stack")


@pytest.mark.parametrize("name", ["a b", "--help", "$(id)", ""])
def test_what_is_no_stack_s_name_is_a_wrong_command_line(name: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["up", "--", name])


def test_discover_needs_nothing_installed() -> None:
    code = "import sys, workflows.cli; sys.exit(any(m in sys.modules for m in ('pulumi', 'pydantic', 'yaml')))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, check=False, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_diff_leaves_a_piece_and_the_whole(runner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    folders = ["--into", str(runner / "pieces"), "--details", str(runner / "details")]
    assert cli.main(["diff", "vision-dev", "--base", ".", *folders]) == 0
    piece = parse((runner / "pieces/diff.vision-dev.json").read_bytes())
    assert isinstance(piece, Planned)
    assert piece.diff.changes == ()
    assert piece.diff.same > 20
    assert (runner / "details/vision-dev.md").read_text().startswith("### `vision-dev`: no change")
    assert "### `vision-dev`: no change" in (runner / "GITHUB_STEP_SUMMARY").read_text()


def test_diff_of_what_cannot_be_planned_says_so(runner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    folders = ["--into", str(runner / "pieces"), "--details", str(runner / "details")]
    assert cli.main(["diff", "nobody-dev", "--base", ".", *folders]) == 1
    piece = parse((runner / "pieces/diff.nobody-dev.json").read_bytes())
    assert isinstance(piece, Refused)
    assert "nobody-dev" in piece.errors[0]
    assert "cannot be planned" in (runner / "GITHUB_STEP_SUMMARY").read_text()


@pytest.mark.parametrize(
    ("text", "code", "outcome", "status"),
    [
        ("Resources:\n    30 unchanged\n", 0, Outcome.DONE, 0),
        ("error: no stack named 'vision-dev' found\n", 255, Outcome.UNKNOWN_STACK, 0),
        ("error: preview failed\n", 255, Outcome.FAILED, 1),
    ],
)
def test_preview_keeps_what_the_engine_says(
    runner: Path, pulumi: Pulumi, *, text: str, code: int, outcome: Outcome, status: int
) -> None:
    pulumi.answers(text, code)
    assert cli.main(["preview", "vision-dev", "--into", str(runner)]) == status
    assert (runner / "engine.vision-dev.json").read_text() == engine_file("vision-dev", outcome, text)[1]
    asked = pulumi.log.read_text()
    assert asked.startswith("preview --stack vision-dev --non-interactive ")
    assert "--suppress-outputs" in asked
    assert "--diff" not in asked


@pytest.mark.parametrize(
    ("text", "code", "status", "said"),
    [
        ("30 unchanged\n", 0, 0, "is what the state says"),
        ("error: no changes were expected but changes were proposed\n", 255, 1, "is not what the state says"),
        ("error: no changes were expected for preview but changes were proposed\n", 7, 1, "is not what the state says"),
        ("error: no stack named 'vision-dev' found\n", 255, 0, "not deployed yet"),
        ("error: could not refresh\n", 255, 1, "could not be compared"),
    ],
)
def test_drift_tells_drift_from_failure(
    runner: Path, pulumi: Pulumi, *, text: str, code: int, status: int, said: str
) -> None:
    pulumi.answers(text, code)
    assert cli.main(["drift", "vision-dev"]) == status
    assert said in (runner / "GITHUB_STEP_SUMMARY").read_text()
    asked = pulumi.log.read_text().split()
    assert asked[0] == "preview"
    assert {"--refresh", "--expect-no-changes"} <= set(asked)


@pytest.mark.parametrize(("code", "status"), [(0, 0), (255, 1)])
def test_up_applies_without_asking(pulumi: Pulumi, monkeypatch: pytest.MonkeyPatch, code: int, status: int) -> None:
    monkeypatch.setenv("GITHUB_SHA", "a" * 40)
    pulumi.answers("", code)
    assert cli.main(["up", "vision-dev"]) == status
    assert pulumi.log.read_text().startswith(f"up --yes --stack vision-dev --message commit {'a' * 40} ")


class Commenting:
    """The commenting step with an event and the server."""

    def __init__(self, hub: GitHub, event: Path) -> None:
        self.hub, self._event = hub, event
        hub.pulls = [pull(7)]
        self.on(EVENT)

    def on(self, event: dict[str, Any]) -> None:
        self._event.write_text(json.dumps(event))

    def artifact(self, name: str, file: tuple[str, str] | Any) -> None:
        text = file[1] if isinstance(file, tuple) else json.dumps(file)
        self.hub.add_artifact(name, {"piece.json": text})


@pytest.fixture
def commenting(hub: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commenting:
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(tmp_path / "event.json"))
    monkeypatch.setenv("GITHUB_API_URL", hub.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    return Commenting(hub, tmp_path / "event.json")


def test_comment_writes_once_and_edits_then(commenting: Commenting) -> None:
    hub = commenting.hub
    commenting.artifact("preview-scope", scope_file(["vision-dev"]))
    commenting.artifact("preview-diff-vision-dev", planned(diff("vision-dev", change())))
    commenting.artifact("preview-engine-vision-dev", engine_file("vision-dev", Outcome.DONE, "+ create"))
    assert cli.main(["comment"]) == 0
    (comment,) = hub.comments
    assert comment["body"].startswith(MARKER)
    assert "slice 1 of 2 is recreated" in comment["body"]
    assert "+ create" in comment["body"]
    assert EVENT["workflow_run"]["html_url"] in comment["body"]
    hub.artifacts.clear()
    commenting.artifact("preview-scope", scope_file([]))
    assert cli.main(["comment"]) == 0
    (comment,) = hub.comments
    assert "No stack is affected" in comment["body"]


def test_comment_is_silent_where_no_stack_ever_was_affected(commenting: Commenting) -> None:
    commenting.artifact("preview-scope", scope_file([]))
    assert cli.main(["comment"]) == 0
    assert commenting.hub.comments == []


def test_comment_says_what_a_failed_preview_left_out(commenting: Commenting) -> None:
    commenting.artifact("preview-scope", scope_file(["vision-dev"]))
    assert cli.main(["comment"]) == 0
    assert "### `vision-dev`: no result" in commenting.hub.comments[0]["body"]


def test_comment_on_a_head_that_moved_on_is_not_written(commenting: Commenting) -> None:
    commenting.hub.pulls = [pull(7, sha="b" * 40)]
    commenting.artifact("preview-scope", scope_file(["vision-dev"]))
    assert cli.main(["comment"]) == 0
    assert commenting.hub.comments == []


def test_no_piece_and_no_event_field_chooses_the_pull_request(commenting: Commenting) -> None:
    piece = {**json.loads(scope_file(["vision-dev"])[1]), "number": 666, "pull_request": 666, "repository": "eve/x"}
    commenting.artifact("preview-scope", piece)
    assert EVENT["workflow_run"]["pull_requests"] == [{"number": 666}]
    assert cli.main(["comment"]) == 0
    assert commenting.hub.asked("POST") == ["/repos/acme/pathways/issues/7/comments"]


def test_comment_refuses_a_run_that_no_pull_request_started(
    commenting: Commenting, capsys: pytest.CaptureFixture[str]
) -> None:
    event = copy.deepcopy(EVENT)
    event["workflow_run"]["event"] = "push"
    commenting.on(event)
    assert cli.main(["comment"]) == 1
    assert capsys.readouterr().err.startswith("::error::the run was started by push")
    assert commenting.hub.seen == []


def test_comment_without_a_token_is_a_sentence(
    commenting: Commenting, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    assert cli.main(["comment"]) == 1
    assert capsys.readouterr().err.startswith("::error::GITHUB_TOKEN is not set")
    assert commenting.hub.seen == []
