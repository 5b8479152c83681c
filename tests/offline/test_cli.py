"""The command line: what it prints where, its exit codes, and how little it loads for a refusal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from offline import cli
from tests.offline.support import TOY, write_project

ROOT = Path(cli.__file__).parents[1]
COMMANDS = ("show", "manifest", "graph", "schema")


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "offline", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


def main(capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    status = cli.main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["shwo"],
        ["show"],
        ["show", "dev", "--all"],
        ["show", "dev", "--nonsense"],
        ["manifest"],
        ["manifest", "a", "b"],
        ["graph", "dev", "--format", "png"],
        ["schema", "dev"],
    ],
)
def test_a_wrong_command_line_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        cli.main(arguments)
    assert raised.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "usage:" in captured.err


@pytest.mark.parametrize("arguments", [["--help"], *([command, "--help"] for command in COMMANDS)])
def test_every_command_has_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        cli.main(arguments)
    assert raised.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: python -m offline")
    assert all(command in out for command in COMMANDS) or len(arguments) == 2


def test_json_of_one_stack_is_an_object_and_of_several_an_array(capsys: pytest.CaptureFixture[str]) -> None:
    project = ["--project", str(TOY)]
    status, one, err = main(capsys, ["show", "dev", "--json", *project])
    assert (status, err) == (0, "")
    assert json.loads(one)["stack"] == "dev"
    assert [form["stack"] for form in json.loads(main(capsys, ["show", "dev", "dev", "--json", *project])[1])] == [
        "dev"
    ] * 2
    assert json.loads(main(capsys, ["show", "--all", "--json", *project])[1]) == [json.loads(one)]


@pytest.mark.parametrize("command", ["show", "manifest", "graph"])
def test_a_faulty_file_prints_one_line_per_error_on_stderr_only(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path, "raise AssertionError('never run')")
    (tmp_path / "Pulumi.bad.yaml").write_text("config: {a: 1, a: 2, b: 1, b: 3}\n")
    status, out, err = main(capsys, [command, "bad", "--project", str(tmp_path)])
    assert (status, out) == (1, "")
    assert len(err.splitlines()) == 2
    assert all("Pulumi.bad.yaml: " in line for line in err.splitlines())


def test_errors_of_all_files_are_shown_before_anything_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_project(tmp_path, "raise AssertionError('never run')")
    (tmp_path / "Pulumi.good.yaml").write_text("config: {}\n")
    for name in ("one", "two"):
        (tmp_path / f"Pulumi.{name}.yaml").write_text("cofig: {}\n")
    status, out, err = main(capsys, ["show", "--all", "--project", str(tmp_path)])
    assert (status, out) == (1, "")
    assert [line.split(": ", 1)[0].rsplit("/", 1)[-1] for line in err.splitlines()] == [
        "Pulumi.one.yaml",
        "Pulumi.two.yaml",
    ]


THING = "urn:pulumi:dev::small::thing:index:Thing::x"
TWICE = """
class Thing(pulumi.CustomResource):
    def __init__(self):
        super().__init__("thing:index:Thing", "x", {})

Thing()
Thing()
"""


@pytest.mark.parametrize(
    ("program", "stderr"),
    [
        ("raise pulumi.RunError('a: no\\nb: no')", "a: no\nb: no\n"),
        ("pulumi.log.error('a: no')", "a: no\n"),
        (TWICE, f"{THING}: a second resource of this URN; URNs are unique; give it another name or parent\n"),
    ],
)
def test_a_refusal_is_its_own_words(
    program: str, stderr: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path, program)
    (tmp_path / "Pulumi.dev.yaml").write_text("")
    assert main(capsys, ["show", "dev", "--project", str(tmp_path)]) == (1, "", stderr)


def test_a_process_that_ends_in_a_refusal_has_no_traceback(tmp_path: Path) -> None:
    write_project(tmp_path, "raise pulumi.RunError('a: no')")
    (tmp_path / "Pulumi.dev.yaml").write_text("")
    result = call("show", "dev", "--project", str(tmp_path))
    assert (result.returncode, result.stdout, result.stderr) == (1, "", "a: no\n")


def test_a_fault_of_the_program_has_one(tmp_path: Path) -> None:
    write_project(tmp_path, "1 / 0")
    (tmp_path / "Pulumi.dev.yaml").write_text("")
    result = call("show", "dev", "--project", str(tmp_path))
    assert (result.returncode, result.stdout) == (1, "")
    assert "ZeroDivisionError" in result.stderr


@pytest.mark.parametrize("arguments", [f"show dev --json --project {TOY}", "schema"])
def test_a_closed_pipe_is_no_error(arguments: str) -> None:
    command = f"{sys.executable} -m offline {arguments} | head -c 1"
    result = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (result.stdout, result.stderr) == ("{", "")


LOADED = """
import contextlib, io, json, sys
from offline.cli import main
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()):
        main(arguments)
    print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def test_what_needs_no_program_loads_no_sdk(tmp_path: Path) -> None:
    bad = str(tmp_path / "bad.yaml")
    Path(bad).write_text("config: {pathways:team: Vision}\n")
    commands = [
        ["schema"],
        ["show", "no-such-stack"],
        ["show", bad],
        ["manifest", bad],
        ["graph", bad],
        ["manifest", "vision-dev"],
    ]
    result = subprocess.run(
        [sys.executable, "-c", LOADED, json.dumps(commands)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    after = [set(json.loads(line)) for line in result.stdout.splitlines()]
    assert len(after) == len(commands)
    for command, loaded in zip(commands, after, strict=True):
        assert not loaded & {"pulumi", "pulumi_gcp", "pulumi_kubernetes", "grpc", "google", "asyncio"}, command
        assert "pathways" in loaded


def test_output_is_ascii_where_the_stream_is(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    assert cli.main(["show", "dev", "--project", str(TOY)]) == 0
    stream.seek(0)
    assert "|- node pool" in stream.read()
