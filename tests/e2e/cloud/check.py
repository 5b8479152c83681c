"""Check: what the provider refuses before it calls anything, and the defaults it fills in.

The wording follows the provider's: the path stands in the reason ("Examine values at 'NAME.path'"), not in a field.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.e2e.cloud.facts import Property, ResourceFacts, Shape
from tests.e2e.cloud.wire import UNKNOWN, Props, Unknown

DEFAULTS = "__defaults"


class WrongTypeError(Exception):
    """A value that cannot be read as its property's type: the provider fails the whole call on it."""


@dataclass
class _Checker:
    facts: ResourceFacts
    name: str
    root: Props
    failures: list[str] = field(default_factory=list)

    def fail(self, path: str, reason: str) -> None:
        self.failures.append(f"{reason}. Examine values at '{self.name}.{path}'.")


def check(facts: ResourceFacts, logical_name: str, news: Props, autoname: str | None) -> tuple[Props, list[str]]:
    """The inputs with defaults, and every reason to refuse them.

    ``autoname`` is the name to use when none is given. Raises WrongTypeError.
    """
    checker = _Checker(facts, logical_name, news)
    plain = {key: value for key, value in news.items() if not key.startswith("__")}
    inputs = _object(checker, facts.properties, plain, "", facts.required)
    defaults = [key for key in inputs if key not in plain]
    if facts.autonamed and autoname is not None and not {facts.autonamed, "namePrefix"} & inputs.keys():
        inputs[facts.autonamed] = autoname
        defaults.append(facts.autonamed)
    for path, rule in _VALIDATORS.get(facts.token, {}).items():
        for where, value in _values_at(inputs, path.split(".")):
            reason = None if isinstance(value, Unknown) else rule(value)
            if reason:
                checker.fail(where, reason)
    inputs[DEFAULTS] = sorted(defaults)
    return inputs, checker.failures


def _object(
    checker: _Checker,
    properties: Mapping[str, Property],
    news: Props,
    path: str,
    required: frozenset[str] | None = None,
) -> Props:
    result: Props = {}
    for key, value in news.items():
        prop = properties.get(key)
        where = f"{path}{key}"
        if prop is None:
            checker.fail(where, f"Invalid or unknown key. `{key}` is not a property of this {checker.facts.short}")
        elif prop.output_only:
            checker.fail(where, f'Invalid or unknown key. Can\'t configure a value for "{key}": its value is decided')
        elif value is not None:
            result[key] = _value(checker, prop, value, where)
    for key, prop in properties.items():
        missing = prop.required if required is None else key in required
        if missing and key not in result:
            checker.fail(f"{path}{key}", f'Missing required argument. The argument "{key}" is required')
        _relations(checker, prop, key, f"{path}{key}")
        if prop.default is not None and key not in result and not prop.deprecated and not _excluded(prop, checker.root):
            result[key] = prop.default
    return result


def _value(checker: _Checker, prop: Property, value: Any, path: str) -> Any:
    if isinstance(value, Unknown):
        return UNKNOWN
    match prop.shape:
        case Shape.SCALAR:
            return _scalar(checker, prop, value, path)
        case Shape.MAP:
            _require(value, dict, "a map", path)
            return {key: _scalar(checker, prop, item, f"{path}.{key}") for key, item in value.items()}
        case Shape.BLOCK:
            _require(value, dict, "an object", path)
            return _object(checker, prop.properties, value, f"{path}.")
    _require(value, list, "a list", path)
    if len(value) < prop.min_items:
        checker.fail(path, f"Not enough list items. Requires {prop.min_items} item minimum, but has {len(value)}")
    if prop.max_items is not None and len(value) > prop.max_items:
        checker.fail(path, f"Too many list items. Supports {prop.max_items} item maximum, but has {len(value)}")
    return [_item(checker, prop, item, f"{path}[{index}]") for index, item in enumerate(value)]


