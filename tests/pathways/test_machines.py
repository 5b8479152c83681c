from __future__ import annotations

import pytest

from pathways.head import PROXY, RESOURCE_MANAGER, head_needs
from pathways.machines import GIB, cpu_machine, machines_that_hold, system_machine
from tests.pathways.support import INTERACTIVE, plan


@pytest.mark.parametrize(
    ("name", "vcpu", "gib", "disk"),
    [
        ("n2-standard-64", 64, 256, "pd-balanced"),
        ("n2-highmem-128", 128, 864, "pd-balanced"),
        ("n2d-highcpu-224", 224, 224, "pd-balanced"),
        ("n4-standard-64", 64, 256, "hyperdisk-balanced"),
        ("n4-highcpu-80", 80, 160, "hyperdisk-balanced"),
        ("c3-standard-88", 88, 352, "pd-balanced"),
        ("e2-standard-4", 4, 16, "pd-balanced"),
    ],
)
def test_known(name: str, vcpu: int, gib: int, disk: str) -> None:
    machine = cpu_machine(name)
    assert machine is not None
    assert (machine.name, machine.vcpu, machine.memory_gib, machine.disk_type) == (name, vcpu, gib, disk)
    assert 0 < machine.allocatable_milli_cpu < vcpu * 1000
    assert 0 < machine.allocatable_bytes < gib * GIB


@pytest.mark.parametrize(
    "name", ["", "n2", "n2-standard-65", "n2-standard-064", "N2-standard-64", "n2-standard-64 ", "z3-standard-8"]
)
def test_unknown(name: str) -> None:
    assert cpu_machine(name) is None
    for absent in ("e2-highmem-32", "n2-highcpu-128", "n2d-highmem-224"):
        assert cpu_machine(absent) is None


def test_allocatable_follows_gkes_reservation() -> None:
    machine = cpu_machine("n2-standard-64")
    assert machine is not None
    # 60 + 10 + 5 + 5 + 60 × 2.5 thousandths, and one core
    assert machine.allocatable_milli_cpu == 64_000 - 230 - 1000
    # 1 + 0.8 + 0.8 + 6.72 + 2.56 GiB by tier, 0.1 for eviction, 2 for DaemonSets
    assert machine.allocatable_bytes == pytest.approx((256 - 1 - 0.8 - 0.8 - 6.72 - 2.56 - 0.1 - 2) * GIB, abs=1)


def test_machines_offered_hold_what_is_asked() -> None:
    for family in ("e2", "n2", "n2d", "n4", "c3", "unknown"):
        for milli_cpu, memory in ((1000, GIB), (48_000, 232 * 10**9), (100_000, 300 * GIB)):
            offered = machines_that_hold(milli_cpu, memory, family)
            assert offered
            assert all(each.allocatable_milli_cpu >= milli_cpu for each in offered)
            assert all(each.allocatable_bytes >= memory for each in offered)
            assert [each.vcpu for each in offered] == sorted(each.vcpu for each in offered)
    assert machines_that_hold(48_000, 232 * 10**9)[0].name == "n2-standard-64"
    assert machines_that_hold(48_000, 232 * 10**9, "e2")[0].name == "n2-standard-64"
    assert machines_that_hold(10**9, GIB) == []
    assert system_machine().vcpu == 4


def test_the_head_adds_up() -> None:
    assert (RESOURCE_MANAGER.cpu, RESOURCE_MANAGER.memory) == (8, "32G")
    assert (PROXY.cpu, PROXY.memory) == (16, "100G")
    batch = head_needs(plan().settings.workload)
    assert (batch.milli_cpu, batch.memory_bytes) == (48_000, 232 * 10**9)
    assert (batch.cpu_text, batch.memory_text) == ("48", "232 GB")
    assert head_needs(plan(INTERACTIVE).settings.workload).milli_cpu == 24_000
    small = head_needs(plan({"workload": {"resources": {"cpu": "500m", "memory": "1Gi"}}}).settings.workload)
    assert (small.cpu_text, small.memory_bytes) == ("24.5", 132 * 10**9 + GIB)
