"""What a run of a program leaves in its recording."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

import offline
from offline.errors import OfflineError
from offline.recording import SECRET, UNKNOWN
from tests.offline.support import TOY, named, recorded, run


def test_the_toy_project_is_recorded_whole() -> None:
    recording = recorded("dev", TOY)
    assert recording.warnings == ("toys are not for production",)
    assert recording.outputs == {"endpoint": UNKNOWN, "password": SECRET, "pools": 2}
    cluster, job, secret = (named(recording, name) for name in ("cluster", "inside-job", "inside-secret"))
    assert job.parent == named(recording, "inside").urn
    assert job.options.deleted_with == cluster.urn
    assert job.options.depends_on == (named(recording, "inside-ns").urn,)
    assert secret.inputs["stringData"] == SECRET
    assert named(recording, "kubernetes").inputs["kubeconfig"] == UNKNOWN
    assert named(recording, "member").inputs["member"] == UNKNOWN
    assert named(recording, "scratch").inputs["labels"] == {"order": "own-stack"}
    assert named(recording, "scratch").options.protect is True
    pool = named(recording, "pools-1")
    assert pool.options.ignore_changes == ("nodeCount", "nodeConfig.labels")
    assert pool.property_dependencies == {"cluster": (cluster.urn,)}
    source = (TOY / "toy_parts.py").read_text().splitlines()
    assert pool.source == f"toy_parts.py:{1 + source.index('            gcp.container.NodePool(')}"
    assert named(recording, "pools").outputs == {"count": 2}
    (look_up,) = recording.invokes
    assert (look_up.token, look_up.arguments) == ("gcp:organizations/getProject:getProject", {"projectId": "acme-toy"})


def test_the_json_form_has_the_contracts_keys_and_is_the_same_each_time() -> None:
    forms = [json.dumps(offline.record("dev", project=TOY).to_json()) for _ in range(2)]
    assert forms[0] == forms[1]
    form = json.loads(forms[0])
    assert list(form) == ["project", "stack", "resources", "outputs"]
    urns = [resource["urn"] for resource in form["resources"]]
    assert urns == sorted(urns)
    for resource in form["resources"]:
        assert list(resource) == ["urn", "type", "name", "parent", "custom", "inputs", "options"]
    assert "04da6b54" not in forms[0]
    assert "[secret]" not in forms[0]
    assert str(TOY) not in forms[0]


def test_an_up_knows_what_the_cloud_would_say() -> None:
    recording = recorded("dev", TOY, "up")
    assert recording.outputs["endpoint"] == "192.0.2.10"
    assert named(recording, "kubernetes").inputs["kubeconfig"] == "server: 192.0.2.10"
    assert named(recording, "member").inputs["member"] == "serviceAccount:123456789012@x.iam.gserviceaccount.com"
    assert json.dumps(recording.to_json()).count("$unknown") == 0


LOOK_UPS = """
import pulumi_gcp as gcp
found = {
    "cluster": gcp.container.get_cluster_output(name="c", location="l", project="p").endpoint,
    "network": gcp.compute.get_network_output(name="n", project="p").self_link,
    "subnet": gcp.compute.get_subnetwork_output(name="s", region="r", project="p").ip_cidr_range,
    "bucket": gcp.storage.get_bucket_output(name="b").url,
    "project": gcp.organizations.get_project_output(project_id="p").number,
}
for key, value in found.items():
    pulumi.export(key, value)
"""


def test_look_ups_are_unknown_in_a_preview(tmp_path: Path) -> None:
    assert run(tmp_path, LOOK_UPS).outputs == dict.fromkeys(
        ("bucket", "cluster", "network", "project", "subnet"), UNKNOWN
    )


def test_look_ups_are_answered_in_an_up(tmp_path: Path) -> None:
    assert run(tmp_path, LOOK_UPS, mode="up").outputs == {
        "bucket": "gs://b",
        "cluster": "192.0.2.10",
        "network": "https://www.googleapis.com/compute/v1/projects/p/global/networks/n",
        "project": "123456789012",
        "subnet": "10.0.0.0/20",
    }


@pytest.mark.parametrize("mode", ["preview", "up"])
def test_a_look_up_that_no_table_answers_is_refused(tmp_path: Path, mode: Any) -> None:
    program = "import pulumi_gcp as gcp; pulumi.export('x', gcp.dns.get_managed_zone_output(name='z').dns_name)"
    with pytest.raises(OfflineError, match=r"^gcp:dns/getManagedZone:getManagedZone: no answer is known"):
        run(tmp_path, program, mode=mode)


def test_a_stack_reference_is_a_read_with_unknown_outputs(tmp_path: Path) -> None:
    recording = run(tmp_path, "pulumi.export('x', pulumi.StackReference('org/p/s').get_output('x'))")
    assert recording.outputs == {"x": UNKNOWN}
    assert named(recording, "org/p/s").to_json()["read"] == "org/p/s"


THING = """
class Thing(pulumi.CustomResource):
    def __init__(self, name, props=None, opts=None):
        super().__init__("thing:index:Thing", name, props or {}, opts)
