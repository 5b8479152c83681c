"""Google Cloud simulated as a Pulumi provider.

A process of its own that speaks the engine's provider protocol, keeps what it "created" in SQLite and answers as the
real provider and the real services would: what is required, unknown, in conflict, computed, replaced, refused. It
imports nothing of the project under test: it is an independent witness.
"""
