from __future__ import annotations

import json
from typing import Any

import pytest

from bootstrap.settings import Settings, SettingsError, load

FILE = "bootstrap/Pulumi.acme.yaml"
GOOD: dict[str, Any] = {
    "gcp:project": "acme-platform",
    "pathways-bootstrap:region": "us-east5",
    "pathways-bootstrap:repository": {"name": "acme/pathways", "id": "123456789", "ownerId": "9876543"},
    "pathways-bootstrap:projects": ["acme-ml-dev", "acme-ml-prod"],
}


def loaded(**changes: Any) -> Settings:
    values = {
        **GOOD,
        **{("gcp:" if key == "project" else "pathways-bootstrap:") + key: each for key, each in changes.items()},
    }
    texts = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }
    return load({"pulumi:disable-default-providers": '["gcp"]', **texts}, FILE)


def test_the_settings_are_read() -> None:
    settings = loaded()
    assert settings.repository.owner_id == "9876543"
    assert settings.projects == ["acme-ml-dev", "acme-ml-prod"]
    assert settings.branch == "main"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"project": "Acme"}, "gcp:project"),
        ({"project": None}, "gcp:project"),
        ({"region": "us-east5-b"}, "region"),
        ({"region": None}, "region"),
        ({"repository": "acme/pathways"}, "repository"),
        ({"repository": "{acme"}, "repository"),
        ({"repository": {"name": "acme", "id": "1", "ownerId": "2"}}, "repository.name"),
        ({"repository": {"name": "acme/pathways", "id": "acme", "ownerId": "2"}}, "repository.id"),
        ({"repository": {"name": "acme/pathways", "id": 1, "ownerId": "2"}}, "repository.id"),
        ({"repository": {"name": "acme/pathways", "id": "1' || true || '", "ownerId": "2"}}, "repository.id"),
        ({"repository": {"name": "acme/pathways", "id": "1"}}, "repository.ownerId"),
        ({"repository": {"name": "acme/pathways", "id": "1", "ownerId": "0"}}, "repository.ownerId"),
        ({"projects": []}, "projects"),
        ({"projects": ["acme-ml-dev", "acme-ml-dev"]}, "projects"),
        ({"projects": ["acme-ml-dev", "x"]}, "projects"),
        ({"branch": "main' || true"}, "branch"),
    ],
)
def test_a_fault_names_file_key_and_what_to_write(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(**changes)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(f"{FILE}: {key if ':' in key else f'pathways-bootstrap:{key}'}: ")
    assert "; write " in line
    assert "only keys that" not in line


def test_an_unknown_key_is_refused_and_all_faults_show_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(zone="us-east5-b", region="Mars")
    assert sorted(line.split(": ")[1] for line in str(caught.value).splitlines()) == [
        "pathways-bootstrap:region",
        "pathways-bootstrap:zone",
    ]
