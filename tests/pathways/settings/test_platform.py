from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pathways.settings.platform import Maintenance
from tests.pathways.support import ABSENT, EXISTING_NETWORK, Refused, check_refused, faults, merged, no


def cluster(**values: Any) -> dict[str, Any]:
    return {"cluster": values}


def scratch(**values: Any) -> dict[str, Any]:
    return {"scratch": values}


def network(**values: Any) -> dict[str, Any]:
    return {"network": values}


def existing_network(**values: Any) -> dict[str, Any]:
    return merged(EXISTING_NETWORK, {"network": {"existing": values}})


def job_set(**values: Any) -> dict[str, Any]:
    return {"operators": {"jobset": values}}


KEY = "projects/acme-kms/locations/us-east5/keyRings/gke/cryptoKeys/secrets"
AUTHORIZED = {"endpoint": "authorized"}


@pytest.mark.parametrize(
    "case",
    [
        no("scratch.retentionDays", scratch(retentionDays=0), "0 is out of range", "from 1 to 3650", "example 14"),
        no("scratch.retentionDays", scratch(retentionDays=3651), "is out of range"),
        no("scratch.retentionDays", scratch(existing="b12", retentionDays=7), "unknown key", "existing, prefix"),
        no("scratch.prefix", scratch(prefix="/shared"), "without slashes at the ends", "pathways-scratch/shared"),
        no("scratch.prefix", scratch(prefix="a//b"), "path parts"),
        no("scratch.prefix", scratch(prefix="a/../b"), "path parts"),
        no("scratch.prefix", scratch(prefix="."), "path parts"),
        no("scratch.existing", scratch(existing="a..b"), "a bucket's name"),
        no("scratch.prefix", scratch(prefix="a b"), "path parts"),
        no("scratch.prefix", scratch(prefix="$(X)"), "path parts"),
        no("scratch.prefix", scratch(prefix="a" * 201), "at most 200"),
        no("scratch.prefix", scratch(existing="b12", prefix=""), "path parts"),
        no("scratch.existing", scratch(existing="gs://bucket"), "no gs://", "write for example"),
        *(
            no("scratch.existing", scratch(existing=name), "not an address and without google")
            for name in ("goog-x", "my-google-bucket", "192.168.1.1", "ab", "a" * 64, "aaa-")
        ),
        no("cluster.existing.name", cluster(existing={"name": "c" * 41, "location": "us-east5"}), "up to 40"),
        no("cluster.existing.name", cluster(existing={"name": "1c", "location": "us-east5"}), "a letter first"),
        no("scratch.existing", scratch(existing="Bucket"), "write bucket"),
        no("scratch.existing", scratch(existing=None), "nothing (null)", "text"),
        no("cluster.existing", cluster(existing="research"), "text (research)", "a map"),
        no("cluster.existing.location", cluster(existing={"name": "c"}), "is missing", "write location: us-east5"),
        no("cluster.existing.location", cluster(existing={"name": "c", "location": "east"}), "a region or a zone"),
        no("cluster.existing.name", cluster(existing={"name": "C", "location": "us-east5"}), "write c"),
        no(
            "cluster.minVersion",
            {"cluster": {"existing": {"name": "c", "location": "us-east5"}, "minVersion": "1.35"}},
            *("unknown key (minVersion)", "keys here are existing"),
        ),
        no("cluster.releaseChannel", cluster(releaseChannel="regular"), "RAPID, REGULAR, STABLE", "write REGULAR"),
        no("cluster.minVersion", cluster(minVersion=1.30), "a number (1.3)", '"1.34.1-gke.2541000"'),
        no("cluster.minVersion", cluster(minVersion="latest"), "a GKE version is text such as"),
        no("cluster.minVersion", cluster(minVersion="1.34.1-gke"), "a GKE version"),
        no("cluster.minVersion", cluster(minVersion="1.32.2-gke.1474999"), "too old", "1.32.2-gke.1475000 or later"),
        no("cluster.minVersion", cluster(minVersion="1.31"), "too old", "Pathways needs", "or remove minVersion"),
        no("cluster.deletionProtection", cluster(deletionProtection="no"), "text (no)", "true or false"),
        no("cluster.deletionProtection", cluster(deletionProtection=None), "has no value (null)"),
        no("cluster.endpoint", cluster(endpoint="public"), "dns, private, authorized"),
        no(
            "cluster.authorizedNetworks",
            cluster(**AUTHORIZED, authorizedNetworks=["0.0.0.0/0"]),
            *("open to nearly everyone", "/8 or smaller", "write your own"),
        ),
        no(
            "cluster.authorizedNetworks[0]", cluster(**AUTHORIZED, authorizedNetworks=["10.0.0.1"]), "write 10.0.0.1/32"
        ),
        no("cluster.authorizedNetworks[0]", cluster(**AUTHORIZED, authorizedNetworks=["::/64"]), "A.B.C.D/N"),
        no("cluster.authorizedNetworks", cluster(**AUTHORIZED, authorizedNetworks=["8.0.0.0/8"] * 101), "101 items"),
        no("cluster.maintenance.days", cluster(maintenance={"days": []}), "has 0 items", "at least 1"),
        no("cluster.maintenance.days[0]", cluster(maintenance={"days": ["Sa"]}), "write SA"),
        no("cluster.maintenance.start", cluster(maintenance={"start": 240}), "a number (240)", '"04:00"'),
        no("cluster.maintenance.start", cluster(maintenance={"start": "4:00"}), "HH:MM", "write for example 04:00"),
        no("cluster.maintenance.start", cluster(maintenance={"start": "24:00"}), "HH:MM"),
        no("cluster.maintenance.hours", cluster(maintenance={"hours": 3}), "from 4 to 24"),
        no("cluster.securityGroup", cluster(securityGroup="admins@acme.com"), "gke-security-groups of your domain"),
        no("cluster.securityGroup", cluster(securityGroup="gke-security-groups@acme"), "gke-security-groups@acme.com"),
        no("cluster.kmsKey", cluster(kmsKey="secrets"), "its full path", "write for example projects/"),
        no("cluster.kmsKey", cluster(kmsKey=f"{KEY}/cryptoKeyVersions/1"), "its full path"),
        no("network.nodes", network(nodes="10.0.0.1/20"), "host bits are zero", "write 10.0.0.0/20"),
        no("network.nodes", network(nodes="10.0.0.0/255.255.240.0"), "behind /", "write 10.0.0.0/20"),
        no("network.nodes", network(nodes="10.0.0.0/33"), "10.0.0.0/33 is not a range", "A.B.C.D/N"),
        no("network.nodes", network(nodes=""), "is not a range"),
        no("network.nodes", network(nodes=None), "has no value (null)", "or remove nodes"),
        no("network.pods", network(pods="8.0.0.0/14"), "not a private range", "10.0.0.0/8", "write for example"),
        no("network.services", network(services="255.255.255.0/24"), "holds 255.255.255.255", "write for example"),
        no("network.mtu", network(mtu=9000), "from 1460 to 8896"),
        no("network.subnet", network(subnet="x"), "unknown key (subnet)", "nodes, pods, services, mtu"),
        no("network.existing.podRange", existing_network(podRange=ABSENT), "is missing", "write podRange: pods"),
        no(
            "network.existing.network", existing_network(network="https://a/global/networks/n"), "a network is its name"
        ),
        no("network.existing.subnetwork", existing_network(subnetwork="Nodes"), "write nodes"),
        no("operators.kueue", {"operators": {"kueue": {"install": True}}}, "not supported yet", "remove kueue"),
        no("operators.jobset.version", job_set(version="0.7.0"), "0.7.0 is not a choice", "0.11.1"),
        no("operators.jobset.chart", job_set(chart="charts/jobset"), "starting with ./", "write for example oci://"),
        no("operators.jobset.chart", job_set(chart="oci://a b"), "a chart is"),
        no("operators.jobset.image", job_set(image="mirror/jobset:v0.11.1"), "without tag"),
        no("operators.jobset.install", job_set(install="false"), "write false, without quotes"),
        no("operators.jobset.instal", job_set(instal=False), "did you mean install?"),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        scratch(retentionDays=3650, prefix="a.b_c-D/1/..."),
        scratch(existing="my.bucket_1", prefix="p"),
        scratch(existing="a" * 63),
        scratch(existing="192.168.1.1a"),
        cluster(existing={"name": "c" * 40, "location": "us-east5"}),
        cluster(releaseChannel="EXTENDED", minVersion="1.32.2-gke.1475000", deletionProtection=False),
        cluster(minVersion="1.35"),
        cluster(**AUTHORIZED, authorizedNetworks=["203.0.113.7/32", "8.0.0.0/8"]),
        cluster(maintenance={"days": ["MO"], "start": "23:59", "hours": 24, "holdNodes": False}),
        cluster(securityGroup="gke-security-groups@a.b-c.com", kmsKey=KEY),
        network(nodes="192.168.0.0/18", pods="172.16.0.0/14", services="100.64.0.0/20", mtu=1460),
        existing_network(podRange="p", serviceRange="s"),
        *(job_set(chart=each) for each in ("./charts/jobset", "../jobset", "/srv/jobset", "oci://mirror/jobset")),
        job_set(version="0.10.1", image="mirror.acme.com:5000/jobset/jobset"),
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []


def test_a_window_may_end_on_the_next_day() -> None:
    window = Maintenance(start="20:00", hours=12)
    assert window.anchored("2026-01-03") == ("2026-01-03T20:00:00Z", "2026-01-04T08:00:00Z")
