"""The programs of the real-engine suite: where each comes from and how it is recognised.

Versions are those of the `go.mod` beside each program's checksums; nothing here repeats them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """One program, built from one module.

    Attributes:
        name: What tests ask for.
        recipe: Folder of the `go.mod` and `go.sum` that pin it.
        module: The module whose version is the program's version.
        package: What `go build` compiles; `.` is the recipe's own main package.
        needed_by: The tests that are left out without it, as a phrase.
        stamps: Go variables that take the version, as a release build would set them.
        released_as: The version it answers with, where the module's own is only a commit.
        embeds: Files of the module that the recipe's main package embeds: name beside it -> path in the module.
        folders: Folders of the module kept beside the binary (charts, CRDs, stages).
        version_command: Arguments that print the version; empty for programs without such a command.
    """

    name: str
    recipe: str
    module: str
    package: str
    needed_by: str
    stamps: tuple[str, ...] = ()
    released_as: str | None = None
    embeds: tuple[tuple[str, str], ...] = ()
    folders: tuple[str, ...] = ()
    version_command: tuple[str, ...] = ()

    @property
    def recipe_folder(self) -> Path:
        """The folder with the program's `go.mod`."""
        return HERE / self.recipe

    @cached_property
    def version(self) -> str:
        """The version with its `v`, from the recipe's `go.mod`.

        Raises:
            ValueError: The `go.mod` does not require the program's module.
        """
        if self.released_as is not None:
            return self.released_as
        go_mod = self.recipe_folder / "go.mod"
        found = re.search(rf"^(?:require)?\s*{re.escape(self.module)} (v\S+)", go_mod.read_text(), re.MULTILINE)
        if found is None:
            message = f"{go_mod}: no version of {self.module}; a recipe requires its program's module: add the line"
            raise ValueError(message)
        return found[1]

    @property
    def binary_name(self) -> str:
        """File name of the binary: the name without what tells two versions apart."""
        return self.name.removesuffix("-previous")

    @property
    def linker_flags(self) -> str:
        """The value of `-ldflags`: no debug tables, and the version where the program reports it."""
        version = self.version
        values = {"gitMajor": version.strip("v").split(".")[0], "gitMinor": version.strip("v").split(".")[1]}
        stamps = (f"-X {stamp}={values.get(stamp.rsplit('.', 1)[-1], version)}" for stamp in self.stamps)
        return " ".join(["-s", "-w", *stamps])


_KUBERNETES_STAMPS = tuple(f"k8s.io/component-base/version.{name}" for name in ("gitVersion", "gitMajor", "gitMinor"))
_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_ALL_TESTS = "every test of tests/e2e"
_STACK_TESTS = "every test that runs a stack"


def _kubernetes(name: str) -> Program:
    return Program(
        name,
        recipe="kubernetes",
        module="k8s.io/kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        needed_by=_ALL_TESTS,
        stamps=_KUBERNETES_STAMPS,
        version_command=("--version",),
    )


def _jobset(name: str, needed_by: str) -> Program:
    return Program(
        name,
        recipe=name,
        module="sigs.k8s.io/jobset",
        package="sigs.k8s.io/jobset",
        needed_by=needed_by,
        folders=("charts/jobset",),
    )


PROGRAMS: tuple[Program, ...] = (
    Program(
        "etcd",
        recipe="etcd",
        module="go.etcd.io/etcd/server/v3",
        package=".",
        needed_by=_ALL_TESTS,
        version_command=("--version",),
    ),
    _kubernetes("kube-apiserver"),
    _kubernetes("kube-controller-manager"),
    _kubernetes("kube-scheduler"),
    Program(
        "kwok",
        recipe="kwok",
        module="sigs.k8s.io/kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        needed_by=_ALL_TESTS,
        stamps=("sigs.k8s.io/kwok/pkg/consts.Version",),
        folders=("kustomize/stage",),
    ),
    _jobset("jobset", "every test that runs a JobSet"),
    Program(
        "pulumi",
        recipe="pulumi",
        module="github.com/pulumi/pulumi/pkg/v3",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        needed_by=_STACK_TESTS,
        stamps=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version",),
        version_command=("version",),
    ),
    Program(
        "pulumi-resource-kubernetes",
        recipe="pulumi-resource-kubernetes",
        module=_PROVIDER,
        package=".",
        needed_by=_STACK_TESTS,
        stamps=(f"{_PROVIDER}/pkg/version.Version",),
        released_as="4.34.2",
        embeds=tuple(
            (file, f"cmd/pulumi-resource-kubernetes/{file}") for file in ("schema.json", "terraform-mapping.json")
        ),
    ),
    Program(
        "helm",
        recipe="pulumi-resource-kubernetes",
        module="helm.sh/helm/v3",
        package="helm.sh/helm/v3/cmd/helm",
        needed_by="every test that installs a chart without a stack",
        stamps=("helm.sh/helm/v3/internal/version.version",),
        version_command=("version", "--short"),
    ),
    Program(
        "kueue",
        recipe="kueue",
        module="sigs.k8s.io/kueue",
        package="sigs.k8s.io/kueue/cmd/kueue",
        needed_by="every test of the queue",
        folders=("charts/kueue",),
    ),
    Program(
        "lws",
        recipe="lws",
        module="sigs.k8s.io/lws",
        package="sigs.k8s.io/lws/cmd",
        needed_by="every test of LeaderWorkerSet",
        folders=("charts/lws",),
    ),
    _jobset("jobset-previous", "the test of a JobSet version bump"),
)

BY_NAME = {program.name: program for program in PROGRAMS}
