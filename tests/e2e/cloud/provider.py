# ruff: noqa: N802 - the methods have the protocol's names
"""The engine's provider protocol over the simulated cloud. Every call is written to the audit log."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from tests.e2e.cloud import invokes
from tests.e2e.cloud.check import DEFAULTS, WrongTypeError, check
from tests.e2e.cloud.cloud import Cloud
from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.diff import Change, Kind, delete_before_replace, diff, without_ignored
from tests.e2e.cloud.errors import CloudError, InitFailedError, ProviderError
from tests.e2e.cloud.facts import ResourceFacts, load
from tests.e2e.cloud.outputs import inputs_of, labelled, merged, plain, previewed
from tests.e2e.cloud.services.base import tail
from tests.e2e.cloud.wire import UNKNOWN, Props, from_struct, to_struct

VERSION = "10.2.0"
_DIFF = provider_pb2.PropertyDiff
_KINDS = {
    (Kind.ADD, False): _DIFF.ADD,
    (Kind.ADD, True): _DIFF.ADD_REPLACE,
    (Kind.DELETE, False): _DIFF.DELETE,
    (Kind.DELETE, True): _DIFF.DELETE_REPLACE,
    (Kind.UPDATE, False): _DIFF.UPDATE,
    (Kind.UPDATE, True): _DIFF.UPDATE_REPLACE,
}


@dataclass
class _Entry:
    """What a call tells the audit log at its end."""

    seq: int
    id: str | None = None
    detail: Props = field(default_factory=dict)


def _type_of(urn: str) -> str:
    _, _, types, _ = urn.split("::", 3)
    return types.rpartition("$")[2]


def _name_of(urn: str) -> str:
    return urn.split("::", 3)[3]


def _error_text(error: Exception) -> str:
    return f"1 error occurred:\n\t* {error}\n\n"


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """One server for all ``gcp.Provider`` resources of a program.

    A request does not say which of them it belongs to; the last configuration holds for what names no project.
    """

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.config = ProviderConfig()

    @contextmanager
    def _audited(self, context: Any, method: str, urn: str, id: str = "", preview: bool = False) -> Iterator[_Entry]:
        """Write the call down, and turn what the cloud refuses into the protocol's errors."""
        store, token = self.cloud.store, _type_of(urn)
        entry = _Entry(store.begin(method, type=token, name=_name_of(urn), id=id, urn=urn, preview=preview))
        outcome = "ok"
        try:
            if token not in load():
                raise ProviderError(f"the simulated cloud has no resource type {token}")
            yield entry
        except (CloudError, ProviderError) as error:
            outcome = str(error)
            context.abort(grpc.StatusCode.UNKNOWN, _error_text(error))
        except WrongTypeError as error:
            outcome = str(error)
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except InitFailedError as error:
            outcome, entry.id = "; ".join(error.reasons), error.id
            _abort_init_failed(context, error)
        except Exception as error:
            outcome = f"bug in the simulated cloud: {error!r}"
            raise
        finally:
            store.end(entry.seq, outcome, id=entry.id, detail=entry.detail)

    # The plugin

    def GetPluginInfo(self, request: Any, context: Any) -> plugin_pb2.PluginInfo:
        """The version of the provider it stands for."""
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetSchema(self, request: Any, context: Any) -> provider_pb2.GetSchemaResponse:
        """No schema: programs in Python need none."""
        return provider_pb2.GetSchemaResponse(schema="{}")

    def Attach(self, request: Any, context: Any) -> empty_pb2.Empty:
        """An engine takes hold of this process."""
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> empty_pb2.Empty:
        """An engine lets go; operations under way go on, as Google's do."""
        return empty_pb2.Empty()

    def GetMapping(self, request: Any, context: Any) -> provider_pb2.GetMappingResponse:
        """No mapping to other tools."""
        return provider_pb2.GetMappingResponse()

    def GetMappings(self, request: Any, context: Any) -> provider_pb2.GetMappingsResponse:
        """No mappings to other tools."""
        return provider_pb2.GetMappingsResponse()

    # The provider's own configuration

    def CheckConfig(self, request: Any, context: Any) -> provider_pb2.CheckResponse:
        """Accepts what is given."""
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> provider_pb2.DiffResponse:
        """A changed provider is updated, not replaced."""
        olds, news = from_struct(request.olds), from_struct(request.news)
        keys = sorted(key for key in {*olds, *news} if olds.get(key) != news.get(key))
        changes = provider_pb2.DiffResponse.DIFF_SOME if keys else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=changes, diffs=keys)

    def Configure(self, request: Any, context: Any) -> provider_pb2.ConfigureResponse:
        """Project, place and labels for what names none."""
        self.config = ProviderConfig.read(from_struct(request.args), dict(request.variables))
        self.cloud.store.event("Configure", "pulumi:providers:gcp", self.config.project)
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    # Resources

    def Check(self, request: Any, context: Any) -> provider_pb2.CheckResponse:
        """Defaults and refusals."""
        with self._audited(context, "Check", request.urn) as entry:
            facts, logical = load()[_type_of(request.urn)], _name_of(request.urn)
            olds, news = from_struct(request.olds), from_struct(request.news)
            inputs, failures = check(facts, logical, news, _autoname(facts, logical, olds, request.randomSeed))
            entry.detail = {"failures": failures} if failures else {}
            reasons = [provider_pb2.CheckFailure(reason=reason) for reason in failures]
            return provider_pb2.CheckResponse(inputs=to_struct(inputs), failures=reasons)

    def Diff(self, request: Any, context: Any) -> provider_pb2.DiffResponse:
        """The plan for an existing resource."""
        with self._audited(context, "Diff", request.urn, request.id) as entry:
            facts = load()[_type_of(request.urn)]
            olds, news = from_struct(request.olds), from_struct(request.news)
            changes = without_ignored(diff(facts, olds, news, self.config.labels), request.ignoreChanges)
            entry.detail = {change.path: _DIFF.Kind.Name(_kind(change)) for change in changes}
            replaces = [change.path for change in changes if change.replaces]
            return provider_pb2.DiffResponse(
                replaces=sorted({_root(path) for path in replaces}),
                deleteBeforeReplace=bool(replaces) and delete_before_replace(facts, olds, news),
                changes=provider_pb2.DiffResponse.DIFF_SOME if changes else provider_pb2.DiffResponse.DIFF_NONE,
                diffs=sorted({_root(change.path) for change in changes}),
                detailedDiff={change.path: _DIFF(kind=_kind(change)) for change in changes},
                hasDetailedDiff=True,
            )

    def Create(self, request: Any, context: Any) -> provider_pb2.CreateResponse:
        """Create, or show what a create would give."""
        with self._audited(context, "Create", request.urn, preview=request.preview) as entry:
            token, inputs = _type_of(request.urn), from_struct(request.properties)
            entry.detail = {"inputs": plain(inputs)}
            if request.preview:
                return provider_pb2.CreateResponse(properties=to_struct(previewed(load()[token], inputs, self.config)))
            record = self.cloud.create(token, inputs, self.config)
            entry.id = record.id
            return provider_pb2.CreateResponse(id=record.id, properties=to_struct(record.props))

    def Read(self, request: Any, context: Any) -> provider_pb2.ReadResponse:
        """What is there now; an empty id for what is gone."""
        with self._audited(context, "Read", request.urn, request.id) as entry:
            token = _type_of(request.urn)
            record = self.cloud.read(token, request.id)
            if record is None:
                entry.detail = {"gone": True}
                return provider_pb2.ReadResponse(id="")
            state, inputs = from_struct(request.properties), from_struct(request.inputs)
            shown = {**record.props, **{key: state[key] for key in _CLIENT_ONLY if key in state}}
            return provider_pb2.ReadResponse(
                id=record.id,
                properties=to_struct(shown),
                inputs=to_struct(inputs_of(load()[token], inputs, shown)),
            )

    def Update(self, request: Any, context: Any) -> provider_pb2.UpdateResponse:
        """Apply a plan without replacement, or show its result."""
        with self._audited(context, "Update", request.urn, request.id, request.preview) as entry:
            token = _type_of(request.urn)
            facts, olds, news = load()[token], from_struct(request.olds), from_struct(request.news)
            changes = without_ignored(diff(facts, olds, news, self.config.labels), request.ignoreChanges)
            if request.preview:
                shown = labelled(facts, merged(facts.properties, olds, plain(news)), self.config)
                return provider_pb2.UpdateResponse(properties=to_struct(shown))
            record, writes = self.cloud.update(token, request.id, news, changes, self.config)
            entry.detail = {"changes": [change.path for change in changes], "writes": writes}
            return provider_pb2.UpdateResponse(properties=to_struct(record.props))

    def Delete(self, request: Any, context: Any) -> empty_pb2.Empty:
        """Delete what the state says."""
        with self._audited(context, "Delete", request.urn, request.id):
            self.cloud.delete(_type_of(request.urn), request.id, from_struct(request.properties))
            return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> provider_pb2.InvokeResponse:
        """A function."""
        args, store = from_struct(request.args), self.cloud.store
        seq = store.begin("Invoke", type=request.tok, name=tail(args.get("name", "")), detail=args)
        outcome = "ok"
        try:
            result = invokes.invoke(self.cloud, request.tok, args, self.config)
            return provider_pb2.InvokeResponse(**{"return": to_struct(result)})  # type: ignore[arg-type]
        except (CloudError, ProviderError) as error:
            outcome = str(error)
            context.abort(grpc.StatusCode.UNKNOWN, _error_text(error))
            raise
        finally:
            store.end(seq, outcome)


# Kept in the state only: a read cannot know them.
_CLIENT_ONLY = ("deletionProtection", "deletionPolicy", "forceDestroy", "removeDefaultNodePool", "disableOnDestroy")


def _kind(change: Change) -> Any:
    return _KINDS[change.kind, change.replaces]


def _root(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _autoname(facts: ResourceFacts, logical: str, olds: Props, seed: bytes) -> str | None:
    """The old invented name, or a new one: the logical name and seven digits."""
    key = facts.autonamed
    if key is None:
        return None
    if key in olds.get(DEFAULTS, ()) and olds.get(key) not in (None, UNKNOWN):
        return str(olds[key])
    suffix = seed.hex()[:7] if seed else secrets.token_hex(4)[:7]
    return f"{logical}-{suffix}"


def _abort_init_failed(context: Any, error: InitFailedError) -> NoReturn:
    """The protocol's way to say: it exists, keep it in the state, but it is not what was asked for."""
    text = _error_text(Exception(error.reasons[0]))
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=text)
    detail = provider_pb2.ErrorResourceInitFailed(id=error.id, properties=to_struct(error.props), reasons=error.reasons)
    status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, text)
    raise AssertionError("abort returns nowhere")
