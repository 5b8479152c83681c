"""The engine's side of the conversation: answers each request of a program and keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from offline import answers, effective, urn
from offline.errors import OfflineError
from offline.recording import Invoke, Mode
from offline.sdk import MockEngine, MockMonitor, Mocks, empty_pb2, engine_pb2, provider_pb2, resource_pb2
from offline.values import plain_map, to_struct

_DISABLED_KEY = "pulumi:disable-default-providers"


@dataclass
class Log:
    """What the program said, by severity, in order."""

    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class RecordingEngine(MockEngine):
    """Keeps warnings and errors; the rest of the log is for people who watch an `up`."""

    def __init__(self) -> None:
        super().__init__(None)
        self.log = Log()

    def Log(self, request: engine_pb2.LogRequest) -> empty_pb2.Empty:  # noqa: N802
        """Keep a message of the program."""
        if request.severity == engine_pb2.WARNING:
            self.log.warnings.append(request.message)
        elif request.severity == engine_pb2.ERROR:
            self.log.errors.append(request.message)
        return empty_pb2.Empty()

    def RequirePulumiVersion(self, request: object) -> empty_pb2.Empty:  # noqa: N802
        """Any version will do: there is no CLI."""
        del request
        return empty_pb2.Empty()


class _NoMocks(Mocks):
    """The stock monitor wants mocks; this one answers all by itself."""

    def call(self, args: object) -> NoReturn:
        """Never reached."""
        raise AssertionError(args)

    def new_resource(self, args: object) -> NoReturn:
        """Never reached."""
        raise AssertionError(args)


class RecordingMonitor(MockMonitor):
    """Answers as the engine would and keeps every effective request.

    Attributes:
        requests: effective registrations by URN, the Stack's among them.
        reads: reads by URN.
        outputs: per URN what it registered at its end.
        invokes: the look-ups.
        hooks: names of registered hooks.
    """

    def __init__(self, project: str, stack: str, mode: Mode, config: Mapping[str, str]) -> None:
        super().__init__(_NoMocks())
        self.project, self.stack, self.mode = project, stack, mode
        self.requests: dict[str, resource_pb2.RegisterResourceRequest] = {}
        self.reads: dict[str, resource_pb2.ReadResourceRequest] = {}
        self.outputs: dict[str, Any] = {}
        self.invokes: list[Invoke] = []
        self.hooks: list[str] = []
        self._transforms: dict[str, tuple[str, ...]] = {}
        self._stack_callbacks: list[str] = []
        self._disabled = frozenset(json.loads(config.get(_DISABLED_KEY, "[]")))

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """The engine's URN, see `offline.urn`."""
        return urn.make(self.stack, self.project, parent, type_, name)

    def RegisterResource(  # noqa: N802
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        """Keep the effective request; answer with its inputs and, in an `up`, what the cloud would add."""
        name = self._new_urn(request.parent, request.type, request.name)
        effective.inherit(request, self.requests.get(request.parent))
        effective.transform(request, self._transform_tokens(name, request))
        self._check_provider(name, request.custom, request.type, request.provider)
        self.requests[name] = request
        if not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=name, object=request.object)
        if self.mode == "preview":
            # An empty ID is an unknown one, and what is not in the answer is unknown too.
            return resource_pb2.RegisterResourceResponse(urn=name, object=request.object)
        inputs = self._provider_defaults(request.provider) | plain_map(request.object)
        answer = answers.created(request.type, request.name, inputs)
        state = resource_pb2.RegisterResourceResponse(urn=name, id=answer.id, object=request.object)
        state.object.MergeFrom(to_struct(answer.outputs))
        return state

    def ReadResource(  # noqa: N802
        self, request: resource_pb2.ReadResourceRequest
    ) -> resource_pb2.ReadResourceResponse:
        """Keep the read; answer with what is given, the rest is unknown in a preview."""
        name = self._new_urn(request.parent, request.type, request.name)
        self._check_provider(name, True, request.type, request.provider)
        self.reads[name] = request
        return resource_pb2.ReadResourceResponse(urn=name, id=request.id, properties=request.properties)

    def RegisterResourceOutputs(  # noqa: N802
        self, request: resource_pb2.RegisterResourceOutputsRequest
    ) -> empty_pb2.Empty:
        """Keep a component's outputs; the Stack's are the program's exports."""
        self.outputs[request.urn] = request.outputs
        return empty_pb2.Empty()

    def Invoke(self, request: resource_pb2.ResourceInvokeRequest) -> resource_pb2.ResourceInvokeResponse:  # noqa: N802
        """Answer a look-up: wholly unknown in a preview, from the table in an `up`."""
        arguments = plain_map(request.args)
        self.invokes.append(Invoke(request.tok, arguments, answers.reference_urn(request.provider)))
        self._check_provider(request.tok, True, request.tok, request.provider)
        result = answers.looked_up(request.tok, self._provider_defaults(request.provider) | arguments)
        if self.mode == "preview":
            return resource_pb2.ResourceInvokeResponse(unknown=True)
        response = resource_pb2.ResourceInvokeResponse()
        getattr(response, "return").CopyFrom(to_struct(result))  # a keyword of Python
        return response

    def Call(self, request: resource_pb2.ResourceCallRequest) -> provider_pb2.CallResponse:  # noqa: N802
        """Refuse a method call on a remote component: nothing here can answer it."""
        raise OfflineError(f"{request.tok}: no answer is known for this call; answers stand in offline/answers.py")

    def RegisterStackTransform(self, request: Any) -> empty_pb2.Empty:  # noqa: N802
        """Keep a transform for all resources to come."""
        self._stack_callbacks.append(request.token)
        return empty_pb2.Empty()

    def RegisterResourceHook(self, request: Any) -> empty_pb2.Empty:  # noqa: N802
        """Keep the name; hooks never run here."""
        self.hooks.append(request.name)
        return empty_pb2.Empty()

    def RegisterErrorHook(self, request: Any) -> empty_pb2.Empty:  # noqa: N802
        """Keep the name; hooks never run here."""
        self.hooks.append(request.name)
        return empty_pb2.Empty()

    def _provider_defaults(self, reference: str) -> dict[str, Any]:
        """The project and region that a Google provider adds where they are not given."""
        provider = self.requests.get(answers.reference_urn(reference) or "")
        inputs = plain_map(provider.object) if provider is not None else {}
        return {key: inputs[key] for key in ("project", "region") if key in inputs}

    def _new_urn(self, parent: str, type_: str, name: str) -> str:
        new = self.make_urn(parent, type_, name)
        if new in self.requests or new in self.reads:
            raise OfflineError(f"{new}: a second resource of this URN; URNs are unique; give it another name or parent")
        return new

    def _transform_tokens(self, name: str, request: resource_pb2.RegisterResourceRequest) -> tuple[str, ...]:
        """The callbacks that apply: the resource's own, each ancestor's, the stack's."""
        own = tuple(callback.token for callback in request.transforms)
        inherited = own + self._transforms.get(request.parent, ())
        if inherited:
            self._transforms[name] = inherited
        return inherited + tuple(self._stack_callbacks)

    def _check_provider(self, name: str, custom: bool, type_: str, provider: str) -> None:
        if not custom or provider or type_.startswith(("pulumi:", urn.PROVIDER_PREFIX)):
            return
        package = urn.package_of(type_)
        if package in self._disabled or "*" in self._disabled:
            raise OfflineError(
                f"{name}: it has no provider ({package}); {_DISABLED_KEY} forbids the default one; "
                "pass an explicit provider"
            )
