"""A small engine for the tests of the simulated cloud: check, diff, then create, update or replace, as Pulumi does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, status_pb2

from tests.e2e.cloud.backend import MemoryBackend
from tests.e2e.cloud.cloud import Cloud
from tests.e2e.cloud.errors import ProviderError
from tests.e2e.cloud.provider import Provider
from tests.e2e.cloud.store import Call
from tests.e2e.cloud.wire import Props, from_struct, to_struct

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
SERVICE = "gcp:projects/service:Service"
ACCOUNT = "gcp:serviceaccount/account:Account"
BUCKET = "gcp:storage/bucket:Bucket"
BUCKET_MEMBER = "gcp:storage/bucketIAMMember:BucketIAMMember"
FIREWALL = "gcp:compute/firewall:Firewall"
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"

PROJECT = "acme-ml-dev"
ZONE = "us-east5-b"
REGION = "us-east5"


class CallError(Exception):
    """A call that the provider ended with an error; ``kept`` is what the engine keeps in its state all the same."""

    def __init__(self, code: grpc.StatusCode, text: str, kept: Any | None) -> None:
        super().__init__(text)
        self.code = code
        self.kept = kept


class Context:
    """The server's side of one call, for a servicer that is called directly."""

    def __init__(self) -> None:
        self._metadata: tuple[tuple[str, bytes], ...] = ()

    def set_trailing_metadata(self, metadata: tuple[tuple[str, bytes], ...]) -> None:
        self._metadata = metadata

    def abort(self, code: grpc.StatusCode, text: str) -> None:
        kept = None
        for _, raw in self._metadata:
            kept = provider_pb2.ErrorResourceInitFailed()
            assert status_pb2.Status.FromString(raw).details[0].Unpack(kept)
        raise CallError(code, text, kept)


@dataclass
class State:
    """What an engine keeps of one resource."""

    id: str
    inputs: Props
    outputs: Props


@dataclass
class Engine:
    """State and steps of one stack."""

    cloud: Cloud
    states: dict[str, State] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.provider = Provider(self.cloud)
        place = {"project": PROJECT, "region": REGION, "zone": ZONE}
        self.provider.Configure(provider_pb2.ConfigureRequest(args=to_struct(place)), Context())

    @property
    def backend(self) -> MemoryBackend:
        assert isinstance(self.cloud.backend, MemoryBackend)
        return self.cloud.backend

    @staticmethod
    def urn(token: str, name: str) -> str:
        return f"urn:pulumi:dev::p::{token}::{name}"

    def check(self, token: str, name: str, inputs: Props) -> tuple[Props, list[str]]:
        urn = self.urn(token, name)
        old = self.states[urn].inputs if urn in self.states else {}
        request = provider_pb2.CheckRequest(
            urn=urn, olds=to_struct(old), news=to_struct(inputs), randomSeed=b"\x01\x23\x45\x67"
        )
        answer = self.provider.Check(request, Context())
        return from_struct(answer.inputs), [failure.reason for failure in answer.failures]

    def diff(self, token: str, name: str, inputs: Props, ignored: Iterable[str] = ()) -> Any:
        state, (checked, failures) = self.states[self.urn(token, name)], self.check(token, name, inputs)
        assert not failures, failures
        request = provider_pb2.DiffRequest(
            id=state.id,
            urn=self.urn(token, name),
            olds=to_struct(state.outputs),
            news=to_struct(checked),
            ignoreChanges=ignored,
        )
        return self.provider.Diff(request, Context())

    def preview(self, token: str, name: str, inputs: Props) -> Props:
        checked, failures = self.check(token, name, inputs)
        assert not failures, failures
        request = provider_pb2.CreateRequest(urn=self.urn(token, name), properties=to_struct(checked), preview=True)
        return from_struct(self.provider.Create(request, Context()).properties)

    def up(self, token: str, name: str, inputs: Props) -> str:
        """Create, update, replace or leave a resource; returns which."""
        urn = self.urn(token, name)
        if urn not in self.states:
            self._create(token, name, inputs)
            return "create"
        answer = self.diff(token, name, inputs)
        if answer.changes == provider_pb2.DiffResponse.DIFF_NONE:
            return "same"
        if answer.replaces:
            assert answer.deleteBeforeReplace, "these tests only replace what keeps its name"
            self.delete(token, name)
            self._create(token, name, inputs)
            return "replace"
        state = self.states[urn]
        checked, _ = self.check(token, name, inputs)
        request = provider_pb2.UpdateRequest(
            id=state.id, urn=urn, olds=to_struct(state.outputs), news=to_struct(checked)
        )
        outputs = from_struct(self.provider.Update(request, Context()).properties)
        self.states[urn] = State(state.id, checked, outputs)
        return "update"

    def _create(self, token: str, name: str, inputs: Props) -> None:
        checked, failures = self.check(token, name, inputs)
        if failures:
            raise ProviderError("; ".join(failures))
        urn = self.urn(token, name)
        request = provider_pb2.CreateRequest(urn=urn, properties=to_struct(checked))
        try:
            answer = self.provider.Create(request, Context())
        except CallError as error:
            if error.kept is not None:
                self.states[urn] = State(error.kept.id, checked, from_struct(error.kept.properties))
            raise
        self.states[urn] = State(answer.id, checked, from_struct(answer.properties))

    def refresh(self, token: str, name: str) -> bool:
        """Read the resource again; False when it is gone."""
        urn = self.urn(token, name)
        state = self.states[urn]
        request = provider_pb2.ReadRequest(
            id=state.id, urn=urn, properties=to_struct(state.outputs), inputs=to_struct(state.inputs)
        )
        answer = self.provider.Read(request, Context())
        if not answer.id:
            del self.states[urn]
            return False
        self.states[urn] = State(answer.id, from_struct(answer.inputs), from_struct(answer.properties))
        return True

    def delete(self, token: str, name: str) -> None:
        urn = self.urn(token, name)
        state = self.states[urn]
        self.provider.Delete(
            provider_pb2.DeleteRequest(id=state.id, urn=urn, properties=to_struct(state.outputs)), Context()
        )
        del self.states[urn]

    def invoke(self, token: str, **args: Any) -> Props:
        answer = self.provider.Invoke(provider_pb2.InvokeRequest(tok=token, args=to_struct(args)), Context())
        return from_struct(getattr(answer, "return"))

    def last(self, method: str) -> Call:
        """The last entry of the audit log for this method."""
        return [call for call in self.cloud.store.audit() if call.method == method][-1]

    def outputs(self, token: str, name: str) -> Props:
        return self.states[self.urn(token, name)].outputs

    def nodes(self) -> dict[str, Any]:
        """All nodes of all clusters by name."""
        return {name: node for cluster in self.backend.nodes.values() for name, node in cluster.items()}


