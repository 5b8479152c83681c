"""Faults on order, operations that take their time, and a cloud that is not consistent at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.cloud.engine import (
    ACCOUNT,
    BUCKET,
    BUCKET_MEMBER,
    CLUSTER,
    NETWORK,
    NODE_POOL,
    PROJECT,
    REGION,
    SERVICE,
    CallError,
    Engine,
    cluster,
    network,
    slice_pool,
)
from tests.e2e.cloud import by_hand
from tests.e2e.cloud.errors import Fault, FaultKind
from tests.e2e.cloud.services.iam import IDENTITY_POOL

pytestmark = pytest.mark.thorough

BUCKET_INPUTS = {"name": "scratch-1", "location": REGION}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (FaultKind.QUOTA, "Error 403: Insufficient regional quota to satisfy request"),
        (FaultKind.CONFLICT, "Error 409: Already exists"),
        (FaultKind.RATE_LIMIT, "Error 429: Quota exceeded for quota metric"),
        (FaultKind.UNAVAILABLE, "Error 503: The service is currently unavailable"),
        (FaultKind.INTERNAL, "Error 500: Internal error encountered"),
        (FaultKind.PERMISSION_DENIED, 'Error 403: Required "container.clusters.update" permission'),
    ],
)
def test_a_refused_create_leaves_nothing_and_the_next_one_works(gke: Engine, kind: FaultKind, message: str) -> None:
    gke.cloud.store.add_fault(Fault(kind, "NodePool"))
    with pytest.raises(CallError, match="Error creating NodePool: googleapi: ") as caught:
        gke.up(NODE_POOL, "slice-0", slice_pool())
    assert message in str(caught.value)
    assert caught.value.kept is None
    assert gke.cloud.store.all(NODE_POOL) == []
    assert gke.up(NODE_POOL, "slice-0", slice_pool()) == "create"


def test_a_fault_meets_its_type_name_operation_and_number_only(gke: Engine) -> None:
    gke.cloud.store.add_fault(Fault(FaultKind.UNAVAILABLE, "NodePool", "slice-[12]", count=2))
    gke.up(BUCKET, "b", BUCKET_INPUTS)
    gke.up(NODE_POOL, "slice-0", slice_pool("slice-0"))
    for name in ("slice-1", "slice-2"):
        with pytest.raises(CallError, match="503"):
            gke.up(NODE_POOL, name, slice_pool(name))
    gke.up(NODE_POOL, "slice-1", slice_pool("slice-1"))
    gke.cloud.store.add_fault(Fault(FaultKind.INTERNAL, NODE_POOL, operation="delete"))
    with pytest.raises(CallError, match="Error deleting NodePool: googleapi: Error 500"):
        gke.delete(NODE_POOL, "slice-1")
    gke.delete(NODE_POOL, "slice-1")
    gke.cloud.store.add_fault(Fault(FaultKind.RATE_LIMIT, "Bucket", operation="update"))
    with pytest.raises(CallError, match="429"):
        gke.up(BUCKET, "b", {**BUCKET_INPUTS, "forceDestroy": True})


def test_a_stockout_leaves_the_slice_in_error_without_a_node_and_in_the_state(gke: Engine) -> None:
    gke.cloud.store.add_fault(Fault(FaultKind.STOCKOUT, "NodePool", "slice-1"))
    with pytest.raises(CallError, match='NodePool slice-1 was created in the error state "ERROR"') as caught:
        gke.up(NODE_POOL, "slice-1", slice_pool("slice-1"))
    assert caught.value.kept is not None
    assert caught.value.kept.id.endswith("/nodePools/slice-1")
    assert list(caught.value.kept.reasons) == ['NodePool slice-1 was created in the error state "ERROR"']
    pool = by_hand.find(gke.cloud, NODE_POOL, "slice-1")
    assert "[GCE_STOCKOUT]" in pool.meta["message"]
    assert "Expected 4, running 0" in pool.meta["message"]
    assert gke.nodes() == {}
    # The count that reads back is the one aimed at: no plan shows the pool's state, only a replacement heals it.
    assert gke.refresh(NODE_POOL, "slice-1")
    assert gke.up(NODE_POOL, "slice-1", slice_pool("slice-1")) == "same"
    assert gke.nodes() == {}
    gke.delete(NODE_POOL, "slice-1")
    gke.up(NODE_POOL, "slice-1", slice_pool("slice-1"))
    assert len(gke.nodes()) == 4


def test_capacity_that_comes_later_brings_the_pool_up(gke: Engine) -> None:
    gke.cloud.store.add_fault(Fault(FaultKind.STOCKOUT, "NodePool"))
    with pytest.raises(CallError):
        gke.up(NODE_POOL, "slice-0", slice_pool())
    by_hand.give_back(gke.cloud, "slice-0")
    assert by_hand.find(gke.cloud, NODE_POOL, "slice-0").status == "RUNNING"
    assert len(gke.nodes()) == 4


def test_a_timeout_after_the_create_went_through_is_kept_by_gke_and_lost_by_the_others(gke: Engine) -> None:
    gke.cloud.store.add_fault(Fault(FaultKind.TIMEOUT_AFTER, "NodePool"))
    with pytest.raises(CallError, match="timeout while waiting for state to become 'DONE'") as caught:
        gke.up(NODE_POOL, "slice-0", slice_pool())
    assert caught.value.kept is not None
    assert len(gke.nodes()) == 4
    assert gke.up(NODE_POOL, "slice-0", slice_pool()) == "same"
    gke.cloud.store.add_fault(Fault(FaultKind.TIMEOUT_AFTER, "Network"))
    with pytest.raises(CallError, match="timeout while waiting") as caught:
        gke.up(NETWORK, "two", {**network(), "name": "two"})
    assert caught.value.kept is None
    with pytest.raises(CallError, match="Error 409"):
        gke.up(NETWORK, "two", {**network(), "name": "two"})


def _in_threads(*work: Callable[[], Any]) -> list[Any]:
    results: list[Any] = [None] * len(work)

    def run(index: int) -> None:
        try:
            results[index] = work[index]()
        except CallError as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_operations_take_their_time_side_by_side(gke: Engine) -> None:
    gke.cloud.store.set_setting("durations", {"NodePool": {"create": 0.5, "delete": 0.1}})
    names = [f"slice-{index}" for index in range(6)]
    results = _in_threads(*(lambda n=name: gke.up(NODE_POOL, n, slice_pool(n)) for name in names))
    assert results == ["create"] * 6
    calls = [call for call in gke.cloud.store.audit() if call.method == "Create" and call.type == NODE_POOL]
    assert all(call.seconds >= 0.5 for call in calls)
    assert max(call.started for call in calls) < min(call.ended or 0 for call in calls)
    gke.delete(NODE_POOL, "slice-0")
    assert gke.last("Delete").seconds >= 0.1


def test_of_two_creates_of_one_name_the_second_is_refused_while_the_first_is_under_way(gke: Engine) -> None:
    gke.cloud.store.set_setting("durations", {NODE_POOL: 0.2})
    other = Engine(gke.cloud)
    results = _in_threads(*(lambda e=e: e.up(NODE_POOL, "slice-0", slice_pool()) for e in (gke, other)))
    assert sorted(map(str, results))[1] == "create"
    assert any("already exists" in str(result) for result in results)
    assert len(gke.nodes()) == 4


def test_a_pool_under_way_has_no_nodes_yet(gke: Engine) -> None:
    gke.cloud.store.set_setting("durations", {"NodePool": 0.3})
    thread = threading.Thread(target=gke.up, args=(NODE_POOL, "slice-0", slice_pool()))
    thread.start()
    while not gke.cloud.store.all(NODE_POOL):
        time.sleep(0.01)
    assert gke.cloud.store.all(NODE_POOL)[0].status == "PROVISIONING"
    assert gke.nodes() == {}
    thread.join()
    assert gke.cloud.store.all(NODE_POOL)[0].status == "RUNNING"
    assert len(gke.nodes()) == 4


def member(engine: Engine) -> dict[str, Any]:
    return {
        "bucket": "scratch-1",
        "role": "roles/storage.objectAdmin",
        "member": engine.outputs(ACCOUNT, "sa")["member"],
    }


def test_a_new_account_is_seen_late_and_the_provider_waits_for_it(engine: Engine) -> None:
    engine.up(BUCKET, "b", BUCKET_INPUTS)
    engine.cloud.store.set_setting("consistency_delay", 0.2)
    engine.up(ACCOUNT, "sa", {"accountId": "train-nodes"})
    assert engine.up(BUCKET_MEMBER, "m", member(engine)) == "create"
    assert (engine.last("Create").ended or 0) >= engine.cloud.store.all(ACCOUNT)[0].visible_at


def test_a_delay_longer_than_the_providers_patience_is_an_error(engine: Engine) -> None:
    engine.up(BUCKET, "b", BUCKET_INPUTS)
    engine.cloud.store.set_setting("consistency_delay", 30)
    engine.up(ACCOUNT, "sa", {"accountId": "train-nodes"})
    with pytest.raises(
        CallError, match=r"Service account train-nodes@acme-ml-dev\.iam\.gserviceaccount\.com does not exist"
    ):
        engine.up(BUCKET_MEMBER, "m", member(engine))


def test_an_identity_pool_is_seen_late_and_nobody_waits_for_it(engine: Engine) -> None:
    engine.up(BUCKET, "b", BUCKET_INPUTS)
    engine.cloud.store.set_setting("consistency_delay", 5)
    engine.up(CLUSTER, "train", cluster())
    place = (
        f"projects/{engine.cloud.project_number(PROJECT)}/locations/global/workloadIdentityPools/{PROJECT}.svc.id.goog"
    )
    who = f"principal://iam.googleapis.com/{place}/subject/ns/default/sa/train"
    inputs = {"bucket": "scratch-1", "role": "roles/storage.objectAdmin", "member": who}
    with pytest.raises(CallError, match="Identity Pool does not exist"):
        engine.up(BUCKET_MEMBER, "ksa", inputs)
    (pool,) = engine.cloud.store.all(IDENTITY_POOL)
    pool.visible_at = time.time()
    engine.cloud.store.put(pool)
    assert engine.up(BUCKET_MEMBER, "ksa", inputs) == "create"


def test_a_service_that_was_just_switched_on_works_late(bare: Engine) -> None:
    bare.cloud.store.set_setting("consistency_delay", 30)
    bare.up(SERVICE, "compute", {"service": "compute.googleapis.com"})
    with pytest.raises(CallError, match="If you enabled this API recently, wait a few minutes"):
        bare.up(NETWORK, "net", network())


def test_the_audit_log_tells_every_call_with_its_outcome(gke: Engine) -> None:
    gke.cloud.store.add_fault(Fault(FaultKind.QUOTA, "NodePool"))
    with pytest.raises(CallError):
        gke.up(NODE_POOL, "slice-0", slice_pool())
    check, create = gke.last("Check"), gke.last("Create")
    assert (check.type, check.name, check.outcome) == (NODE_POOL, "slice-0", "ok")
    assert "Insufficient regional quota" in create.outcome
    assert create.ended is not None
    assert create.started <= create.ended
    assert create.urn == gke.urn(NODE_POOL, "slice-0")
