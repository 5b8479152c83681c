"""Run the unmodified program of a project in this process and return what it registered."""

from __future__ import annotations

import gc
import json
import os
import re
import runpy
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pulumi

from offline import sdk, urn
from offline.answers import reference_urn
from offline.errors import OfflineError
from offline.monitor import RecordingEngine, RecordingMonitor
from offline.project import Project, effective_config
from offline.recording import Mode, Options, Recording, Resource, Timeouts
from offline.stackfile import StackFile
from offline.values import plain, plain_map

# What would reach a program from the machine it runs on: pulumi's own variables and the providers' defaults.
_FOREIGN_VARIABLES = re.compile(
    r"PULUMI_.*|KUBECONFIG|GOOGLE_.*|GCLOUD_.*|CLOUDSDK_.*|USER_PROJECT_OVERRIDE|TRACEPARENT|GODEBUG"
)


def record_stack(project: Project, stack: StackFile, mode: Mode = "preview") -> Recording:
    """Run `project`'s program for `stack` and return what it registered.

    Raises:
        OfflineError: a key is missing, or the program refused its configuration (`pulumi.RunError`), logged an error,
            or asked for what the engine or the tables of `offline.answers` refuse.
        Exception: whatever else the program raised: a fault of the program itself.
    """
    merged = effective_config(project, stack.config, stack.label)
    config = {key: _as_text(value) for key, value in merged.items()}
    monitor = RecordingMonitor(project.name, stack.stack, mode, config)
    engine = RecordingEngine()
    with _no_collector(), _own_environment(), _in_directory(project.program), _own_modules(project.program):
        try:
            sdk.run_program(
                lambda: _run_main(project.program),
                project=project.name,
                stack=stack.stack,
                root_directory=str(project.directory),
                config=config,
                secret_keys=stack.secret_keys | (project.secret_keys & config.keys()),
                monitor=monitor,
                engine=engine,
                dry_run=mode == "preview",
            )
        except pulumi.RunError as error:
            raise OfflineError(*str(error).splitlines()) from None
        if engine.log.errors:
            raise OfflineError(*(line for message in engine.log.errors for line in message.splitlines()))
        return _recording(project, monitor, engine)


def _run_main(directory: Path) -> None:
    runpy.run_path(str(directory), run_name="__main__")


def _as_text(value: object) -> str:
    """A configuration value as the engine hands it over: text as it is, the rest as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), sort_keys=True)


@contextmanager
def _no_collector() -> Iterator[None]:
    """The collector would scan the living Outputs again and again: at 1,000 resources it doubles the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _own_environment() -> Iterator[None]:
    removed = {name: os.environ.pop(name) for name in list(os.environ) if _FOREIGN_VARIABLES.fullmatch(name)}
    # An Output inside an f-string is a fault of the program; without this it becomes a sentence in a resource.
    os.environ["PULUMI_ERROR_OUTPUT_STRING"] = "true"
    try:
        yield
    finally:
        del os.environ["PULUMI_ERROR_OUTPUT_STRING"]
        os.environ.update(removed)


