"""Fixtures of the real-engine suite: the programs, the processes of the run, the control plane, its operators."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import zip_longest

import pytest

from tests.e2e.changes.configs import config
from tests.e2e.changes.decisions import Decisions
from tests.e2e.changes.rows import ON_A_COMMITTED_STACK, make_guests
from tests.e2e.changes.walk import Walk
from tests.e2e.cluster import charts, nodes
from tests.e2e.cluster.control_plane import PROGRAMS as CONTROL_PLANE
from tests.e2e.cluster.control_plane import ControlPlane
from tests.e2e.cluster.kube import wait_for
from tests.e2e.cluster.processes import Processes
from tests.e2e.lifecycle import Life
from tests.e2e.tools.build import Tool, find, without_go
from tests.e2e.tools.programs import BY_NAME, PROGRAMS
from tests.e2e.world import World, empty
from tests.e2e.world_setup import STACKS, prepare

SYSTEM_POOL = "system"
_MEASURED = ("test_11_order", "test_02_queues_and_groups", "test_05_usage")
_WALK = "walk"
_RUN = pytest.StashKey[Processes]()

Needs = Callable[..., Mapping[str, Tool]]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """All of this folder needs the real engine, and what shares a world runs in one process, file after file."""
    ours = [item for item in items if "tests/e2e/" in item.path.as_posix()]
    for item in ours:
        item.add_marker("e2e")
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    yield
    # pytest orders by parameters across files; the life of a stack goes on from file to file, and ends in the last.
    order = {group: index for index, group in enumerate(_in_turn(dict.fromkeys(map(_group, ours))))}
    items.sort(key=lambda item: (order.get(_group(item), -1), item.path.name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows the last lines of every process's log."""
    report = yield
    processes = item.session.stash.get(_RUN, None)
    if report.failed and processes is not None:
        for name, text in processes.tails().items():
            report.sections.append((f"log of {name} ({processes.logs / name}.log)", text))
    return report


@pytest.fixture(scope="session")
def needs() -> Needs:
    """`needs("etcd", …)`: the programs by name; skips the test in one sentence if they cannot be had here."""

    def look(*names: str) -> Mapping[str, Tool]:
        found = {name: find(BY_NAME[name]) for name in names}
        absent = [BY_NAME[name] for name, tool in found.items() if tool is None]
        if absent and shutil.which("go") is None:
            pytest.skip(without_go(absent))
        if absent:
            pytest.fail(f"not built: {', '.join(p.name for p in absent)}; run `python -m tests.e2e.tools` first")
        return {name: tool for name, tool in found.items() if tool is not None}

    return look


@pytest.fixture(scope="session")
def processes(request: pytest.FixtureRequest) -> Iterator[Processes]:
    """The run's processes and temporary folder; after a failure the logs stay."""
    run = Processes()
    request.session.stash[_RUN] = run
    # What `multiprocessing` puts somewhere goes with the folder; else it would remove it itself, and later.
    multiprocessing.current_process()._config["tempdir"] = str(run.temporary)  # type: ignore[attr-defined]
    yield run
    del request.session.stash[_RUN]
    failed = request.session.testsfailed > 0
    run.close(keep_logs=failed)
    if failed:
        print(f"\nlogs of this run: {run.logs}")


@pytest.fixture(scope="session")
def control_plane(needs: Needs, processes: Processes) -> Iterator[ControlPlane]:
    """A ready control plane with one system node; controllers start when a chart installs them."""
    needs(*CONTROL_PLANE)
    tools = {program.name: tool for program in PROGRAMS if (tool := find(program)) is not None}
    plane = ControlPlane.start(tools, processes)
    nodes.add_nodes(plane.kube, nodes.cpu_shape(SYSTEM_POOL), 1)
    yield plane
    plane.stop()


@pytest.fixture(scope="session")
def world(needs: Needs, processes: Processes, control_plane: ControlPlane) -> Iterator[World]:
    """Engine and simulated Google Cloud, with the control plane behind the clusters made there."""
    needs("pulumi", "pulumi-resource-kubernetes", "jobset")
    found = World.start(processes, control_plane)
    yield found
    found.stop()


