"""The rules as a CrossGuard policy pack. Only `serve` needs `pulumi_policy`, which has an environment of its own.

The engine shows a pack less than the recorder sees: not `deletedWith`, `retainOnDelete`, `replaceOnChanges`, nor which
values are secret. Rules that need these are `recorded_only` and stay with `make policy`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from offline.recording import UNKNOWN, Options, Resource, Timeouts
from policy.model import Each, Rule, Waiver
from policy.rules import RULES
from policy.waivers import load, this_day, waiver_for

Report = Callable[..., None]
"""`pulumi_policy.ReportViolation`: a message, and optionally the URN of the resource it is about."""


class _Named(Protocol):
    urn: str


class Args(Protocol):
    """The part of `pulumi_policy`'s ResourceValidationArgs and PolicyResource that rules look at."""

    resource_type: str
    urn: str
    name: str
    props: Mapping[str, Any]
    opts: Any
    provider: _Named | None


class StackArgs(Protocol):
    """The part of `pulumi_policy`'s StackValidationArgs that rules look at."""

    resources: Sequence[Args]


def serve() -> None:
    """Start the pack; does not return before the engine is done with it."""
    from pulumi_policy import (  # noqa: PLC0415 - not installed where the rules are used without an engine
        EnforcementLevel,
        Policy,
        PolicyPack,
        ResourceValidationPolicy,
        StackValidationPolicy,
    )

    levels = {"advisory": EnforcementLevel.ADVISORY, "mandatory": EnforcementLevel.MANDATORY}
    waivers = load()
    policies: list[Policy] = []
    for rule in RULES:
        if rule.recorded_only:
            continue
        words = {"name": rule.id, "description": description(rule), "enforcement_level": levels[rule.level]}
        if isinstance(rule.check, Each):
            policies.append(ResourceValidationPolicy(**words, validate=resource_validator(rule, rule.check, waivers)))
        else:
            policies.append(StackValidationPolicy(**words, validate=stack_validator(rule, waivers)))
    PolicyPack("pathways", policies)


def description(rule: Rule) -> str:
    """What the engine prints above a violation."""
    return f"{rule.sentence} ({', '.join(rule.source)})"


def resource_validator(rule: Rule, check: Each, waivers: Sequence[Waiver]) -> Callable[[Args, Report], None]:
    """A validator of one resource at a time."""

    def validate(args: Args, report: Report) -> None:
        if not check.looks_at(args.resource_type):
            return
        detail = check.problem(resource(args))
        if detail is not None and not _waived(waivers, rule, args):
            report(message(args, detail, rule))

    return validate


def stack_validator(rule: Rule, waivers: Sequence[Waiver]) -> Callable[[StackArgs, Report], None]:
    """A validator that sees all resources."""
    assert not isinstance(rule.check, Each)  # noqa: S101
    problems = rule.check.problems

    def validate(args: StackArgs, report: Report) -> None:
        by_urn = {each.urn: each for each in args.resources}
        for found, detail in problems([resource(each) for each in args.resources]):
            if not _waived(waivers, rule, by_urn[found.urn]):
                report(message(by_urn[found.urn], detail, rule), found.urn)

    return validate


def resource(args: Args) -> Resource:
    """What the engine shows of a resource, in the recorder's form."""
    return Resource(
        urn=args.urn,
        type=args.resource_type,
        name=args.name,
        parent=None,
        custom=args.provider is not None,
        inputs=plain(args.props),
        options=_options(args),
    )


def plain(value: Any) -> Any:
    """A value out of the pack's proxies, which raise where one is known after the `up` only."""
    if isinstance(value, Mapping):
        return {key: _known(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_known(value, index) for index in range(len(value))]
    if isinstance(value, float) and value.is_integer():
        return int(value)  # every number arrives as a float
    return value


def message(args: Args, detail: str, rule: Rule) -> str:
    """A violation as the engine prints it."""
    return f"{args.name}: {detail}; write {rule.fix}"


def _known(container: Any, key: Any) -> Any:
    try:
        return plain(container[key])
    except Exception as error:
        if type(error).__name__ != "UnknownValueError":
            raise
        return dict(UNKNOWN)


def _options(args: Args) -> Options:
    given = args.opts
    timeouts = given.custom_timeouts
    seconds = {
        name: getattr(timeouts, f"{name}_seconds", 0) if timeouts else 0 for name in ("create", "update", "delete")
    }
    return Options(
        provider=args.provider.urn if args.provider is not None else None,
        protect=given.protect,
        delete_before_replace=given.delete_before_replace,
        ignore_changes=tuple(given.ignore_changes),
        additional_secret_outputs=tuple(given.additional_secret_outputs),
        custom_timeouts=Timeouts(**{name: f"{value:g}s" if value else None for name, value in seconds.items()}),
    )


def _waived(waivers: Sequence[Waiver], rule: Rule, args: Args) -> bool:
    stack = args.urn.split("::")[0].rpartition(":")[2]
    return waiver_for(waivers, rule.id, stack, args.name, this_day()) is not None
