"""Each part of pulumi's inside that the recorder leans on still does what the recorder needs.

A failure here after an update of pulumi is to be mended in offline/sdk.py, see its docstring.
"""

from __future__ import annotations

import ast
import asyncio
import gc
from pathlib import Path
from typing import Any

import pulumi
import pytest

import offline
from offline import sdk
from offline.monitor import RecordingEngine, RecordingMonitor
from tests.offline.support import run

HELP = "pulumi changed inside: mend offline/sdk.py as its docstring says"


def serialized(value: Any) -> Any:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(sdk.rpc.serialize_properties({"v": value}, {})).fields["v"]
    finally:
        loop.close()


def test_a_secret_travels_under_the_signature_that_is_looked_for() -> None:
    monitor = RecordingMonitor("p", "s", "preview", {})
    sdk.run_program(
        lambda: pulumi.export("v", pulumi.Output.secret("x")),
        project="p",
        stack="s",
        root_directory="/",
        config={},
        secret_keys=frozenset(),
        monitor=monitor,
        engine=RecordingEngine(),
        dry_run=True,
    )
    (outputs,) = monitor.outputs.values()
    wire = outputs.fields["v"].struct_value.fields
    assert wire[sdk.SIGNATURE_KEY].string_value == sdk.SECRET_SIGNATURE, HELP


@pytest.mark.parametrize(
    ("asset", "kind"),
    [(pulumi.StringAsset("x"), "$asset"), (pulumi.AssetArchive({}), "$archive")],
)
def test_assets_travel_under_the_signatures_that_are_looked_for(asset: Any, kind: str) -> None:
    wire = serialized(asset).struct_value.fields
    assert sdk.SIGNATURES[wire[sdk.SIGNATURE_KEY].string_value] == kind, HELP


def test_an_unknown_travels_as_the_sentinel_that_is_looked_for() -> None:
    assert sdk.rpc.UNKNOWN == sdk.UNKNOWN_SENTINEL == "04da6b54-80e4-46f7-96ec-b56ff0331ba9", HELP
    assert isinstance(sdk.rpc.deserialize_property(sdk.struct_pb2.Value(string_value=sdk.UNKNOWN_SENTINEL)), object)


TRANSFORM_OPTIONS = """
    depends_on protect ignore_changes replace_on_changes version aliases provider custom_timeouts plugin_download_url
    retain_on_delete deleted_with delete_before_replace additional_secret_outputs providers hooks import hide_diff
    replace_with replacement_trigger
"""


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ("TransformResourceOptions", TRANSFORM_OPTIONS),
        ("TransformResponse", "properties options"),
        ("ResourceInvokeResponse", "return failures unknown"),
        (
            "ReadResourceRequest",
            "id type name parent properties dependencies provider additionalSecretOutputs stackTrace",
        ),
    ],
)
def test_messages_have_the_fields_that_are_read(message: str, fields: str) -> None:
    known = set(getattr(sdk.resource_pb2, message).DESCRIPTOR.fields_by_name)
    assert set(fields.split()) <= known, HELP


def test_every_option_of_a_registration_is_read_or_known_to_be_left_out() -> None:
    """A new option of pulumi must not be dropped silently: add it to the recording, or here with the reason."""
    left_out = {
        # what the SDK says of itself
        "acceptSecrets", "acceptResources", "supportsPartialValues", "supportsResultReporting", "aliasSpecs",
        "accepts_byte_string", "parentStackTraceHandle", "sourcePosition", "aliasURNs",
        # where a plugin comes from
        "pluginDownloadURL", "pluginChecksums", "packageRef", "envVarMappings", "snippetId",
        # remote components, state migrations and replacement triggers are not used here
        "remote", "state_migrations", "replacement_trigger",
    }  # fmt: skip
    read = {
        "type", "name", "parent", "custom", "object", "protect", "dependencies", "provider", "propertyDependencies",
        "deleteBeforeReplace", "deleteBeforeReplaceDefined", "version", "ignoreChanges", "additionalSecretOutputs",
        "importId", "customTimeouts", "providers", "replaceOnChanges", "retainOnDelete", "aliases", "deletedWith",
        "replace_with", "stackTrace", "transforms", "hooks", "hideDiffs",
    }  # fmt: skip
    known = set(sdk.resource_pb2.RegisterResourceRequest.DESCRIPTOR.fields_by_name)
    assert known - read - left_out == set(), HELP
    assert (read | left_out) - known == set(), HELP


def test_the_loop_calls_at_once_and_keeps_exceptions() -> None:
    loop = sdk.InlineLoop()
    try:
        assert loop.run_in_executor(None, lambda: 3).result() == 3
        with pytest.raises(ZeroDivisionError):
            loop.run_in_executor(None, lambda: 1 // 0).result()
    finally:
        loop.close()


def test_the_loop_settles_when_no_other_task_can_go_on() -> None:
    loop, steps = sdk.InlineLoop(), [0]

    async def step() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
            steps[0] += 1
        if steps[0] < 50:
            loop.create_task(step()).add_done_callback(lambda _: None)

    async def begin() -> list[int]:
        never = loop.create_task(asyncio.Event().wait())
        first = loop.create_task(step())
        await loop.settle()
        assert first.done()
        assert not never.done()
        never.cancel()
        return list(steps)

    try:
        assert loop.run_until_complete(begin()) == [50]
    finally:
        loop.close()


def test_runs_do_not_see_each_other_nor_change_the_caller() -> None:
    seen: list[tuple[Any, ...]] = []

    def program() -> None:
        seen.append(
            (pulumi.get_project(), pulumi.get_stack(), pulumi.Config("a").get("k"), pulumi.runtime.is_dry_run())
        )

    for stack, dry_run in (("one", True), ("two", False)):
        sdk.run_program(
            program,
            project="p",
            stack=stack,
            root_directory="/",
            config={"a:k": stack},
            secret_keys=frozenset(),
            monitor=RecordingMonitor("p", stack, "preview", {}),
            engine=RecordingEngine(),
            dry_run=dry_run,
        )
    assert seen == [("p", "one", "one", True), ("p", "two", "two", False)], HELP
    assert pulumi.runtime.get_root_resource() is None
    assert pulumi.Config("a").get("k") is None


def test_a_running_loop_is_refused() -> None:
    async def inside() -> None:
        sdk.run_program(
            lambda: None,
            project="p",
            stack="s",
            root_directory="/",
            config={},
            secret_keys=frozenset(),
            monitor=object(),
            engine=object(),
            dry_run=True,
        )

    with pytest.raises(RuntimeError, match="use a thread of its own"):
        asyncio.run(inside())


def test_nothing_else_imports_from_the_inside_of_pulumi() -> None:
    root = Path(offline.__file__).parent
    for file in root.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            name = node.module if isinstance(node, ast.ImportFrom) else None
            if name and name.startswith("pulumi.") and file.name != "sdk.py":
                pytest.fail(f"{file.name} imports from {name}; only sdk.py may")


def test_the_collector_is_as_it_was_after_a_run(tmp_path: Path) -> None:
    assert gc.isenabled()
    run(tmp_path, "import gc; pulumi.export('gc', gc.isenabled())")
    assert gc.isenabled()
