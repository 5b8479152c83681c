"""The command lines in the documents are those of the real program: its help knows every option they use."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.docs.usage import PULUMI
from tests.e2e.conftest import Needs

OPTION = re.compile(r"^ +(?:(-\w), )?(--[\w-]+)(?: ([a-zA-Z0-9]+|string\S+))?  ", re.MULTILINE)


@pytest.mark.parametrize("name", PULUMI)
def test_the_real_program_knows_the_options(needs: Needs, name: str) -> None:
    program = needs("pulumi")["pulumi"].binary
    done = subprocess.run([program, *name.split(), "--help"], capture_output=True, text=True, check=True, timeout=60)
    text = done.stdout + done.stderr
    assert re.search(rf"^Usage:\n  pulumi {name.partition(' ')[0]}", text, re.MULTILINE), text
    found: dict[str, bool] = {}
    text = text.replace("--show-secrets false", "--show-secrets")  # the help means its default
    for short, long, kind in OPTION.findall(text):
        found |= {spelling: bool(kind) and "[=" not in kind for spelling in (short, long) if spelling}
    known = PULUMI[name].known()
    assert {option: found.get(option) for option in known} == dict(known)
