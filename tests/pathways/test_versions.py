from __future__ import annotations

import pytest

from pathways.versions import GkeVersion


def test_versions_are_ordered_as_numbers() -> None:
    texts = ["1.9.10", "1.30.1-gke.9", "1.30.1-gke.10", "1.30.2-gke.1", "1.30.2", "1.30", "1.31.0-gke.1"]
    versions = [GkeVersion.parse(text) for text in texts]
    assert sorted(versions) == versions
    assert [str(version) for version in versions] == texts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "2.30",
        "1.30-gke.1",
        "1.30.1-gke.",
        "v1.30",
        "1.30.1 ",
        "1.٣٠",
        "1.030",
        "1.32.02-gke.1",
        "1.32.2-gke.01",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a GKE version"):
        GkeVersion.parse(text)
