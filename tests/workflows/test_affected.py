from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.project.checkout import ROOT, committed
from workflows.affected import Affected, affected, affected_since, every_stack, is_code, one_stack
from workflows.errors import WorkflowError

BEFORE, NOW = ("a-dev", "a-prod", "gone-dev"), ("a-dev", "a-prod", "new-dev")
EVERY = ("a-dev", "a-prod", "gone-dev", "new-dev")


@pytest.mark.parametrize(
    ("changed", "stacks"),
    [
        ((), ()),
        (("stacks/Pulumi.a-dev.yaml",), ("a-dev",)),
        (("stacks/Pulumi.gone-dev.yaml", "stacks/Pulumi.new-dev.yaml"), ("gone-dev", "new-dev")),
        (("README.md", "docs/overview.svg", "tests/x.py", "LICENSE", ".github/workflows/ci.yml"), ()),
        (("stacks/schema.json", "requirements-dev.txt", "offline/cli.py", "workflows/cli.py", "bootstrap/x.py"), ()),
        (("__main__.py",), EVERY),
        (("Pulumi.yaml",), EVERY),
        (("requirements.txt",), EVERY),
        (("components/stack.py",), EVERY),
        (("pathways/tpu.py", "stacks/Pulumi.a-dev.yaml"), EVERY),
        (("components/crds/jobset-0.11.1.json",), EVERY),
        (("a/new/room.py",), EVERY),
        (("tests",), EVERY),
        (("stacks/Pulumi.unknown.yaml",), ()),
    ],
)
def test_paths_tell_which_stacks_are_affected(changed: tuple[str, ...], stacks: tuple[str, ...]) -> None:
    found = affected(changed, BEFORE, NOW)
    assert found.stacks == stacks
    assert found.present == tuple(stack for stack in stacks if stack in NOW)


@pytest.mark.parametrize("name", ["-rf", "a b", "a;b", "ünder", ".x", "a" * 101, "$(id)"])
def test_a_file_whose_stack_has_no_name_is_refused(name: str) -> None:
    with pytest.raises(WorkflowError, match="rename the file"):
        affected([f"stacks/Pulumi.{name}.yaml"], (), [name])


def test_more_stacks_than_a_matrix_holds_are_refused() -> None:
    names = [f"s{number}" for number in range(257)]
    assert len(affected(["__main__.py"], (), names[:256]).stacks) == 256
    with pytest.raises(WorkflowError, match="257 stacks are affected"):
        affected(["__main__.py"], (), names)


def test_everything_that_the_program_is_made_of_counts_as_code() -> None:
    names = [str(path.relative_to(ROOT)) for path in committed()]
    program = [name for name in names if name.split("/")[0] in {"pathways", "components"} and name.endswith(".py")]
    assert len(program) > 40
    assert all(map(is_code, [*program, "__main__.py", "Pulumi.yaml", "requirements.txt"]))


class Repository:
    """A checkout with commits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=ada", "-c", "user.email=ada@example.com", *arguments]
        return subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, **files: str | None) -> str:
        for key, text in files.items():
            path = self.folder / ("__main__.py" if key == "code" else f"stacks/Pulumi.{key.replace('_', '-')}.yaml")
            path.parent.mkdir(exist_ok=True)
            path.unlink() if text is None else path.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_commits_are_compared(repository: Repository) -> None:
    first = repository.commit(code="1", a_dev="1", b_dev="1", c_dev="1")
    repository.commit(b_dev="2", c_dev=None, d_dev="1")
    assert affected_since(repository.folder, first) == Affected(("b-dev", "c-dev", "d-dev"), ("b-dev", "d-dev"))
    assert affected_since(repository.folder, "HEAD") == Affected((), ())
    second = repository.commit(code="2")
    assert affected_since(repository.folder, "HEAD^1").stacks == ("a-dev", "b-dev", "d-dev")
    assert every_stack(repository.folder).stacks == ("a-dev", "b-dev", "d-dev")
    assert second


def test_a_renamed_stack_is_one_gone_and_one_new(repository: Repository) -> None:
    text = "config:\n" + "  x: a long enough text\n" * 20
    first = repository.commit(a_dev=text)
    repository.commit(a_dev=None, b_dev=text)
    assert affected_since(repository.folder, first) == Affected(("a-dev", "b-dev"), ("b-dev",))


@pytest.mark.parametrize("base", ["0" * 40, "nonsense", "--output=x"])
def test_without_a_base_every_stack_is_affected(repository: Repository, base: str) -> None:
    repository.commit(a_dev="1", b_dev="1")
    assert affected_since(repository.folder, base).stacks == ("a-dev", "b-dev")


def test_what_is_not_committed_does_not_count(repository: Repository) -> None:
    first = repository.commit(a_dev="1")
    (repository.folder / "stacks/Pulumi.b-dev.yaml").write_text("1")
    assert affected_since(repository.folder, first).stacks == ()


def test_one_stack_has_to_be_there(repository: Repository) -> None:
    repository.commit(a_dev="1")
    assert one_stack(repository.folder, "a-dev").present == ("a-dev",)
    with pytest.raises(WorkflowError, match="write one of a-dev"):
        one_stack(repository.folder, "b-dev")


def test_outside_a_checkout_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match="check the checkout's fetch-depth"):
        every_stack(tmp_path)
