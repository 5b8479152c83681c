"""The cloud as a process: attached over gRPC, restarted with its state, gone with its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from tests.cloud.engine import NETWORK, PROJECT, SERVICE, Engine, cluster, network, slice_pool, subnetwork
from tests.e2e.cloud.client import ROOT, CloudControlError, SimulatedCloud
from tests.e2e.cloud.errors import Fault, FaultKind
from tests.e2e.cloud.wire import from_struct, to_struct

pytestmark = pytest.mark.thorough


@pytest.fixture
def cloud(tmp_path: Path) -> Iterator[SimulatedCloud]:
    with SimulatedCloud(tmp_path) as running:
        yield running


def _stub(cloud: SimulatedCloud) -> Any:
    return provider_pb2_grpc.ResourceProviderStub(grpc.insecure_channel(f"127.0.0.1:{cloud.port}"))


def _create(stub: Any, token: str, inputs: dict[str, Any]) -> Any:
    urn = Engine.urn(token, str(inputs.get("name", "x")))
    checked = stub.Check(provider_pb2.CheckRequest(urn=urn, news=to_struct(inputs)))
    assert not checked.failures
    return stub.Create(provider_pb2.CreateRequest(urn=urn, properties=checked.inputs))


def test_a_whole_life_over_the_wire(cloud: SimulatedCloud) -> None:
    """One process for all of it: starting one costs most of a second."""
    assert cloud.environment() == {"PULUMI_DEBUG_PROVIDERS": f"gcp:{cloud.port}"}
    stub = _stub(cloud)
    stub.Attach(plugin_pb2.PluginAttach(address="127.0.0.1:1"))
    assert stub.GetPluginInfo(empty_pb2.Empty()).version == "10.2.0"
    assert stub.GetSchema(provider_pb2.GetSchemaRequest()).schema == "{}"
    config = to_struct({"project": PROJECT, "defaultLabels": json.dumps({"team": "vision"})})
    assert stub.CheckConfig(provider_pb2.CheckRequest(news=config)).inputs == config
    assert stub.Configure(provider_pb2.ConfigureRequest(args=config)).supportsPreview
    _create(stub, SERVICE, {"service": "compute.googleapis.com"})
    created = _create(stub, NETWORK, network())
    assert created.id == f"projects/{PROJECT}/global/networks/net"

    cloud.inject(Fault(FaultKind.QUOTA, "Network"))
    with pytest.raises(grpc.RpcError, match="Insufficient regional quota"):
        _create(stub, NETWORK, {**network(), "name": "two"})

    port, pid, mark = cloud.port, cloud.pid(), cloud.mark()
    cloud.restart()
    assert cloud.port == port
    assert cloud.pid() != pid
    stub = _stub(cloud)
    read = stub.Read(provider_pb2.ReadRequest(id=created.id, urn=Engine.urn(NETWORK, "net")), wait_for_ready=True)
    assert from_struct(read.properties)["mtu"] == 8896
    assert [call.method for call in cloud.audit(since=mark)] == ["Read"]

    cloud.by_hand("delete", type="Network", name="net")
    read = stub.Read(provider_pb2.ReadRequest(id=created.id, urn=Engine.urn(NETWORK, "net")))
    assert read.id == ""
    with pytest.raises(CloudControlError, match="0 resources of type gcp:compute/network:Network"):
        cloud.by_hand("delete", type="Network", name="net")
    with pytest.raises(CloudControlError, match="unknown order"):
        cloud.by_hand("explode")
    stub.Cancel(empty_pb2.Empty())


def test_what_was_under_way_at_a_crash_goes_on_after_it(cloud: SimulatedCloud) -> None:
    cloud.by_hand("make", type="Network", inputs=network(), project=PROJECT)
    cloud.by_hand("make", type="Subnetwork", inputs=subnetwork(), project=PROJECT)
    cloud.by_hand("make", type="Cluster", inputs=cluster(), project=PROJECT)
    cloud.by_hand("make", type=SERVICE, inputs={"service": "container.googleapis.com"}, project=PROJECT)
    cloud.set_durations(NodePool={"create": 1.5, "delete": 0.1})
    stub = _stub(cloud)
    stub.Configure(provider_pb2.ConfigureRequest(args=to_struct({"project": PROJECT})))
    urn = Engine.urn("gcp:container/nodePool:NodePool", "slice-0")
    checked = stub.Check(provider_pb2.CheckRequest(urn=urn, news=to_struct(slice_pool())))
    call = stub.Create.future(provider_pb2.CreateRequest(urn=urn, properties=checked.inputs))
    while not cloud.resources("NodePool"):
        time.sleep(0.02)
    cloud.restart()
    with pytest.raises(grpc.RpcError):
        call.result()
    deadline = time.monotonic() + 10
    while cloud.resources("NodePool")[0]["status"] != "RUNNING":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (pool,) = cloud.resources("NodePool")
    assert len(pool["meta"]["slots"]) == 4
    assert cloud.audit("Create", "NodePool")[0].outcome == "running"


PARENT = """
import pathlib, sys, time
from tests.e2e.cloud.client import SimulatedCloud
cloud = SimulatedCloud(pathlib.Path(sys.argv[1])).start()
print(cloud.pid(), flush=True)
time.sleep(60)
"""


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def test_it_dies_with_its_parent_however_that_ends(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 5
    while not _gone(pid):
        assert time.monotonic() < deadline, "the cloud outlived its parent"
        time.sleep(0.02)