@pytest.fixture(scope="session", params=STACKS)
def life(request: pytest.FixtureRequest, world: World) -> Life:
    """Each stack of the project in turn, brought up once for all tests that look at it, across files.

    pytest runs these tests stack by stack, in the order of the files, so the file that destroys comes last.
    """
    return Life.begin(world, request.param)


@pytest.fixture(scope="session")
def decisions(request: pytest.FixtureRequest, life: Life) -> Iterator[Decisions]:
    """Previews of changes to the stack that `life` is at; those that any of the chosen tests needs are under way."""
    chosen = {_row(item) for item in request.session.items}
    cases = [case for case in ON_A_COMMITTED_STACK if case.stack == life.stack and case.name in chosen]
    found = Decisions(life.deployment)
    found.begin((case, config(life.world, life.stack, case.head)) for case in cases)
    yield found
    found.close()


@pytest.fixture(scope="session")
def walk(world: World) -> Walk:
    """A stack of its own to lead through changes, beside what others made."""
    prepare(world, "vision-dev")
    found = Walk(world, world.deployment("vision-dev"))
    make_guests(world.cloud, found.project, found.region)
    return found


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own that enforces Pod Security `baseline`; it ends with the test.

    Nothing can be created in it from then on; its controller takes some seconds to remove what is there, which the next
    test need not wait for.
    """
    kube = control_plane.kube
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    made = kube.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "test-", "labels": labels}}
    )
    name = made["metadata"]["name"]
    wait_for("its service account", lambda: kube.get("ServiceAccount", "default", name))
    yield name
    kube.end_namespace(name)


@pytest.fixture(scope="module")
def emptied(control_plane: ControlPlane) -> ControlPlane:
    """The control plane without what the stacks of other files have left in it, and one system node."""
    empty(control_plane)
    nodes.add_nodes(control_plane.kube, nodes.cpu_shape(SYSTEM_POOL), 1)
    return control_plane


@pytest.fixture(scope="module")
def jobset(needs: Needs, emptied: ControlPlane) -> Iterator[charts.Chart]:
    """JobSet's controller and webhooks, installed by its chart for one test module."""
    yield from _installed(needs, emptied, charts.JOBSET)


@pytest.fixture(scope="module")
def kueue(needs: Needs, emptied: ControlPlane) -> Iterator[charts.Chart]:
    """Kueue, installed by its chart for one test module."""
    yield from _installed(needs, emptied, charts.KUEUE)


@pytest.fixture(scope="module")
def lws(needs: Needs, emptied: ControlPlane) -> Iterator[charts.Chart]:
    """LeaderWorkerSet, installed by its chart for one test module."""
    yield from _installed(needs, emptied, charts.LWS)


def _installed(needs: Needs, plane: ControlPlane, chart: charts.Chart) -> Iterator[charts.Chart]:
    needs("helm", chart.tool)
    charts.install(plane, chart)
    yield chart
    wait_for("ended namespaces gone", lambda: not _ending(plane), seconds=60)  # finalizers need their controller
    charts.uninstall(plane, chart)


def _ending(plane: ControlPlane) -> list[str]:
    found = plane.kube.objects("Namespace")
    return [n["metadata"]["name"] for n in found if "deletionTimestamp" in n["metadata"]]


def _group(item: pytest.Item) -> str:
    """What a test has its world in common with: the life of a stack, the walk of another, or its file."""
    callspec = getattr(item, "callspec", None)
    if callspec and "life" in callspec.params:
        return f"life of {callspec.params['life']}"
    return _WALK if _WALK in getattr(item, "fixturenames", ()) else item.path.stem


def _in_turn(groups: Iterable[str]) -> list[str]:
    """An order in which what keeps the cores busy, the life of a stack, runs beside what mostly waits, a file.

    Before all, durations are measured, beside files that do little. The walk is the longest and comes next.
    """
    first = [group for group in _MEASURED if group in groups]
    files = [group for group in groups if group not in first and group.startswith("test_")]
    busy = sorted((group for group in groups if group not in first and group not in files), key=_WALK.__ne__)
    return [*first, *(group for pair in zip_longest(busy, files) for group in pair if group)]


def _row(item: pytest.Item) -> object:
    """The value of a test's parameter `row`, if it has one."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("row") if callspec else None
