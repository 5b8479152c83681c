from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.pathways.support import Refused, check_refused, faults, merged, no

DIGEST = "sha256:" + "0123456789abcdef" * 4
REPOSITORY = "us-docker.pkg.dev/demo-project/pathways"


def images(**named: Any) -> dict[str, Any]:
    """A change of `runtime.images`: a tag or digest of each, or a value as it is."""
    parts = {"server": "server", "proxy": "proxy_server", "colocatedPython": "sidecar"}
    found = {key: f"{REPOSITORY}/{parts[key]}{value}" if key in parts else value for key, value in named.items()}
    return {"runtime": {"images": found}}


SIDECAR = {"runtime": {"colocatedPython": {"image": f"{REPOSITORY}/sidecar:20261103-python_3.12-jax_0.11.1"}}}


@pytest.mark.parametrize(
    "case",
    [
        no(
            "workload.image", {"workload": {"image": "app:latest"}}, "latest is a mutable tag (app:latest)", "fixed tag"
        ),
        no("workload.image", {"workload": {"image": "app:Nightly"}}, "Nightly is a mutable tag", "@sha256:"),
        no("workload.image", {"workload": {"image": "host:5000/app"}}, "neither tag nor digest, which means latest"),
        no("runtime.images.proxy", images(proxy=":stable"), "stable is a mutable tag", "allowMutableTags"),
        no("runtime.images.server", images(server=""), "neither tag nor digest"),
        no("runtime.images.server", images(server=":v1"), "v1 is not the tag of a Pathways release", "jax-0.11.1"),
        no(
            "runtime.colocatedPython.image",
            {"runtime": {"colocatedPython": {"image": f"{REPOSITORY}/sidecar:latest"}}},
            *("latest is a mutable tag",),
        ),
        no(
            "runtime.colocatedPython.image",
            {"runtime": {"colocatedPython": {"image": f"{REPOSITORY}/sidecar:python_3.12-jax_0.10.0"}}},
            *("is JAX 0.10.0", "runtime.jaxVersion (0.11.1)", "write the same JAX"),
        ),
        no(
            "runtime.images.proxy",
            images(server=":20261103-jax_0.11.1", proxy=":20261001-jax_0.11.1"),
            *("20261001-jax-0.11.1", "20261103-jax-0.11.1", "one release", "same tag"),
        ),
        no("runtime.images.proxy", images(proxy=":20261103-jax_0.11.1"), "the server of jax-0.11.1", "one release"),
        no("runtime.images.server", images(server=":20261103-jax_0.11.1"), "the proxy is of release jax-0.11.1"),
        no("runtime.colocatedPython.image", {"runtime": {"colocatedPython": {}}}, "is missing", "no default", "write"),
        no(
            "runtime.colocatedPython.image",
            merged(SIDECAR, images(colocatedPython=":jax-0.11.1")),
            *("stands twice", "once", "remove runtime.images.colocatedPython"),
        ),
        no(
            "runtime.images.colocatedPython", images(colocatedPython=":jax-0.11.1"), "no sidecar", "colocatedPython: {}"
        ),
        no(
            "runtime.images.allowMutableTags",
            merged({"environment": "prod"}, images(allowMutableTags=True)),
            *("true in prod", "fixed", "remove it"),
        ),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        {"workload": {"image": "app:1"}},
        {"workload": {"image": f"app@{DIGEST}"}},
        {"workload": {"image": f"host:5000/app:latest@{DIGEST}"}},
        merged({"workload": {"image": "app:latest"}}, images(allowMutableTags=True)),
        images(server=":latest", proxy=":latest", allowMutableTags=True),
        images(server=":jax-0.11.1"),
        images(server=":20261103-jax_0.11.1", proxy=":20261103-jax_0.11.1"),
        merged(images(server=":jax-0.9.0", proxy=":jax_0.9.0"), {"runtime": {"jaxVersion": "0.9.0"}}),
        images(server=f"@{DIGEST}", proxy=f"@{DIGEST}"),
        images(server=f":mine@{DIGEST}", proxy=f":mine@{DIGEST}"),
        SIDECAR,
        merged(images(colocatedPython=":jax-0.11.1"), {"runtime": {"colocatedPython": {}}}),
        {"environment": "prod", "runtime": {"images": {"allowMutableTags": False}}},
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []


def test_another_jax_names_both_images() -> None:
    lines = faults(merged(images(server=":jax-0.10.0", proxy=":jax-0.10.0")))
    assert [line.partition(": ")[0] for line in lines] == ["runtime.images.server", "runtime.images.proxy"]


def test_image_faults_are_told_although_the_workload_is_wrong() -> None:
    lines = faults(merged(images(server=":latest", proxy=":latest"), {"workload": {"mode": "bach"}}))
    assert [line.partition(": ")[0] for line in lines] == [
        *("workload.mode", "runtime.images.server", "runtime.images.proxy"),
    ]
