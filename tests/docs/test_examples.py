"""The README's examples are real: stack files load, output is what the commands print, numbers are the plan's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml

from offline import cli
from pathways.errors import StackFileError
from pathways.load import load
from pathways.plan import derive
from tests.docs import pages
from tests.project.checkout import ROOT
from tests.support.recordings import committed

LEFT_OUT = "…"
TEXT = pages.README.read_text("utf-8")
STACK_FILES = [(page, block) for page in pages.PAGES for block in pages.blocks(page.read_text("utf-8"), "yaml")]
CONSOLES = [
    block
    for page in pages.PAGES
    for block in pages.blocks(page.read_text("utf-8"), "console")
    if " offline diff " not in block.text.split("\n")[0]  # tests/docs/test_changes.py has those
]
ROW = re.compile(r"^\| \[([\w-]+)\]\((\S+)\) \| .+ \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


@pytest.mark.parametrize("block", [block for _, block in STACK_FILES], ids=lambda block: block.text.split("\n")[0])
def test_an_example_of_a_stack_file_loads_unless_it_is_called_broken(block: pages.Block) -> None:
    config = yaml.safe_load(block.text)["config"]
    if block.text.startswith("# broken.yaml"):
        with pytest.raises(StackFileError):
            load(config, "broken.yaml")
    else:
        load(config, "README.md")


def test_there_are_examples_of_all_kinds() -> None:
    assert len(STACK_FILES) >= 3
    assert len(CONSOLES) >= 2


def test_the_minimal_example_is_the_stack_it_is_said_to_be() -> None:
    first = pages.blocks(TEXT, "yaml")[0]
    assert yaml.safe_load(first.text) == yaml.safe_load((ROOT / "stacks/Pulumi.vision-dev.yaml").read_text())


@pytest.mark.parametrize(("stack", "path", "slices", "hosts", "chips"), ROW.findall(TEXT))
def test_the_table_of_stacks_has_their_numbers(stack: str, path: str, slices: str, hosts: str, chips: str) -> None:
    assert path == f"stacks/Pulumi.{stack}.yaml"
    plan = derive(load(yaml.safe_load((ROOT / path).read_text())["config"], path))
    assert (plan.slice_count, plan.hosts, plan.chips) == (int(slices), int(hosts), int(chips))


def test_the_table_of_stacks_has_all() -> None:
    assert {row[1] for row in ROW.findall(TEXT)} == {f"stacks/{path.name}" for path in (ROOT / "stacks").glob("*.yaml")}


@pytest.mark.parametrize("block", CONSOLES, ids=lambda block: block.text.split("\n")[0])
def test_a_command_prints_what_stands_under_it(
    block: pages.Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in pages.blocks(TEXT, "yaml"):
        if named := re.match(r"# (\w+\.yaml)\n", example.text):
            (tmp_path / named[1]).write_text(example.text)
    command, *shown = block.text.splitlines()
    assert command.startswith("$ ")
    cli.main([*arguments(shlex.split(command[2:])), "--project", str(ROOT)])
    printed = capsys.readouterr()
    assert left_over(shown, (printed.out + printed.err).splitlines()) == []


def arguments(words: list[str]) -> list[str]:
    """What `python -m offline` is given by a command of a page; `make preview` is `show` with the stack's name."""
    if words[:2] == ["make", "preview"]:
        return ["show", *(word.removeprefix("STACK=") for word in words[2:])]
    assert words[1:3] == ["-m", "offline"], words
    return words[3:]


def left_over(shown: list[str], real: list[str]) -> list[str]:
    """The first run of lines (between marks that something is left out) that does not stand in the output, in order."""
    runs: list[list[str]] = [[]]
    for line in shown:
        if line == LEFT_OUT:
            runs.append([])
        else:
            runs[-1].append(line.rstrip())
    rest = [line.rstrip() for line in real]
    for run in runs:
        places = [start for start in range(len(rest) - len(run) + 1) if rest[start : start + len(run)] == run]
        if not places:
            return run
        rest = rest[places[0] + len(run) :]
    return []


@pytest.mark.parametrize(
    ("shown", "left"),
    [
        (["b", "c"], []),
        (["a", LEFT_OUT, "d"], []),
        (["a", "c"], ["a", "c"]),
        (["d", LEFT_OUT, "a"], ["a"]),
        (["e"], ["e"]),
    ],
)
def test_output_is_compared_in_runs_and_in_order(shown: list[str], left: list[str]) -> None:
    assert left_over(shown, ["a", "b", "c", "d"]) == left


EVERYWHERE = "\n".join(page.read_text("utf-8") for page in pages.PAGES)


def test_urns_buckets_and_outputs_of_the_pages_are_those_of_the_plan() -> None:
    recorded = committed("vision-dev").to_json()
    urns = set(re.findall(r"urn:pulumi:[^'\s]+", EVERYWHERE))
    assert len(urns) >= 3
    assert urns <= {resource["urn"] for resource in recorded["resources"]}
    buckets = set(re.findall(r"gs://([\w-]+-scratch)\b", EVERYWHERE))
    made = [each["inputs"]["name"] for each in recorded["resources"] if each["type"] == "gcp:storage/bucket:Bucket"]
    assert buckets == set(made)
    outputs = set(re.findall(r"pulumi stack output (\w+)", EVERYWHERE))
    assert outputs
    assert outputs <= set(recorded["outputs"])


def test_names_in_commands_are_those_of_the_plan() -> None:
    """Clusters, pools, places, projects, accounts and namespaces that `gcloud` and `kubectl` are given."""
    known: dict[str, set[str]] = {}
    for stack in ("vision-dev", "vision-prod"):
        settings = load(yaml.safe_load((ROOT / f"stacks/Pulumi.{stack}.yaml").read_text())["config"], stack)
        plan = derive(settings)
        names = plan.names
        for option, name in (
            ("--cluster", names.cluster),
            ("-n", names.namespace),
            ("-n", "jobset-system"),
            ("--project", settings.project),
            ("--location", settings.region),
            ("--zone", settings.zone),
            ("--iam-account", f"{names.node_service_account}@{settings.project}.iam.gserviceaccount.com"),
        ):
            known.setdefault(option, set()).add(name)
        known.setdefault("pool", set()).update(names.slice_pool(index) for index in range(plan.slice_count))
    given = {option: set[str]() for option in known}
    for command in pages.commands(EVERYWHERE):
        if command.words[0] in ("gcloud", "kubectl"):
            for option in known:
                given[option] |= set(pages.values(command.words, option))
            given["pool"] |= set(re.findall(r"gke-nodepool=([\w-]+)", " ".join(command.words)))
    assert {option: names - known[option] for option, names in given.items()} == {key: set() for key in known}
    assert all(given.values())
