from __future__ import annotations

import json
import zipfile
from io import BytesIO

import pytest

from tests.workflows.conftest import Time
from tests.workflows.server import Fault, GitHub, packed
from workflows import artifacts
from workflows.artifacts import documents, unpacked
from workflows.errors import WorkflowError
from workflows.github import Client


def read(client: Client) -> list[bytes]:
    return list(documents(client, "acme/pathways", 55))


def test_every_piece_of_every_page_is_read(hub: GitHub, client: Client) -> None:
    hub.page = 2
    for number in range(5):
        hub.add_artifact(f"preview-diff-{number}", {f"{number}.json": str(number)})
    assert sorted(read(client)) == [b"0", b"1", b"2", b"3", b"4"]


def test_the_storage_does_not_see_the_token(hub: GitHub, client: Client) -> None:
    hub.add_artifact("preview-scope", {"scope.json": "{}"})
    assert read(client) == [b"{}"]
    assert [each.authorization for each in hub.storage] == [None]


def test_artifacts_for_people_expired_and_too_large_ones_are_not_fetched(hub: GitHub, client: Client) -> None:
    hub.add_artifact("details-vision-dev", {"x.json": "1"})
    hub.add_artifact("preview-old", {"x.json": "2"}, expired=True)
    hub.add_artifact("preview-large", {"x.json": "3"}, size_in_bytes=artifacts.MOST_PACKED + 1)
    assert read(client) == []
    assert hub.storage == []


def test_of_a_run_that_was_started_again_the_newest_artifact_counts(hub: GitHub, client: Client) -> None:
    hub.add_artifact("preview-scope", {"x.json": "old"})
    hub.add_artifact("preview-scope", {"x.json": "new"})
    assert read(client) == [b"new"]


def test_too_many_artifacts_are_refused(hub: GitHub, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "MOST_ARTIFACTS", 2)
    for number in range(3):
        hub.add_artifact(f"preview-{number}", {"x.json": "1"})
    with pytest.raises(WorkflowError, match="more than 2 pieces"):
        read(client)


def test_too_much_altogether_is_refused(hub: GitHub, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "MOST_ALTOGETHER", 1_000)
    for number in range(3):
        hub.add_artifact(f"preview-{number}", {"x.json": "1" * 400})
    with pytest.raises(WorkflowError, match="more than 1,000 bytes"):
        read(client)


def test_a_bomb_is_not_unpacked() -> None:
    bomb = packed({"x.json": b"0" * (artifacts.MOST_UNPACKED + 1), "y.json": "1"})
    assert len(bomb) < 50_000
    assert unpacked(bomb) == [b"1"]


def test_a_bomb_that_lies_about_its_size_is_not_unpacked() -> None:
    bomb = packed({"x.json": b"0" * (artifacts.MOST_UNPACKED + 1)})
    size = (artifacts.MOST_UNPACKED + 1).to_bytes(4, "little")
    assert bomb.count(size) == 2
    assert all(len(each) <= 10 for each in unpacked(bomb.replace(size, (10).to_bytes(4, "little"))))


@pytest.mark.parametrize("archive", [b"", b"PK", b"<html>", packed({"x.json": "1"})[:-10]])
def test_what_is_no_archive_holds_nothing(archive: bytes) -> None:
    assert unpacked(archive) == []


def test_only_a_few_json_files_are_taken_and_names_reach_no_disk() -> None:
    files = {f"../../{number}.json": str(number) for number in range(10)}
    assert unpacked(packed({"run.sh": "x", **files})) == [b"0", b"1", b"2", b"3"]


def test_an_encrypted_file_is_passed_over() -> None:
    archive = bytearray(packed({"x.json": "1"}))
    with zipfile.ZipFile(BytesIO(archive)) as plain:
        assert plain.infolist()[0].flag_bits == 0
    archive[6] |= 1  # the local header
    archive[archive.index(b"PK\x01\x02") + 8] |= 1  # the directory
    assert unpacked(bytes(archive)) == []


@pytest.mark.parametrize("place", ["", "file:///etc/passwd", "ftp://127.0.0.1/x", "/relative"])
def test_a_redirect_to_no_address_of_the_web_is_refused(hub: GitHub, client: Client, place: str) -> None:
    hub.add_artifact("preview-scope", {"x.json": "1"})
    hub.faults = [Fault(302, {"Location": place}, path="/zip")]
    with pytest.raises(WorkflowError, match="redirects to no address of the web"):
        read(client)
    assert hub.storage == []


def test_a_stored_file_that_is_gone_is_an_error(hub: GitHub, client: Client) -> None:
    hub.archives.pop(hub.add_artifact("preview-scope", {"x.json": "1"}))
    with pytest.raises(WorkflowError, match="the stored file cannot be read"):
        read(client)


def test_a_storage_that_is_not_there_is_tried_again(hub: GitHub, client: Client, time: Time) -> None:
    hub.add_artifact("preview-scope", {"x.json": json.dumps({})})
    hub.storage_url = "http://127.0.0.1:9"
    with pytest.raises(WorkflowError, match="the stored file cannot be read"):
        read(client)
    assert len(time.slept) == 3
