"""What the pages name is there: links, files, make targets, commands, stacks, keys."""

from __future__ import annotations

import argparse
import contextlib
import io
import re
from pathlib import Path

import pytest

import offline.cli
import policy.cli
import workflows.cli
from offline.project import load_project
from offline.stackfile import known_stacks
from pathways.schema import schema
from tests.docs import pages
from tests.docs.usage import problem
from tests.project.checkout import ROOT

ROOMS = (
    *("pathways", "components", "offline", "policy", "workflows", "bootstrap", "stacks", "tests", "scripts", "docs"),
    *(".ci", ".github"),
)
SECTIONS = r"(slices|head|runtime|workload|scratch|cluster|network|operators)"
STACKS = known_stacks(load_project(ROOT))
PARSERS = {"offline": offline.cli._parser, "policy": policy.cli._parser, "workflows": workflows.cli._parser}
KEYS = pages.keys(schema())

each_page = pytest.mark.parametrize("page", pages.PAGES, ids=pages.relative)


def broken_links(page: Path, text: str) -> list[str]:
    """Relative links that lead nowhere, anchors within the page included."""
    anchors = {_anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
    near = [link for link in pages.links(text) if not re.match(r"[a-z]+:", link)]
    return [
        link
        for link in near
        if (link[1:] not in anchors if link.startswith("#") else not (page.parent / link.partition("#")[0]).exists())
    ]


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def missing_files(text: str) -> list[str]:
    """Names of files and folders of the checkout that are not there; `…`, `<…>` and spaces mark a name as no path."""
    named = [span for span in pages.spans(text) if re.fullmatch(rf"({'|'.join(ROOMS)})/[\w./-]*", span)]
    copies = {command.words[-1] for command in pages.commands(text) if command.words[0] == "cp"}
    return [name for name in named if not (ROOT / name).exists() and name not in copies]


def wrong_commands(text: str) -> list[str]:
    """Command lines that name a target, a program, an option, a script or a stack that does not exist."""
    return [wrong for command in pages.commands(text) if (wrong := _wrong(command)) is not None]


def _wrong(command: pages.Command) -> str | None:
    words, line = command.words, " ".join(command.words)
    match words:
        case ["make", target, *_]:
            known = target in _targets() and set(pages.values(words, "STACK")) <= set(STACKS)
            return None if known else line
        case [python, "-m", module, *arguments] if python.endswith("python"):
            parser = PARSERS.get(module)
            return None if parser is not None and _parses(parser(), arguments) else line
        case [shell, script, *_] if shell == "sh" or shell.endswith("python"):
            return None if (ROOT / script).is_file() else line
        case ["pulumi", *_] if not set(pages.values(words, "-s", "--stack")) <= {*_stacks_of(words), "STACK"}:
            return f"{line}: no such stack"
        case _:
            return problem(words, whole=command.whole)


def _stacks_of(words: list[str]) -> set[str]:
    """The stacks of the project that a `pulumi` command is about; those of bootstrap/ are the reader's own."""
    return {"acme"} if pages.values(words, "-C", "--cwd") == ["bootstrap"] else set(STACKS)


def _targets() -> set[str]:
    return set(re.findall(r"^([a-z0-9]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))


def _parses(parser: argparse.ArgumentParser, arguments: list[str]) -> bool:
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        try:
            parser.parse_args(arguments)
        except SystemExit as end:
            return end.code == 0
    return True


def unknown_keys(text: str) -> list[str]:
    """Dotted keys of a stack file that no stack file can have."""
    named = [span.partition(":")[0] for span in pages.spans(text) if re.match(rf"{SECTIONS}\.[a-zA-Z.]+(: |$)", span)]
    return [key for key in named if key not in KEYS]


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text("utf-8")) == []


@each_page
def test_files_are_there(page: Path) -> None:
    assert missing_files(page.read_text("utf-8")) == []


@each_page
def test_commands_exist(page: Path) -> None:
    assert wrong_commands(page.read_text("utf-8")) == []


@each_page
def test_keys_exist(page: Path) -> None:
    assert unknown_keys(page.read_text("utf-8")) == []


@each_page
def test_a_page_has_balanced_fences_and_one_title(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text.count("\n```") % 2 == 0
    assert len(re.findall(r"^# ", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)) == 1


def test_the_pages_are_found() -> None:
    names = {pages.relative(page) for page in pages.PAGES}
    assert {"README.md", "CONTRIBUTING.md", "docs/gotchas.md", "docs/stack-file.md"} <= names
    assert len(list(pages.commands(pages.README.read_text("utf-8")))) > 15


def test_the_readme_leads_to_every_page() -> None:
    seen = {pages.README.resolve()}
    queue = [pages.README]
    while queue:
        page = queue.pop()
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in pages.links(page.read_text("utf-8"))]
        new = {target for target in targets if target.suffix == ".md" and target.is_file()} - seen
        seen |= new
        queue += new
    assert set(pages.PAGES) - seen == set()


@pytest.mark.parametrize(
    ("text", "checker"),
    [
        ("[a](docs/nowhere.md)", "links"),
        ("# Title\n[a](#elsewhere)", "links"),
        ("`pathways/nothing.py`", "files"),
        ("`make nonsense`", "commands"),
        ("`make preview STACK=nobody`", "commands"),
        ("```sh\n.venv/bin/python -m offline frobnicate\n```", "commands"),
        ("```console\n$ python -m offline show --xml vision-dev\n```", "commands"),
        ("`python scripts/nothing.py`", "commands"),
        ("```sh\npulumi up -s nobody  # comment\n```", "commands"),
        ("```sh\npulumi up --stack=nobody\n```", "commands"),
        ("```sh\nPULUMI_X=1 pulumi refresh -s vision-dev --frobnicate > x\n```", "commands"),
        ("```sh\nkubectl logs -n vision-dev \\\n  --frobnicate\n```", "commands"),
        ("`python -m policy --frobnicate`", "commands"),
        ("`pulumi frobnicate -s vision-dev`", "commands"),
        ("`cluster.minimumVersion`", "keys"),
        ("`slices.capacity.kind: spot`", "keys"),
    ],
)
def test_each_checker_finds_what_it_is_for(text: str, checker: str) -> None:
    found = {
        "links": broken_links(pages.README, text),
        "files": missing_files(text),
        "commands": wrong_commands(text),
        "keys": unknown_keys(text),
    }
    assert {name for name, problems in found.items() if problems} == {checker}


@pytest.mark.parametrize(
    "text",
    [
        "# Some title: `x`, y\n[a](#some-title-x-y) [b](CONTRIBUTING.md#checks) [c](https://example.com/none)",
        "`pathways/tpu.py` `tests/`",
        "```sh\ncp bootstrap/example.yaml bootstrap/Pulumi.mine.yaml\n```\n`bootstrap/Pulumi.mine.yaml`",
        "`make preview STACK=vision-dev` `make test ARGS='-k topology'`",
        "```sh\npulumi up -s vision-dev\npulumi login gs://bucket\npulumi -C bootstrap up -s acme\n```",
        "```sh\nPULUMI_X=1 pulumi refresh -s STACK --yes > x\nkubectl get pods \\\n  -n vision-dev\n```",
        "`python -m policy --rules` `pulumi state delete` `.venv/bin/python -m offline diff vision-dev --base main`",
        "`slices.capacity` `workload.runId` `cluster.existing` `cluster.endpoint: private`",
    ],
)
def test_no_checker_finds_fault_with_what_is_right(text: str) -> None:
    assert [
        *broken_links(pages.README, text),
        *missing_files(text),
        *wrong_commands(text),
        *unknown_keys(text),
    ] == []
