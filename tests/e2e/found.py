"""What belongs on `docs/proof.md` beside the figures: what is simulated, what was found, what no run here can show."""

from __future__ import annotations

SIMULATED = (
    (
        "Google Cloud: a provider of the suite's own, attached to the real engine; it checks inputs and plans "
        "changes by the real provider's schema, keeps state, refuses what Google refuses, and logs every call."
    ),
    (
        "TPU and CPU hosts: Node objects with GKE's labels, taints and capacity; kwok plays their kubelets, so "
        "pods become Running without a container ever starting."
    ),
    (
        "The operators' pods: their real programs run beside the API server, with the service account and "
        "configuration that their charts give them; a proxy stands in for the cluster's network."
    ),
    "`gke-gcloud-auth-plugin`: a script that answers with the credentials of the control plane.",
    "The key that the stacks' secrets are under: a service that answers as Vault's transit engine does.",
)

FOUND = (
    (
        "A stack file that names a network, subnet, cluster or bucket that is not there ended in a Python traceback",
        "one sentence with file, key and what to write (`components/lookup.py`); `tests/components/test_lookup.py`",
    ),
    (
        ("An `up` on an existing cluster failed: the look-up's blocks were read as objects after they had become maps"),
        "each part is read by itself; `tests/components/`, and `shared-dev` in the life of every stack",
    ),
    (
        ("A refused `destroy` of a protected stack forgot the pools that go with the cluster before it was refused"),
        ("a protected component stands in front of the stack, the bucket behind the cluster; `test_69_destroy.py`"),
    ),
    (
        "A pool that is replaced deletes the JobSet first, which failed with an unknown Kubernetes provider",
        "pools wait for the provider; `test_31_change_safety.py`, `tests/program/test_order.py`",
    ),
    (
        (
            "A JobSet whose webhook did not answer for half a minute failed the `up`, with the old JobSet "
            "already deleted"
        ),
        "the JobSet is tried again while the webhook does not answer; `tests/components/test_patience.py`",
    ),
    (
        (
            "What a killed `up` was creating was in the cloud and in no state, and Pulumi has no command that "
            "takes it in"
        ),
        "`python -m offline adopt state.json`; `tests/offline/test_adopt.py`, `test_40_engine_killed.py`",
    ),
    (
        "`offline adopt` refused the state of an `up` that was killed while a component was being registered",
        "a component is registered again by the next `up`; `tests/offline/test_adopt.py`, `test_40_engine_killed.py`",
    ),
)
"""Faults of the product that this suite found, each with what was done and the tests that hold it."""

CANNOT_SHOW = (
    (
        "That Google's API takes these requests: the simulated cloud knows the provider's schema and documented"
        " behaviour, not the service. Its wording of refusals, its durations and its autoscaler are inferred."
    ),
    (
        "That Pathways, JAX or XLA run: no container is started, no TPU is there. Flags and variables are "
        "checked against the reference, not by the servers."
    ),
    "That images can be pulled, that quota or capacity is there, and how long Google takes.",
    (
        "Packets: NetworkPolicy is evaluated over the live objects by the suite's evaluator, not enforced by "
        "Dataplane V2."
    ),
    "GKE's own admission, its metadata server and Workload Identity, and Google Groups for RBAC.",
)