def _item(checker: _Checker, prop: Property, item: Any, path: str) -> Any:
    if prop.shape in (Shape.LIST, Shape.SET) or isinstance(item, Unknown):
        return _scalar(checker, prop, item, path)
    _require(item, dict, "an object", path)
    return _object(checker, prop.properties, item, f"{path}.")


def _require(value: Any, kind: type, words: str, path: str) -> None:
    if not isinstance(value, kind):
        raise WrongTypeError(f"{path}: expected {words}, got {value!r}")


def _scalar(checker: _Checker, prop: Property, value: Any, path: str) -> Any:
    if isinstance(value, Unknown):
        return UNKNOWN
    if isinstance(value, dict | list):
        raise WrongTypeError(f"{path}: expected {prop.type}, got {value!r}")
    converted = _convert(prop.type, value, path)
    if prop.enum and converted not in prop.enum:
        allowed = " ".join(f'"{item}"' for item in prop.enum)
        checker.fail(path, f"expected {path} to be one of [{allowed}], got {converted}")
    return converted


def _convert(type_: str, value: Any, path: str) -> Any:
    try:
        match type_:
            case "bool":
                return value if isinstance(value, bool) else {"true": True, "false": False}[value]
            case "int":
                if isinstance(value, bool) or float(value) != int(float(value)):
                    raise ValueError
                return int(value)
            case "float":
                return float(value)
            case _:
                return str(value).lower() if isinstance(value, bool) else str(value)
    except (KeyError, ValueError, TypeError) as error:
        raise WrongTypeError(f"{path}: expected {type_}, got {value!r}") from error


def _lookup(root: Props, path: str) -> Any:
    value: Any = root
    for part in path.split("."):
        if isinstance(value, Unknown):
            return UNKNOWN
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value


def _excluded(prop: Property, root: Props) -> bool:
    others = (*prop.conflicts_with, *prop.exactly_one_of)
    return any(_lookup(root, other) is not None for other in others)


def _relations(checker: _Checker, prop: Property, key: str, path: str) -> None:
    """conflictsWith, exactlyOneOf, atLeastOneOf, requiredWith: paths in them count from the resource's root."""
    if "[" in path:
        return
    value = _lookup(checker.root, path)
    if value is not None and not isinstance(value, Unknown):
        for other in prop.conflicts_with:
            if other != path and not isinstance(_lookup(checker.root, other), Unknown | None):
                checker.fail(path, f'Conflicting configuration arguments. "{path}": conflicts with {other}')
        for other in prop.required_with:
            if _lookup(checker.root, other) is None:
                checker.fail(path, f'Missing required argument. "{path}": all of `{other},{path}` must be specified')
    for group, least in ((prop.exactly_one_of, False), (prop.at_least_one_of, True)):
        found = [_lookup(checker.root, other) for other in group]
        known = [item for item in found if item is not None and not isinstance(item, Unknown)]
        listed = ",".join(group)
        if group and all(item is None for item in found) and group[0].rpartition(".")[2] == key:
            words = "one of" if least else "only one of"
            checker.fail(path, f'Invalid combination of arguments. "{path}": {words} `{listed}` must be specified')
        if not least and len(known) > 1 and value is not None:
            checker.fail(path, f'Invalid combination of arguments. "{path}": only one of `{listed}` can be specified')


def _values_at(value: Any, parts: Sequence[str], path: str = "") -> Iterator[tuple[str, Any]]:
    """All values at a dotted path, ``*`` standing for the items of a list or map."""
    if not parts:
        yield path, value
    elif parts[0] == "*":
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, item in items:
            yield from _values_at(item, parts[1:], f"{path}[{key}]")
    elif isinstance(value, dict) and parts[0] in value:
        yield from _values_at(value[parts[0]], parts[1:], f"{path}.{parts[0]}" if path else parts[0])


# Rules that the schema only marks as "validated". None means accepted.
Rule = Callable[[Any], str | None]