"""


@pytest.mark.parametrize(
    ("value", "recorded"),
    [
        ("1", 1),
        ("1.0", 1),
        ("1.5", 1.5),
        ("True", True),
        ("None", None),
        ("[1, {'a': 2}]", [1, {"a": 2}]),
        ("pulumi.Output.secret({'a': 1})", SECRET),
        ("Thing('other').id", UNKNOWN),
        ("['a', Thing('other').id]", ["a", UNKNOWN]),
        ("{'a': pulumi.Output.secret('b')}", {"a": SECRET}),
        ("pulumi.StringAsset('text')", {"$asset": {"text": "text"}}),
        ("Thing('other')", "urn:pulumi:dev::small::thing:index:Thing::other"),
    ],
)
def test_how_a_value_is_written(tmp_path: Path, value: str, recorded: Any) -> None:
    recording = run(tmp_path, f"{THING}\nThing('x', {{'v': {value}}})")
    inputs = named(recording, "x").inputs
    assert inputs.get("v") == recorded
    assert type(inputs.get("v")) is type(recorded)


@pytest.mark.parametrize(
    ("value", "seen"),
    [("text", "text"), (True, "true"), (3, "3"), (1.5, "1.5"), ({"b": [1], "a": "x"}, '{"a":"x","b":[1]}'), (None, "")],
)
def test_a_program_gets_configuration_as_text(tmp_path: Path, value: Any, seen: str) -> None:
    recording = run(tmp_path, "pulumi.export('v', pulumi.Config().require('v'))", {"small:v": value})
    assert recording.outputs == {"v": seen}


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        ("raise pulumi.RunError('a: one\\nb: two')", "a: one\nb: two"),
        ("pulumi.log.error('a: wrong')", "a: wrong"),
        (
            f"{THING}\nThing('x')\nThing('x')",
            "urn:pulumi:dev::small::thing:index:Thing::x: a second resource of this URN",
        ),
        ("pulumi.Config().require('absent')", "Missing required configuration variable 'small:absent'"),
    ],
)
def test_a_programs_refusal_is_its_own_sentence(tmp_path: Path, program: str, sentence: str) -> None:
    with pytest.raises(OfflineError) as raised:
        run(tmp_path, program)
    assert str(raised.value).startswith(sentence)


def test_any_other_failure_is_raised_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, "1 / 0")


def test_an_output_in_an_f_string_fails(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="Calling __str__ on an Output"):
        run(tmp_path, f"{THING}\npulumi.export('x', f\"{{Thing('x').id}}\")")


DISABLED = "config:\n  pulumi:disable-default-providers: {value: [thing]}\n"


def test_a_resource_without_a_provider_is_refused_where_default_ones_are_disabled(tmp_path: Path) -> None:
    with pytest.raises(OfflineError, match="Thing::x: it has no provider"):
        run(tmp_path, f"{THING}\nThing('x')", settings=DISABLED)
    assert named(run(tmp_path, f"{THING}\nThing('x')"), "x").options.provider is None


def test_a_look_up_without_a_provider_is_refused_too(tmp_path: Path) -> None:
    look_up = "import pulumi_gcp; pulumi_gcp.organizations.get_project_output(project_id='p')"
    with pytest.raises(OfflineError, match="getProject: it has no provider"):
        run(tmp_path, look_up, settings=DISABLED.replace("thing", "gcp").replace("[gcp]", "['*']"))


def test_the_machines_environment_does_not_leak_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBECONFIG", "PULUMI_CONFIG", "PULUMI_K8S_DELETE_UNREACHABLE", "GOOGLE_PROJECT", "GOOGLE_REGION"):
        monkeypatch.setenv(name, '{"small:leak": "true"}')
    before = dict(os.environ)
    recording = run(
        tmp_path,
        """
import pulumi_gcp, pulumi_kubernetes
pulumi_kubernetes.Provider("k")
pulumi_gcp.Provider("g")
pulumi.export("leak", pulumi.Config().get("leak"))
""",
    )
    assert named(recording, "k").inputs == {}
    assert named(recording, "g").inputs == {}
    assert recording.outputs == {}
    assert dict(os.environ) == before


def test_hooks_are_recorded_and_never_run(tmp_path: Path) -> None:
    recording = run(
        tmp_path,
        THING
        + """
def never(args):
    raise AssertionError

hook = pulumi.ResourceHook("before", never, pulumi.ResourceHookOptions(on_dry_run=True))
Thing("x", opts=pulumi.ResourceOptions(hooks=pulumi.ResourceHookBinding(before_create=[hook], after_create=[never])))
""",
    )
    assert recording.hooks == ("before", "thing:index:Thing_x_after_create_0")
    assert named(recording, "x").options.hooks["before_create"] == ("before",)


def test_no_network_is_used_and_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> Any:
        address = arguments[1] if isinstance(arguments[0], socket.socket) else arguments
        if not (isinstance(address, tuple) and str(address[0]) in ("127.0.0.1", "::1")):
            raise AssertionError(f"a connection to {address}")

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    before = {path: path.stat().st_mtime_ns for path in TOY.rglob("*") if "__pycache__" not in path.parts}
    offline.record("dev", project=TOY)
    assert {path: path.stat().st_mtime_ns for path in TOY.rglob("*") if "__pycache__" not in path.parts} == before


def test_a_program_sees_its_own_modules_and_leaves_the_callers_alone(tmp_path: Path) -> None:
    results = []
    for name in ("one", "two", "one"):
        directory = tmp_path / name
        directory.mkdir(exist_ok=True)
        (directory / "neighbour.py").write_text(f"NAME = {name!r}\n")
        results.append(run(directory, "import neighbour; pulumi.export('name', neighbour.NAME)").outputs["name"])
    assert results == ["one", "two", "one"]
    assert sys.modules["tests.offline.support"].run is run
    assert "neighbour" not in sys.modules or sys.modules["neighbour"].NAME == "one"
    assert Path.cwd() != tmp_path


def test_a_program_may_stand_below_its_project(tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    run_directory = tmp_path / "program"
    (run_directory / "__main__.py").write_text(
        "import os, pulumi\npulumi.export('here', os.path.basename(os.getcwd()))\n"
    )
    (tmp_path / "Pulumi.yaml").write_text("name: small\nmain: program\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    before = Path.cwd()
    assert offline.record("dev", project=tmp_path).outputs == {"here": "program"}
    assert Path.cwd() == before
