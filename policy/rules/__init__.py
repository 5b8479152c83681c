"""All rules, by what they look at.

Not here, since nothing of the kind is created: organisation and folder IAM, audit configuration (CKV2_GCP_5, GCP-0079),
addresses of single VMs (GCP-0031). Not here, since the platform made them pointless: pod security policies
(CKV_GCP_24), the control plane's public address as such (CKV_GCP_18: what counts is who may reach it).
"""

from __future__ import annotations

from policy.model import Rule
from policy.rules import cluster, iam, invariants, keys, network, pools, slices, storage, tenancy, workload

RULES: tuple[Rule, ...] = (
    *cluster.RULES,
    *pools.RULES,
    *slices.RULES,
    *storage.RULES,
    *keys.RULES,
    *iam.RULES,
    *network.RULES,
    *invariants.RULES,
    *workload.RULES,
    *tenancy.RULES,
)
"""Every rule, once."""