@contextmanager
def _in_directory(directory: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _own_modules(directory: Path) -> Iterator[None]:
    """Let a program import its own modules, though another checkout's of the same names may be loaded.

    Modules of the same directory stay loaded from run to run.
    """
    names = {path.stem for path in directory.iterdir() if path.suffix == ".py" or path.is_dir()}
    names -= {"__main__", "offline", "tests"}
    foreign = {
        name: module
        for name, module in list(sys.modules.items())
        if name.split(".", 1)[0] in names and not _is_below(module, directory)
    }
    for name in foreign:
        del sys.modules[name]
    try:
        yield
    finally:
        if foreign:
            for name in [name for name, module in sys.modules.items() if _is_named(name, names, module, directory)]:
                del sys.modules[name]
            sys.modules.update(foreign)


def _is_named(name: str, names: set[str], module: ModuleType, directory: Path) -> bool:
    return name.split(".", 1)[0] in names and _is_below(module, directory)


def _is_below(module: ModuleType, directory: Path) -> bool:
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(place and Path(place).is_relative_to(directory) for place in places)


def _recording(project: Project, monitor: RecordingMonitor, engine: RecordingEngine) -> Recording:
    resources = [_registered(name, request, monitor, project) for name, request in monitor.requests.items()]
    resources += [_read(name, request, project) for name, request in monitor.reads.items()]
    root = urn.make(monitor.stack, monitor.project, "", urn.STACK_TYPE, f"{monitor.project}-{monitor.stack}")
    exports = monitor.outputs.get(root)
    return Recording(
        project=monitor.project,
        stack=monitor.stack,
        mode=monitor.mode,
        resources=tuple(sorted(resources, key=lambda resource: resource.urn)),
        outputs=plain_map(exports) if exports is not None else {},
        invokes=tuple(sorted(monitor.invokes, key=lambda call: (call.token, json.dumps(call.arguments)))),
        warnings=tuple(engine.log.warnings),
        hooks=tuple(sorted(monitor.hooks)),
    )


def _registered(
    name: str, request: sdk.resource_pb2.RegisterResourceRequest, monitor: RecordingMonitor, project: Project
) -> Resource:
    outputs = monitor.outputs.get(name)
    return Resource(
        urn=name,
        type=request.type,
        name=request.name,
        parent=request.parent or None,
        custom=request.custom,
        inputs=plain_map(request.object),
        options=_options(request),
        property_dependencies={
            key: tuple(sorted(sources.urns))
            for key, sources in sorted(request.propertyDependencies.items())
            if sources.urns
        },
        providers={key: reference_urn(value) or "" for key, value in sorted(request.providers.items())},
        outputs=plain_map(outputs) if outputs is not None and request.type != urn.STACK_TYPE else {},
        source=_source(request, project),
    )


def _read(name: str, request: sdk.resource_pb2.ReadResourceRequest, project: Project) -> Resource:
    return Resource(
        urn=name,
        type=request.type,
        name=request.name,
        parent=request.parent or None,
        custom=True,
        inputs=plain_map(request.properties),
        options=Options(
            depends_on=tuple(sorted(request.dependencies)),
            provider=reference_urn(request.provider),
            additional_secret_outputs=tuple(request.additionalSecretOutputs),
            version=request.version or None,
        ),
        read_id=str(plain(sdk.struct_pb2.Value(string_value=request.id))),
        source=_source(request, project),
    )


def _options(request: sdk.resource_pb2.RegisterResourceRequest) -> Options:
    hooks = {kind.name: tuple(names) for kind, names in request.hooks.ListFields()}
    return Options(
        depends_on=tuple(sorted(request.dependencies)),
        provider=reference_urn(request.provider),
        protect=request.protect if request.HasField("protect") else None,
        retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
        deleted_with=request.deletedWith or None,
        delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        aliases=tuple(map(_alias, request.aliases)),
        custom_timeouts=_timeouts(request.customTimeouts) if request.HasField("customTimeouts") else None,
        additional_secret_outputs=tuple(request.additionalSecretOutputs),
        replace_with=tuple(sorted(request.replace_with)),
        hide_diffs=tuple(request.hideDiffs),
        import_id=request.importId or None,
        version=request.version or None,
        hooks=hooks,
    )


def _timeouts(timeouts: sdk.resource_pb2.RegisterResourceRequest.CustomTimeouts) -> Timeouts:
    return Timeouts(timeouts.create or None, timeouts.update or None, timeouts.delete or None, timeouts.read or None)


def _alias(alias: sdk.alias_pb2.Alias) -> str | Mapping[str, object]:
    if alias.urn:
        return alias.urn
    return {part.name: value for part, value in alias.spec.ListFields() if value}


def _source(
    request: sdk.resource_pb2.RegisterResourceRequest | sdk.resource_pb2.ReadResourceRequest, project: Project
) -> str | None:
    """The innermost line of the project's own code that led to the request."""
    prefix = project.directory.as_uri() + "/"
    for frame in request.stackTrace.frames:
        if frame.pc.uri.startswith(prefix) and "/.venv/" not in frame.pc.uri:
            place = unquote(urlsplit(frame.pc.uri).path)
            return f"{Path(place).relative_to(project.directory).as_posix()}:{frame.pc.line}"
    return None
