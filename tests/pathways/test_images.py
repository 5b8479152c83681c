from __future__ import annotations

import pytest

from pathways.images import Image, RegistryRepository, Release
from pathways.plan import repositories_of
from tests.pathways.support import plan

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("reference", "repository", "tag", "digest", "pinned"),
    [
        ("app", "app", None, None, False),
        ("app:1", "app", "1", None, True),
        ("app:Latest", "app", "Latest", None, False),
        ("host:5000/app", "host:5000/app", None, None, False),
        ("host:5000/a/b:v1", "host:5000/a/b", "v1", None, True),
        (f"a/b@{DIGEST}", "a/b", None, DIGEST, True),
        (f"a/b:latest@{DIGEST}", "a/b", "latest", DIGEST, True),
    ],
)
def test_parts(reference: str, repository: str, tag: str | None, digest: str | None, *, pinned: bool) -> None:
    image = Image.parse(reference)
    assert (image.repository, image.tag, image.digest, image.pinned) == (repository, tag, digest, pinned)


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "A",
        "a b",
        "a:",
        "a@sha256:12",
        "a;b",
        "a//b",
        "a\n",
        "-a",
        "a:ü",
        "/a",
        "a/",
        "a..b/c",
        "a-.b/c",
        "a:0/c",
        "a:65536/c",
    ],
)
def test_no_reference(reference: str) -> None:
    with pytest.raises(ValueError, match="is not an image reference"):
        Image.parse(reference)


@pytest.mark.parametrize(
    ("tag", "release"),
    [
        ("jax-0.11.1", Release(None, None, "0.11.1")),
        ("20261103-jax_0.11.1", Release("20261103", None, "0.11.1")),
        ("20260423-python_3.12-jax_0.10.0", Release("20260423", "3.12", "0.10.0")),
        ("jax-0.11", None),
        ("v1", None),
    ],
)
def test_release(tag: str, release: Release | None) -> None:
    assert Image.parse(f"a/b:{tag}").release == release


@pytest.mark.parametrize(
    ("path", "repository"),
    [
        ("us-docker.pkg.dev/p/r", RegistryRepository("p", "us", "r", "")),
        ("us-east5-docker.pkg.dev/p/r/a/b", RegistryRepository("p", "us-east5", "r", "a/b")),
        ("us-docker.pkg.dev/acme.com/p/r/a", RegistryRepository("acme.com:p", "us", "r", "a")),
        ("gcr.io/p/a", None),
        ("localhost:65535/a", None),
    ],
)
def test_repository_of_artifact_registry(path: str, repository: RegistryRepository | None) -> None:
    assert RegistryRepository.of(path) == repository


@pytest.mark.parametrize("path", ["us-docker.pkg.dev", "us-docker.pkg.dev/p", "us-docker.pkg.dev/acme.com/p"])
def test_no_repository_of_artifact_registry(path: str) -> None:
    with pytest.raises(ValueError, match="has no project or no repository"):
        RegistryRepository.of(path)


def test_default_images_follow_the_jax_version() -> None:
    repository = "us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways"
    made = plan({"runtime": {"jaxVersion": "0.10.0"}})
    assert made.images["server"] == f"{repository}/server:jax-0.10.0"
    assert made.images["proxy"] == f"{repository}/proxy_server:jax-0.10.0"
    assert repositories_of(made) == [
        ("cloud-tpu-v2-images", "us", "cloud-pathways"),
        ("demo-project", "us", "r"),
    ]