def _matches(pattern: str, least: int, most: int) -> Rule:
    compiled = re.compile(pattern)

    def rule(value: Any) -> str | None:
        if not least <= len(value) <= most:
            return f"name ({value}) must be {least} to {most} characters long"
        return None if compiled.fullmatch(value) else f"name ({value}) must match regex {pattern!r}"

    return rule


def _at_least(minimum: int) -> Rule:
    return lambda value: None if value >= minimum else f"expected the value to be at least ({minimum}), got {value}"


def _between(low: int, high: int) -> Rule:
    return lambda v: None if low <= v <= high else f"expected the value to be in the range ({low} - {high}), got {v}"


def _cidr(value: Any) -> str | None:
    try:
        ipaddress.ip_network(value, strict=True)
    except ValueError as error:
        return f"expected a valid network address, got {value}: {error}"
    return None


def _member(value: Any) -> str | None:
    kinds = "user|serviceAccount|group|domain|projectOwner|projectEditor|projectViewer|principal|principalSet|deleted"
    if value in ("allUsers", "allAuthenticatedUsers") or re.match(rf"({kinds}):\S+$", value):
        return None
    return f"invalid value for member ({value}): IAM members must have one of the values outlined in the reference"


def _label(value: Any) -> str | None:
    valid = re.fullmatch(r"[\w-]{0,63}", value) and value == value.lower()
    return None if valid else f"label value ({value}) must be lower case letters, digits, - and _, at most 63"


_NAME = _matches(r"[a-z]([-a-z0-9]*[a-z0-9])?", 2, 63)
_ACCOUNT = re.compile(r"(projects/.+/serviceAccounts/.+|.+@.+)")
_VALIDATORS: dict[str, dict[str, Rule]] = {
    **{
        f"gcp:compute/{t[0].lower()}{t[1:]}:{t}": {"name": _NAME} for t in ("Network", "Router", "RouterNat", "Address")
    },
    "gcp:compute/firewall:Firewall": {"name": _NAME, "priority": _between(0, 65535)},
    "gcp:compute/subnetwork:Subnetwork": {
        "name": _NAME,
        "ipCidrRange": _cidr,
        "secondaryIpRanges.*.ipCidrRange": _cidr,
        "secondaryIpRanges.*.rangeName": _NAME,
    },
    "gcp:container/cluster:Cluster": {
        "name": _matches(r"[a-z]([-a-z0-9]*[a-z0-9])?", 1, 40),
        "privateClusterConfig.masterIpv4CidrBlock": _cidr,
    },
    "gcp:container/nodePool:NodePool": {
        "nodeCount": _at_least(0),
        "nodeConfig.diskSizeGb": _at_least(10),
        "autoscaling.minNodeCount": _at_least(0),
        "autoscaling.maxNodeCount": _at_least(0),
        "autoscaling.totalMinNodeCount": _at_least(0),
        "autoscaling.totalMaxNodeCount": _at_least(0),
        "upgradeSettings.maxSurge": _at_least(0),
        "upgradeSettings.maxUnavailable": _at_least(0),
    },
    "gcp:serviceaccount/account:Account": {"accountId": _matches(r"[a-z]([-a-z0-9]*[a-z0-9])", 6, 30)},
    "gcp:serviceaccount/iAMMember:IAMMember": {
        "member": _member,
        "serviceAccountId": lambda v: (
            None if _ACCOUNT.fullmatch(v) else f'"serviceAccountId" ("{v}") is no account name'
        ),
    },
    "gcp:storage/bucketIAMMember:BucketIAMMember": {"member": _member},
    "gcp:projects/iAMMember:IAMMember": {"member": _member},
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": {"member": _member},
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": {"member": _member},
    "gcp:projects/service:Service": {
        "service": lambda v: None if v.endswith(".googleapis.com") else f"expected a service's host name, got {v}"
    },
    "gcp:storage/bucket:Bucket": {"labels.*": _label},
}
