"""A stack file is found by name or path, and read strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from offline.errors import OfflineError
from offline.project import Project, effective_config, find_project, load_project
from offline.stackfile import SECRET_PLACEHOLDER, known_stacks, load_stack, locate, parse


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "Pulumi.yaml").write_text("name: pathways\nstackConfigDir: stacks\n")
    (tmp_path / "stacks").mkdir()
    for stack in ("vision-dev", "llm-prod"):
        (tmp_path / "stacks" / f"Pulumi.{stack}.yaml").write_text("config: {pathways:team: vision}\n")
    (tmp_path / "stacks" / "schema.json").write_text("{}")
    return load_project(tmp_path)


def test_stacks_are_known_by_their_files(project: Project) -> None:
    assert known_stacks(project) == ("llm-prod", "vision-dev")


@pytest.mark.parametrize("name", ["vision-dev", "stacks/Pulumi.vision-dev.yaml", "./stacks/Pulumi.vision-dev.yaml"])
def test_a_name_or_a_path_leads_to_the_file(project: Project, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.directory)
    stack = load_stack(project, name)
    assert stack.stack == "vision-dev"
    assert stack.label == ("stacks/Pulumi.vision-dev.yaml" if name == "vision-dev" else name)
    assert stack.config == {"pathways:team": "vision"}


@pytest.mark.parametrize(
    ("file", "stack"), [("any.yaml", "any"), ("My file (2).yml", "My-file--2-"), ("Pulumi.x.yaml", "x")]
)
def test_any_file_gives_its_stack_a_legal_name(project: Project, file: str, stack: str) -> None:
    path = project.directory / file
    path.write_text("config: {}\n")
    assert load_stack(project, str(path)).stack == stack


def test_an_unknown_stack_lists_the_known_ones(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.directory)
    with pytest.raises(OfflineError) as raised:
        locate(project, "vison-dev")
    assert raised.value.lines == (
        (
            "stacks/Pulumi.vison-dev.yaml: no such stack file (vison-dev); STACK is the name of a stack or the path of "
            "a stack file; did you mean vision-dev? write one of llm-prod, vision-dev"
        ),
    )


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (["config"], "f: the file: not a map (['config'])"),
        ("text", "f: the file: not a map (text)"),
        ({"config": [1]}, "f: config: not a map ([1])"),
        ({"config": "pathways:team: x"}, "f: config: not a map (pathways:team: x)"),
        ({"cofig": {}}, "f: cofig: unknown key (cofig); a stack file has config, environment"),
        ({"pathways:team": "x"}, "f: pathways:team: unknown key (pathways:team)"),
        (
            {"config": {"pathways:team": "x", "team": "y"}},
            "f: config.pathways:team: written twice (pathways:team and team)",
        ),
    ],
)
def test_what_is_no_stack_file_is_refused(project: Project, document: object, line: str) -> None:
    with pytest.raises(OfflineError) as raised:
        parse(project, document, label="f", stack="s")
    assert raised.value.lines[0].startswith(line)


def test_a_misspelt_top_level_key_gets_its_right_spelling(project: Project) -> None:
    with pytest.raises(OfflineError, match="did you mean secretsprovider"):
        parse(project, {"secretprovider": "gcpkms://x"}, label="f", stack="s")


@pytest.mark.parametrize("document", [None, {}, {"config": None}, {"config": {}, "encryptionsalt": "v1:x"}])
def test_a_file_without_settings_has_none(project: Project, document: object) -> None:
    assert parse(project, document, label="f", stack="s").config == {}


def test_secrets_become_placeholders_and_their_keys_are_kept(project: Project) -> None:
    config = {
        "plain": 1,
        "pathways:token": {"secure": "AAA"},
        "deep": {"list": [{"secure": "BBB"}, 2]},
        "gcp:project": "p",
    }
    stack = parse(project, {"config": config}, label="f", stack="s")
    assert stack.config == {
        "pathways:plain": 1,
        "pathways:token": SECRET_PLACEHOLDER,
        "pathways:deep": {"list": [SECRET_PLACEHOLDER, 2]},
        "gcp:project": "p",
    }
    assert stack.secret_keys == {"pathways:token", "pathways:deep"}


def test_the_project_file_gives_values_defaults_and_demands(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text(
        "name: small\nmain: program\nconfig:\n"
        "  pulumi:disable-default-providers: {value: [gcp]}\n"
        "  size: {type: integer, default: 3}\n  short: text\n  team: {type: string}\n"
        "  key: {type: string, secret: true, default: x}\n"
    )
    (tmp_path / "inner").mkdir()
    project = find_project(tmp_path / "inner")
    assert (project.name, project.program) == ("small", tmp_path / "program")
    assert project.secret_keys == {"small:key"}
    assert effective_config(project, {"small:team": "vision", "small:size": 4}, "f") == {
        "pulumi:disable-default-providers": ["gcp"],
        "small:size": 4,
        "small:short": "text",
        "small:team": "vision",
        "small:key": "x",
    }
    with pytest.raises(OfflineError, match=r"^f: small:team: missing; Pulumi\.yaml declares it; write small:team: "):
        effective_config(project, {}, "f")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("runtime: python\n", "name: missing"),
        ("- 1\n", "name: missing"),
        ("name: x\nconfig: dir\n", "write stackConfigDir: dir"),
        ("name: x\nconfig: [1]\n", "config: not a map"),
    ],
)
def test_a_faulty_project_file_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "Pulumi.yaml").write_text(text)
    with pytest.raises(OfflineError, match=sentence):
        load_project(tmp_path)


def test_without_a_project_the_way_out_is_named(tmp_path: Path) -> None:
    with pytest.raises(OfflineError, match=r"no such project file.*write --project DIRECTORY"):
        find_project(tmp_path)
