"""Rules of encryption keys and of identities from outside Google Cloud."""

from __future__ import annotations

import re

from offline.recording import Resource
from policy.expect import at, must_have, shown
from policy.model import Each, Rule

KEY = "gcp:kms/cryptoKey:CryptoKey"
FEDERATION = "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider"
_DAYS_90 = 90 * 24 * 3600


def _rotation(key: Resource) -> str | None:
    period, purpose = at(key.inputs, "rotationPeriod"), at(key.inputs, "purpose")
    if purpose not in (None, "ENCRYPT_DECRYPT"):
        return None  # KMS rotates no key of another purpose
    if period is None:
        return "rotationPeriod is not set"
    match = re.fullmatch(r"(\d+)(?:\.\d+)?s", period) if isinstance(period, str) else None
    return f"rotationPeriod is {period}" if match and int(match[1]) > _DAYS_90 else None


def _protected(key: Resource) -> str | None:
    return None if key.options.protect is True else f"protect is {shown(key.options.protect)}"


RULES: tuple[Rule, ...] = (
    Rule(
        id="key-rotates",
        level="mandatory",
        source=("CKV_GCP_43",),
        sentence="A key is renewed within 90 days.",
        fix='rotationPeriod: "7776000s"',
        check=Each((KEY,), _rotation),
    ),
    Rule(
        id="key-protected",
        level="mandatory",
        source=("CKV_GCP_82",),
        sentence="A key is protected: what it encrypted is lost with it.",
        fix="opts: protect=True",
        check=Each((KEY,), _protected),
    ),
    Rule(
        id="federation-condition",
        level="mandatory",
        source=("GCP-0068",),
        sentence="A federation provider names who may come in; without a condition it is everybody at the issuer.",
        fix="attributeCondition: assertion.repository == 'owner/name'",
        check=Each((FEDERATION,), must_have("attributeCondition")),
    ),
)
