"""`docs/proof.md`, made from the last run of the real-engine suite: `python -m tests.e2e.proof JUNIT.xml`.

What was run on what, what was found, and what a run on one machine cannot show. Durations are left out, so that two
runs of the same code write the same page.
"""

from __future__ import annotations

import ast
import re
import sys
import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.found import CANNOT_SHOW, FOUND, SIMULATED
from tests.e2e.tools.programs import PROGRAMS

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "proof.md"


@dataclass
class Scenario:
    """A file of the suite: its first sentence, and its tests with how each ended."""

    sentence: str
    tests: dict[str, str] = field(default_factory=dict)

    def count(self, ending: str) -> int:
        """How many of its tests ended like this (`passed`, `failed`, `skipped`)."""
        return sum(each == ending for each in self.tests.values())


def scenarios(report: Path) -> dict[str, Scenario]:
    """The scenarios of a JUnit report, by file, in the order of the files."""
    found: dict[str, Scenario] = {}
    for case in ET.parse(report).getroot().iter("testcase"):
        module = next(part for part in reversed(case.attrib["classname"].split(".")) if part.startswith("test_"))
        file = HERE / f"{module}.py"
        scenario = found.setdefault(file.name, Scenario(_first_sentence(file)))
        scenario.tests[f"{case.attrib['classname']}::{case.attrib['name']}"] = _ending(case)
    return dict(sorted(found.items()))


def page(found: dict[str, Scenario]) -> str:
    """The whole page, Markdown."""
    total: dict[str, int] = defaultdict(int)
    for scenario in found.values():
        for ending in scenario.tests.values():
            total[ending] += 1
    counts = ", ".join(f"{number} {ending}" for ending, number in sorted(total.items()))
    lines = [
        "# What was run, and on what",
        "",
        "Generated from the last run of the real-engine suite by `make proof`; not edited by hand.",
        f"The unmodified program and its stack files, {sum(total.values())} tests: {counts}.",
        "",
        "## Real",
        "",
        "| Program | Version |",
        "| --- | --- |",
        *(f"| {program.name} | {program.version} |" for program in PROGRAMS),
        "",
        "The Python SDKs, their language server and the program itself are those of `requirements.txt`.",
        "",
        "## Simulated",
        "",
        *(f"- {each}" for each in SIMULATED),
        "",
        "## Scenarios",
        "",
        "| File | What it shows | Passed | Failed | Skipped |",
        "| --- | --- | --- | --- | --- |",
        *(_row(name, scenario) for name, scenario in found.items()),
        "",
        "## Faults it found in the product, and what holds them now",
        "",
        "| Fault | What was done |",
        "| --- | --- |",
        *(f"| {fault} | {done} |" for fault, done in FOUND),
        "",
        "## What it cannot show",
        "",
        *(f"- {each}" for each in CANNOT_SHOW),
        "",
    ]
    return "\n".join(lines)


def _row(name: str, scenario: Scenario) -> str:
    numbers = (str(scenario.count(ending)) for ending in ("passed", "failed", "skipped"))
    return f"| `{name}` | {scenario.sentence} | {' | '.join(numbers)} |"


def _first_sentence(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return re.sub(r"\s+", " ", text.split("\n\n")[0]).rstrip(".")


def _ending(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


if __name__ == "__main__":
    PAGE.write_text(page(scenarios(Path(sys.argv[1]))), encoding="utf-8")
