"""Google Cloud simulated as a Pulumi provider.

A process of its own that speaks the engine's provider protocol, keeps what it "created" in SQLite and answers as the
real provider and the real services would: what is required, unknown, in conflict, computed, replaced, refused. It
imports nothing of the project under test: it is an independent witness.

Known of the real thing, and so rebuilt: the provider's schema (``schema_facts.json``), its planning rules, the node
pool verdicts (a changed topology is an update that does nothing), the private endpoint that reads back as true, errors
of a pool that came up in ERROR, fixed orders (identity pool after the first cluster), names, protections, leftovers.

Inferred, and not proof of Google's behaviour: the wording of refusals of a pool's shape or capacity, which of them come
at once and which leave a pool in ERROR, the count that a pool in ERROR reads back (the one aimed at), how the
autoscaler chooses, when capacity comes back, how long things take, that a renamed resource policy is not found.
"""
