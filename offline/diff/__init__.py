"""What a change does: two recordings compared as the engine and the providers would compare them.

Which recordings. The base stands for what is deployed, so it is recorded as in an `up`, where values that only the
cloud knows are answered from fixed tables. The head is recorded as in an `up` too: the same question gets the same
answer on both sides, hence a made-up value is never a difference by itself. What a real preview would not know is then
added on purpose: the head is recorded once more as a preview, and where that has an unknown whose source (by the
property dependencies of the SDK) is created or replaced, the value counts as unknown. Where a program cannot be
recorded as an `up`, or the base is a saved preview, an unknown without such a source counts as unchanged.

The way in is `offline.diff.engine.compare`; `offline.diff.command` is the command.

Nothing is read from a cloud: drift is not seen, nor what a cloud would refuse for reasons of its own (quota, capacity).
"""
