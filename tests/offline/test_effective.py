"""Options are recorded as the engine would put them into effect: given, inherited, transformed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.offline.support import named, run

RESOURCES = """
class Thing(pulumi.CustomResource):
    def __init__(self, name, props=None, opts=None):
        super().__init__("thing:index:Thing", name, {"order": "", **(props or {})}, opts)

class Other(pulumi.CustomResource):
    def __init__(self, name, opts=None):
        super().__init__("other:index:Other", name, {}, opts)

class Group(pulumi.ComponentResource):
    def __init__(self, name, opts=None):
        super().__init__("small:index:Group", name, {}, opts)

class ThingProvider(pulumi.ProviderResource):
    def __init__(self, name):
        super().__init__("thing", name, {})

Options = pulumi.ResourceOptions
"""


@pytest.mark.parametrize(
    ("parent", "child", "option", "expected"),
    [
        ("deleted_with=owner", "", "deleted_with", "owner"),
        ("deleted_with=owner", "deleted_with=second", "deleted_with", "second"),
        ("", "deleted_with=owner", "deleted_with", "owner"),
        ("", "", "deleted_with", None),
        ("protect=True", "", "protect", True),
        ("protect=True", "protect=False", "protect", False),
        ("", "", "protect", None),
        ("retain_on_delete=True", "", "retain_on_delete", True),
        ("retain_on_delete=True", "retain_on_delete=False", "retain_on_delete", False),
        ("providers=[google]", "", "provider", "google"),
        ("depends_on=[owner]", "", "depends_on", ()),
        ("ignore_changes=['a']", "", "ignore_changes", ()),
        ("custom_timeouts=pulumi.CustomTimeouts(create='1m')", "", "custom_timeouts", None),
        ("", "delete_before_replace=False", "delete_before_replace", False),
        ("", "", "delete_before_replace", None),
    ],
)
def test_what_a_child_inherits(tmp_path: Path, parent: str, child: str, option: str, expected: Any) -> None:
    recording = run(
        tmp_path,
        RESOURCES
        + f"""
owner, second, google = Thing("owner"), Thing("second"), ThingProvider("google")
outer = Group("outer", Options({parent}))
inner = Group("inner", Options(parent=outer))
Thing("child", opts=Options(parent=inner{", " + child if child else ""}))
Other("stranger", Options(parent=inner))
""",
    )
    found = getattr(named(recording, "child").options, option)
    names = {resource.urn: resource.name for resource in recording.resources}
    assert names.get(found, found) == expected
    assert named(recording, "stranger").options.provider is None


def test_a_resource_hands_its_provider_to_children_of_its_package(tmp_path: Path) -> None:
    recording = run(
        tmp_path,
        RESOURCES
        + """
google = ThingProvider("google")
top = Thing("top", opts=Options(provider=google))
Thing("child", opts=Options(parent=top))
""",
    )
    assert named(recording, "child").options.provider == named(recording, "google").urn


def test_transforms_run_own_first_then_the_ancestors_then_the_stacks(tmp_path: Path) -> None:
    recording = run(
        tmp_path,
        RESOURCES
        + """
def mark(word, **options):
    def change(args):
        props = {**args.props, "order": args.props.get("order", "") + word}
        return pulumi.ResourceTransformResult(props, Options.merge(args.opts, Options(**options)))
    return change

owner = Thing("owner")
pulumi.runtime.register_resource_transform(mark("s"))
outer = Group("outer", Options(transforms=[mark("o", protect=True)]))
inner = Group("inner", Options(parent=outer, transforms=[mark("i", ignore_changes=["order"])]))
Thing("child", opts=Options(
    parent=inner,
    transforms=[mark("1", replace_on_changes=["order"], depends_on=[owner]), mark("2", retain_on_delete=True)],
    delete_before_replace=True,
    custom_timeouts=pulumi.CustomTimeouts(create="7m", delete="3m"),
    aliases=[pulumi.Alias(name="before")],
))
""",
    )
    child, owner = named(recording, "child"), named(recording, "owner")
    assert child.inputs["order"] == "12ios"
    assert owner.inputs["order"] == ""
    assert child.options.to_json() == {
        "dependsOn": [owner.urn],
        "protect": True,
        "retainOnDelete": True,
        "deleteBeforeReplace": True,
        "ignoreChanges": ["order"],
        "replaceOnChanges": ["order"],
        "aliases": [{"name": "before"}],
        "customTimeouts": {"create": "7m", "delete": "3m"},
    }


def test_the_answer_to_a_program_has_been_transformed(tmp_path: Path) -> None:
    recording = run(
        tmp_path,
        RESOURCES
        + """
def change(args):
    return pulumi.ResourceTransformResult({**args.props, "order": "changed"}, args.opts)

pulumi.export("order", Thing("x", {"order": "given"}, Options(transforms=[change])).order)
""",
    )
    assert recording.outputs == {"order": "changed"}
