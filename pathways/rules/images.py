"""Rules about images: fixed, of one release, each named once."""

from __future__ import annotations

from collections.abc import Iterator

from pathways.errors import Problem, shown
from pathways.images import Image, Release
from pathways.plan import images_of
from pathways.settings.stack import Settings


def images_pinned(s: Settings) -> Iterator[Problem]:
    """No image is named by a tag that moves."""
    if s.runtime.images.allow_mutable_tags:
        return
    for key, reference in images_of(s):
        image = Image.parse(reference)
        if not image.pinned:
            what = (
                f"{image.tag} is a mutable tag"
                if image.tag
                else "the image has neither tag nor digest, which means latest"
            )
            yield Problem(
                key,
                f"{what} ({shown(reference)})",
                "an image names a release, by a fixed tag or a digest",
                "write a fixed tag or @sha256:…, or allow it with runtime.images.allowMutableTags: true",
            )


def mutable_tags_not_for_prod(s: Settings) -> Iterator[Problem]:
    """Production never runs an image that can change under it."""
    if s.environment == "prod" and s.runtime.images.allow_mutable_tags:
        yield Problem(
            "runtime.images.allowMutableTags",
            "true in prod",
            "production images are fixed",
            "remove it and write fixed tags or digests",
        )


def images_of_the_jax_release(s: Settings) -> Iterator[Problem]:
    """Server, proxy and sidecar are releases, and of the client's JAX."""
    for key, reference in images_of(s):
        image = Image.parse(reference)
        if key == "workload.image" or not image.pinned:
            continue
        if image.release is None and not image.digest and not s.runtime.images.allow_mutable_tags:
            yield Problem(
                key,
                f"{image.tag} is not the tag of a Pathways release",
                "a release is tagged [YYYYMMDD-]jax-X.Y.Z or jax_X.Y.Z",
                f"write the tag jax-{s.runtime.jax_version}, or a digest",
            )
        elif image.release and image.release.jax != s.runtime.jax_version:
            yield Problem(
                key,
                f"{image.tag} is JAX {image.release.jax}",
                f"images are of runtime.jaxVersion ({s.runtime.jax_version})",
                "write the same JAX in both places",
            )


def one_release(s: Settings) -> Iterator[Problem]:
    """Server and proxy are of one release, the default of one that is not named included."""
    images, default = s.runtime.images, Release(date=None, python=None, jax=s.runtime.jax_version)
    server, proxy = (Image.parse(each).release if each else default for each in (images.server, images.proxy))
    if server and proxy and server != proxy:
        key = "runtime.images.proxy" if images.proxy else "runtime.images.server"
        yield Problem(
            key,
            f"the proxy is of release {proxy}, the server of {server}",
            "server and proxy are of one release",
            "write runtime.images.server and runtime.images.proxy with the same tag",
        )


def sidecar_image_once(s: Settings) -> Iterator[Problem]:
    """The sidecar's image has no default, and one place."""
    sidecar, image = s.runtime.colocated_python, s.runtime.images.colocated_python
    key = "runtime.colocatedPython.image"
    if sidecar and not sidecar.image and not image:
        yield Problem(key, "is missing", "the sidecar's image has no default", "write image: REPOSITORY:TAG")
    if sidecar and sidecar.image and image:
        yield Problem(
            key, "the sidecar's image stands twice", "it is written once", "remove runtime.images.colocatedPython"
        )
    if image and not sidecar:
        yield Problem(
            "runtime.images.colocatedPython",
            "there is no sidecar to run it",
            "the sidecar runs with runtime.colocatedPython",
            "write runtime.colocatedPython: {} too, or remove it",
        )
