"""How fast the recorder and the command line are: `make bench` prints each figure as a median with its spread.

(a) recording `llm-prod` against running the same program with the bare SDK and its stock mocks, collector off in both;
(b) recording stacks of 10, 100 and 1,000 single-host v6e slices: seconds a slice;
(c) whole processes of the command line, a diff of 100 slices against one `show` of them among them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextvars
import gc
import json
import logging
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pulumi
import yaml
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.config import set_all_config
from pulumi.runtime.mocks import MockCallArgs, MockEngine, MockMonitor, MockResourceArgs, Mocks, MockSettings
from pulumi.runtime.settings import configure
from pulumi.runtime.stack import run_in_stack

from offline import record
from offline.project import effective_config, find_project
from offline.stackfile import load_stack

ROOT = Path(__file__).parent.parent
RUNS = 5
FEW, MANY = 100, 1000


def main() -> None:
    """Print all figures; the limits beside them are the project's own."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    ours, bare = interleaved(lambda: record("llm-prod", project=ROOT), lambda: bare_run("llm-prod"))
    report("record llm-prod", ours)
    report("the same with stock mocks", bare)
    ratio = statistics.median(a / b for a, b in zip(ours, bare, strict=True))
    print(f"  ratio {ratio:.2f} (limit 1.15)")
    per_slice = {count: slices_run(count) for count in (10, FEW, MANY)}
    print(f"  seconds a slice at {MANY} against {FEW}: {per_slice[MANY] / per_slice[FEW]:.2f} (limit 1.2)")
    for name, arguments in {
        "manifest vision-dev (limit 0.9 s)": ("manifest", "vision-dev"),
        "show vision-dev": ("show", "vision-dev"),
        "schema (limit 0.35 s)": ("schema",),
    }.items():
        report(f"process: {name}", timed(lambda a=arguments: process(a)))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        faulty = Path(folder, "Pulumi.faulty.yaml")
        faulty.write_text(json.dumps({"config": {"pathways:team": "Vision"}}))
        report("process: a refused file (limit 0.35 s)", timed(lambda: process(("show", str(faulty)), expect=1)))
    diff_run()


def diff_run() -> None:
    """A diff of 100 slices, one of them new, against one `show` of it, as whole processes in turn."""
    with tempfile.TemporaryDirectory() as folder:
        base, head = Path(folder, "base"), Path(folder, "head")
        for copy, count in ((base, FEW - 1), (head, FEW)):
            for name in ("components", "pathways"):
                shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            for name in ("Pulumi.yaml", "__main__.py"):
                shutil.copy(ROOT / name, copy / name)
            (copy / "stacks").mkdir()
            (copy / "stacks/Pulumi.many.yaml").write_text(many_slices(count))
        at = ("--project", str(head))
        show, diff = interleaved(
            lambda: process(("show", "many", *at)), lambda: process(("diff", "many", *at, "--base", str(base)))
        )
    report(f"process: show of {FEW} slices", show)
    report("process: diff of them against one slice less", diff)
    print(f"  ratio {statistics.median(b / a for a, b in zip(show, diff, strict=True)):.2f} (limit 2)")


def many_slices(count: int) -> str:
    """The text of a stack file with `count` single-host slices."""
    config = yaml.safe_load((ROOT / "stacks/Pulumi.vision-dev.yaml").read_text())
    config["config"]["pathways:slices"] = {"tpu": "v6e", "topology": "2x2", "count": count}
    return str(yaml.safe_dump(config))


def slices_run(count: int) -> float:
    """Record a stack of `count` slices; the median of the seconds a slice."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "Pulumi.many.yaml")
        file.write_text(many_slices(count))
        seconds = timed(lambda: record(str(file), project=ROOT))
    report(f"record {count} slices", seconds)
    return statistics.median(seconds) / count


class StockMocks(Mocks):
    """The least that the stock mocks need: resources echo their inputs, look-ups answer with their arguments."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, object]]:
        """Echo the inputs."""
        return f"{args.name}-id", args.inputs

    def call(self, args: MockCallArgs) -> tuple[dict[str, object], list[tuple[str, str]]]:
        """Echo the arguments, with the one value that the program puts into a text."""
        return {**args.args, "number": "1"}, []


def bare_run(stack: str) -> None:
    """Run the same program on the bare SDK with stock mocks, in a context and a loop of its own, collector off."""
    project = find_project(ROOT)
    found = load_stack(project, stack)
    merged = effective_config(project, found.config, found.label)
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in merged.items()}

    def program() -> None:
        runpy.run_path(str(ROOT), run_name="__main__")

    def run() -> None:
        set_all_config(config)
        monitor = MockMonitor(StockMocks())
        features = set(monitor.GetDeploymentInfo(Empty()).supportedFeatures)  # type: ignore[no-untyped-call]
        settings = MockSettings(  # type: ignore[no-untyped-call]
            monitor=monitor,
            monitor_features=features,
            engine=MockEngine(logging.getLogger("stock")),
            project=project.name,
            stack=stack,
            dry_run=True,
            organization=None,
            callbacks=None,
        )
        configure(settings)
        asyncio.get_event_loop().run_until_complete(run_in_stack(program))

    gc.disable()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        contextvars.Context().run(run)
    finally:
        loop.close()
        gc.enable()


def process(arguments: Sequence[str], expect: int = 0) -> None:
    """One whole run of the command line."""
    done = subprocess.run([sys.executable, "-m", "offline", *arguments], cwd=ROOT, capture_output=True, check=False)
    if done.returncode != expect:
        raise SystemExit(f"offline {' '.join(arguments)} ended with {done.returncode}: {done.stderr.decode()}")


def timed(action: Callable[[], object]) -> list[float]:
    """Seconds of `RUNS` runs after one that is not counted."""
    action()
    return [_seconds(action) for _ in range(RUNS)]


def interleaved(first: Callable[[], object], second: Callable[[], object]) -> tuple[list[float], list[float]]:
    """Seconds of both, in turn, so that a machine whose speed drifts treats them alike."""
    first(), second()
    pairs = [(_seconds(first), _seconds(second)) for _ in range(RUNS)]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _seconds(action: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def report(what: str, seconds: list[float]) -> None:
    """One line: the median, and the spread that says how noisy the machine was."""
    middle, least, most = statistics.median(seconds), min(seconds), max(seconds)
    print(f"{what:45} {middle:7.3f} s   ({least:.3f} to {most:.3f}, {len(seconds)} runs)")


if __name__ == "__main__":
    pulumi.log.warn = lambda *_, **__: None
    main()
