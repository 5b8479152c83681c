"""The policy pack: the same rules behind `pulumi_policy`'s interface.

Most tests call the validators as the pack's server does. Where the pack's environment was made (`sh scripts/setup.sh
pack`), the pack itself is started and asked over gRPC, as the engine would.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from types import ModuleType
from typing import Any

import pytest
import yaml

from offline.recording import UNKNOWN, Recording, Resource
from policy.model import Each, Rule, Waiver
from policy.pack import Args as PackArgs
from policy.pack import plain, resource, resource_validator, serve, stack_validator
from policy.rules import RULES
from tests.policy.cases import BROKEN, Case
from tests.policy.good import good
from tests.policy.test_rules import applied
from tests.program.support import CHECKOUT

PACK = CHECKOUT / "policy"
PYTHON = PACK / ".venv" / "bin" / "python"
BY_ID = {rule.id: rule for rule in RULES}
SENTINEL = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SHOWN = [case for case in BROKEN if not BY_ID[case.rule].recorded_only and "replace_on_changes" not in case.options]


class UnknownValueError(Exception):
    """What the pack's proxies raise; the class itself is not installed here."""


class Proxy(Mapping[str, Any]):
    """A map that raises for what is not known, as `pulumi_policy`'s does."""

    def __init__(self, target: Mapping[str, Any]) -> None:
        self.target = target

    def __getitem__(self, key: str) -> Any:
        return proxied(self.target[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self.target)

    def __len__(self) -> int:
        return len(self.target)


class Listed(Sequence[Any]):
    def __init__(self, target: Sequence[Any]) -> None:
        self.target = target

    def __getitem__(self, index: Any) -> Any:
        return proxied(self.target[index])

    def __len__(self) -> int:
        return len(self.target)


def proxied(value: Any) -> Any:
    if value == UNKNOWN:
        raise UnknownValueError
    if isinstance(value, Mapping):
        return Proxy(value)
    if isinstance(value, (list, tuple)):
        return Listed(value)
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


@dataclass
class Timeouts:
    create_seconds: float = 0
    update_seconds: float = 0
    delete_seconds: float = 0


@dataclass
class Opts:
    protect: bool
    ignore_changes: list[str]
    custom_timeouts: Timeouts
    delete_before_replace: bool | None = None
    additional_secret_outputs: list[str] = field(default_factory=list)


@dataclass
class Provider:
    urn: str


@dataclass
class Args:
    """One resource as the server hands it to a validator, or to a stack validator within a list."""

    resource_type: str
    urn: str
    name: str
    props: Mapping[str, Any]
    opts: Opts
    provider: Any


@dataclass
class StackArgs:
    resources: Sequence[PackArgs]


def seconds(text: str | None) -> float:
    return float(text.removesuffix("m")) * 60 if text else 0


def args(of: Resource) -> Args:
    given = of.options.custom_timeouts
    timeouts = Timeouts(*(seconds(getattr(given, each)) if given else 0 for each in ("create", "update", "delete")))
    opts = Opts(bool(of.options.protect), list(of.options.ignore_changes), timeouts)
    provider = Provider(of.options.provider) if of.options.provider else None
    return Args(of.type, of.urn, of.name, Proxy(of.inputs), opts, provider)


def reported(
    recording: Recording, waivers: Sequence[Waiver] = (), rules: Sequence[Rule] = RULES
) -> dict[str, list[str]]:
    """The messages of each policy."""
    found: dict[str, list[str]] = {}
    everything = [args(each) for each in recording.resources if each.custom]
    for rule in rules:

        def report(message: str, urn: str | None = None, to: str = rule.id) -> None:
            found.setdefault(to, []).append(message)

        if rule.recorded_only:
            continue
        if isinstance(rule.check, Each):
            validate = resource_validator(rule, rule.check, waivers)
            for each in everything:
                validate(each, report)
        else:
            stack_validator(rule, waivers)(StackArgs(everything), report)
    return found


def test_a_good_stack_is_let_through() -> None:
    assert reported(good()) == {}


@pytest.mark.parametrize("case", [case for case in SHOWN if case.options != {"provider": None}], ids=str)
def test_the_pack_says_what_the_command_says(case: Case) -> None:
    found = reported(applied(case), rules=[BY_ID[case.rule]])
    assert case.rule in found
    assert BY_ID[case.rule].fix in found[case.rule][0]


def test_a_waiver_counts_in_the_pack_too() -> None:
    bad = applied(next(case for case in BROKEN if case.rule == "bucket-not-public"))
    waiver = Waiver(rule="bucket-not-public", stacks="*-prod", resources="*", reason="why", until=date(9999, 1, 1))
    rules = [BY_ID["bucket-not-public"]]
    assert set(reported(bad, rules=rules)) == {"bucket-not-public"}
    assert reported(bad, [waiver], rules) == {}
    assert reported(bad, [replace(waiver, stacks="*-dev")], rules) != {}


def test_the_engines_form_becomes_the_recorders() -> None:
    pool = next(each for each in good().resources if each.name == "slices-0")
    seen = resource(args(pool))
    assert seen.inputs == json.loads(json.dumps(pool.inputs))
    assert seen.inputs["nodeConfig"]["serviceAccount"] == UNKNOWN
    assert seen.options.custom_timeouts is not None
    assert seen.options.custom_timeouts.create == "7200s"


def test_an_error_of_the_pack_itself_is_not_swallowed() -> None:
    class Broken(Proxy):
        def __getitem__(self, key: str) -> Any:
            raise RuntimeError(key)

    with pytest.raises(RuntimeError):
        plain(Broken({"a": 1}))


def test_the_pack_holds_every_rule_that_the_engine_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    stub = ModuleType("pulumi_policy")

    def keep(**words: Any) -> dict[str, Any]:
        return words

    vars(stub).update(
        EnforcementLevel=type("EnforcementLevel", (), {"ADVISORY": "advisory", "MANDATORY": "mandatory"}),
        Policy=object,
        ResourceValidationPolicy=keep,
        StackValidationPolicy=keep,
        PolicyPack=lambda name, policies: made.append((name, policies)),
    )
    monkeypatch.setitem(sys.modules, "pulumi_policy", stub)
    serve()
    ((name, policies),) = made
    assert name == "pathways"
    levels = {each["name"]: each["enforcement_level"] for each in policies}
    assert levels == {rule.id: rule.level for rule in RULES if not rule.recorded_only}


def test_the_pack_is_where_the_engine_looks() -> None:
    project = yaml.safe_load((PACK / "PulumiPolicy.yaml").read_text())
    assert project["runtime"]["options"]["virtualenv"] == ".venv"
    assert (PACK / "requirements.txt").exists()
    assert (PACK / "__main__.py").exists()


@pytest.mark.skipif(not PYTHON.exists(), reason="the pack's environment was not made (sh scripts/setup.sh pack)")
def test_the_pack_itself_answers_the_engine() -> None:
    import grpc  # noqa: PLC0415 - of the SDK; only this test speaks it
    from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc  # noqa: PLC0415

    bad = applied(next(case for case in BROKEN if case.rule == "slice-chips-match"))
    start = "import runpy; runpy.run_path('.', run_name='__main__')"  # as the SDK's policy host does
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with subprocess.Popen([str(PYTHON), "-c", start], cwd=PACK, env=environment, stdout=subprocess.PIPE) as pack:
        try:
            assert pack.stdout is not None
            port = int(pack.stdout.readline())
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                stub = analyzer_pb2_grpc.AnalyzerStub(channel)
                whole = stub.AnalyzeStack(request_of(bad, analyzer_pb2), timeout=60)
                single = [stub.Analyze(each, timeout=60) for each in requests_of(bad, analyzer_pb2)]
        finally:
            pack.terminate()
    said = [(each.policyName, each.urn) for each in whole.diagnostics]
    assert said == [("slice-chips-match", next(each.urn for each in bad.resources if each.name == "slices-0"))]
    assert [each.policyName for response in single for each in response.diagnostics] == []


def wire(value: Any) -> Any:
    """Inputs as the engine sends them."""
    if value == UNKNOWN:
        return SENTINEL
    if isinstance(value, Mapping):
        return {key: wire(item) for key, item in value.items() if "$secret" not in value}
    return [wire(item) for item in value] if isinstance(value, (list, tuple)) else value


def message_of(each: Resource, kind: Any, pb2: Any) -> Any:
    message = kind(urn=each.urn, type=each.type, name=each.name)
    message.properties.update(wire(each.inputs))
    message.options.protect = bool(each.options.protect)
    message.options.ignoreChanges.extend(each.options.ignore_changes)
    given = each.options.custom_timeouts
    times = {name: seconds(getattr(given, name)) if given else 0 for name in ("create", "update", "delete")}
    message.options.customTimeouts.CopyFrom(pb2.AnalyzerResourceOptions.CustomTimeouts(**times))
    if each.options.provider:
        message.provider.urn = each.options.provider
    return message


def request_of(recording: Recording, pb2: Any) -> Any:
    return pb2.AnalyzeStackRequest(
        resources=[message_of(each, pb2.AnalyzerResource, pb2) for each in recording.resources if each.custom]
    )


def requests_of(recording: Recording, pb2: Any) -> list[Any]:
    return [message_of(each, pb2.AnalyzeRequest, pb2) for each in recording.resources if each.custom]
