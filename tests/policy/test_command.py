"""`python -m policy`: what it prints, and how it ends."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from offline.project import load_project
from offline.stackfile import known_stacks
from policy.cli import main
from policy.rules import RULES
from policy.waivers import LABEL
from tests.program.support import CHECKOUT

pytestmark = pytest.mark.usefixtures("remembering")

DAY = date(2026, 12, 1)
WHERE = ["--project", str(CHECKOUT)]


def stack_file(folder: Path, **changes: object) -> Path:
    """vision-dev with other settings."""
    text = (CHECKOUT / "stacks" / "Pulumi.vision-dev.yaml").read_text()
    file = folder / "Pulumi.vision-prod.yaml"
    file.write_text(
        text.replace("environment: dev", "environment: prod")
        + "".join(f"  pathways:{k}: {json.dumps(v)}\n" for k, v in changes.items())
    )
    return file


@pytest.fixture
def spot_in_production(tmp_path: Path) -> Path:
    file = stack_file(tmp_path)
    file.write_text(file.read_text().replace("count: 2}", "count: 9, capacity: {type: spot}}"))
    return file


def test_every_stack_of_the_project_passes_and_every_waiver_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--all", *WHERE], today=DAY) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "mandatory" not in out
    assert "unused" not in out
    assert max(map(len, out.splitlines())) <= 100
    for stack in known_stacks(load_project(CHECKOUT)):
        assert any(line.startswith(stack) for line in out.splitlines())


def test_a_mandatory_finding_fails(spot_in_production: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(spot_in_production), *WHERE], today=DAY) == 1
    out = capsys.readouterr().out
    assert "vision-prod  9 to mend, 3 advice," in out
    assert "mandatory  pool-no-spot-in-prod  ours" in out
    assert "slices-0, slices-1, slices-2, slices-3 and 5 more: nodeConfig.spot is true" in out
    assert "write pathways:slices:" in out
    assert max(map(len, out.splitlines())) <= 100


def test_a_waiver_lets_it_pass_until_it_expires(
    spot_in_production: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text("- {rule: pool-no-spot-in-prod, reason: a trial, until: 2026-12-31}")
    arguments = [str(spot_in_production), *WHERE, "--waivers", str(waivers)]
    assert main(arguments, today=date(2026, 12, 31)) == 0
    assert "pool-no-spot-in-prod  9 ×, until 2026-12-31" in capsys.readouterr().out
    assert main(arguments, today=date(2027, 1, 1)) == 1
    assert "expired on 2026-12-31" in capsys.readouterr().out


def test_an_expired_waiver_fails_though_nothing_else_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    waivers = tmp_path / "waivers.yaml"
    waivers.write_text("- {rule: iam-no-keys, reason: a trial, until: 2026-11-30}")
    assert main(["vision-dev", *WHERE, "--waivers", str(waivers)], today=DAY) == 1
    out = capsys.readouterr().out
    assert f"{LABEL}: iam-no-keys: expired on 2026-11-30" in out
    assert "unused" not in out  # one stack cannot tell


def test_the_json_form(spot_in_production: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(spot_in_production), "--json", *WHERE], today=DAY) == 1
    form = json.loads(capsys.readouterr().out)
    assert set(form) == {"stacks", "findings", "expired", "unused"}
    assert form["stacks"] == ["vision-prod"]
    first = form["findings"][0]
    assert (first["rule"], first["level"], first["waiver"]) == ("pool-no-spot-in-prod", "mandatory", None)


def test_a_faulty_stack_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(stack_file(tmp_path, nonsense=1)), *WHERE], today=DAY) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "Pulumi.vision-prod.yaml: nonsense: unknown key" in err


@pytest.mark.parametrize("arguments", [[], ["vision-dev", "--all"], ["--bogus"]])
def test_a_wrong_command_line_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments, today=DAY)
    assert end.value.code == 2


def test_the_list_of_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--rules"], today=DAY) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line.split()[0] for line in lines if line and not line.startswith(" ")] == [rule.id for rule in RULES]