def network() -> Props:
    return {"name": "net", "autoCreateSubnetworks": False, "mtu": 8896}


def subnetwork() -> Props:
    ranges = {"pods": "10.4.0.0/18", "services": "10.8.0.0/20"}
    return {
        "name": "nodes",
        "network": f"projects/{PROJECT}/global/networks/net",
        "ipCidrRange": "10.0.0.0/20",
        "region": REGION,
        "secondaryIpRanges": [{"rangeName": name, "ipCidrRange": cidr} for name, cidr in ranges.items()],
    }


def cluster(**more: Any) -> Props:
    return {
        "name": "train",
        "location": REGION,
        "network": f"projects/{PROJECT}/global/networks/net",
        "subnetwork": f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes",
        "initialNodeCount": 1,
        "removeDefaultNodePool": True,
        "deletionProtection": False,
        "workloadIdentityConfig": {"workloadPool": f"{PROJECT}.svc.id.goog"},
        "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"},
        "controlPlaneEndpointsConfig": {
            "dnsEndpointConfig": {"allowExternalTraffic": True},
            "ipEndpointsConfig": {"enabled": False},
        },
        "privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": True},
        **more,
    }


def slice_pool(name: str = "slice-0", config: Props | None = None, **more: Any) -> Props:
    """A v6e 4x4 slice: four hosts of four chips."""
    return {
        "name": name,
        "cluster": "train",
        "location": REGION,
        "nodeLocations": [ZONE],
        "nodeCount": 4,
        "maxPodsPerNode": 16,
        "nodeConfig": {"machineType": "ct6e-standard-4t", **(config or {})},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        **more,
    }


def flex_pool(name: str = "slice-0", **config: Any) -> Props:
    """The same slice as flex-start."""
    flex = {"flexStart": True, "maxRunDuration": "604800s", **config}
    scaling = {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}
    pool = slice_pool(name, flex, autoscaling=scaling, management={"autoRepair": False, "autoUpgrade": True})
    del pool["nodeCount"]
    return pool
