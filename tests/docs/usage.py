"""How the pages use other people's command lines: the subcommands and options of each, no more than we need.

Those of `pulumi` are held against the real program's help by the real-engine suite (`tests/e2e/test_05_usage.py`);
those of `gcloud` and `kubectl` are from their reference pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """One subcommand.

    Attributes:
        options: its options, `--name` for a switch and `--name=` for one with a value, `-n/--name=` with a short form.
        least: how many arguments it needs.
        most: how many it takes.
    """

    options: str
    least: int = 0
    most: int = 0

    def known(self) -> Mapping[str, bool]:
        """Each spelling of each option, and whether a value follows."""
        return {name.rstrip("="): option.endswith("=") for option in self.options.split() for name in option.split("/")}


_STACK = "-s/--stack="
_RUN = f"{_STACK} -y/--yes --diff --json -r/--refresh -t/--target= --target-dependents --exclude="
PULUMI: Mapping[str, Usage] = {
    "login": Usage("--local", most=1),
    "preview": Usage(f"{_STACK} --diff --json -r/--refresh --replace= --expect-no-changes --policy-pack="),
    "up": Usage(
        f"{_RUN} --replace= --target-replace= --policy-pack= -f/--skip-preview --parallel= --continue-on-error"
    ),
    "refresh": Usage(f"{_STACK} -y/--yes --preview-only --clear-pending-creates -t/--target= --run-program"),
    "destroy": Usage(f"{_RUN} --exclude-protected --continue-on-error --run-program"),
    "cancel": Usage(f"{_STACK} -y/--yes", most=1),
    "import": Usage(f"{_STACK} -y/--yes --file= --parent= --provider=", most=3),
    "stack": Usage(f"{_STACK} -u/--show-urns -i/--show-ids"),
    "stack init": Usage(f"{_STACK} --secrets-provider=", most=1),
    "stack rm": Usage(f"{_STACK} -y/--yes --preserve-config", most=1),
    "stack output": Usage(f"{_STACK} -j/--json --show-secrets", most=1),
    "stack export": Usage(f"{_STACK} --file= --show-secrets"),
    "stack import": Usage(f"{_STACK} --file="),
    "state unprotect": Usage(f"{_STACK} -y/--yes --all", most=9),
    "state protect": Usage(f"{_STACK} -y/--yes --all", most=9),
    "state delete": Usage(f"{_STACK} -y/--yes --force --target-dependents", least=1, most=1),
}
"""Of release 3.276."""

_PLACE = "--location= --zone= --region= --project= --format= --filter= --limit="
_KUBE = "-n/--namespace= -l/--selector="
_OTHERS: Mapping[str, Usage] = {
    "gcloud auth application-default login": Usage("--project="),
    "gcloud components install": Usage("--quiet", least=1, most=9),
    "gcloud services enable": Usage("--project=", least=1, most=20),
    "gcloud container clusters get-credentials": Usage(f"{_PLACE} --dns-endpoint --internal-ip", least=1, most=1),
    "gcloud container clusters describe": Usage(_PLACE, least=1, most=1),
    "gcloud container clusters list": Usage(_PLACE),
    "gcloud container clusters upgrade": Usage(
        f"{_PLACE} --node-pool= --cluster-version= --master --async", least=1, most=1
    ),
    "gcloud container get-server-config": Usage(_PLACE),
    "gcloud container node-pools list": Usage(f"{_PLACE} --cluster="),
    "gcloud container node-pools describe": Usage(f"{_PLACE} --cluster=", least=1, most=1),
    "gcloud container operations list": Usage(_PLACE),
    "gcloud container operations wait": Usage(_PLACE, least=1, most=1),
    "gcloud compute instances list": Usage(_PLACE),
    "gcloud compute reservations describe": Usage(_PLACE, least=1, most=1),
    "gcloud iam service-accounts disable": Usage("--project=", least=1, most=1),
    "gcloud iam service-accounts enable": Usage("--project=", least=1, most=1),
    "gcloud iam service-accounts keys list": Usage("--project= --iam-account= --managed-by="),
    "gcloud storage ls": Usage("-r/--recursive", most=9),
    "gcloud storage rm": Usage("-r/--recursive --all-versions", least=1, most=9),
    "kubectl get": Usage(f"{_KUBE} -o/--output= --sort-by= -w/--watch -A/--all-namespaces -L/--label-columns=", 1, 9),
    "kubectl describe": Usage(_KUBE, least=1, most=9),
    "kubectl logs": Usage(f"{_KUBE} -c/--container= -f/--follow --tail= -p/--previous", most=1),
    "kubectl delete": Usage(f"{_KUBE} --wait= --ignore-not-found", least=1, most=9),
    "kubectl cordon": Usage("-l/--selector=", most=9),
    "kubectl drain": Usage("-l/--selector= --ignore-daemonsets --delete-emptydir-data --timeout=", most=9),
    "kubectl port-forward": Usage("-n/--namespace= --address=", least=2, most=9),
    "git switch": Usage("-c/--create=", most=1),
    "git revert": Usage("--no-edit", least=1, most=9),
    "git show": Usage("", most=1),
    "gh api": Usage("", least=1, most=1),
    "cp": Usage("-r", least=2, most=2),
    "rm": Usage("-r", least=1, most=9),
}
_USAGES = {**{f"pulumi {name}": usage for name, usage in PULUMI.items()}, **_OTHERS}
_EVERYWHERE = {"pulumi": Usage("-C/--cwd= --non-interactive"), "kubectl": Usage("--context=")}
PROGRAMS = frozenset(name.partition(" ")[0] for name in _USAGES)


def problem(words: Sequence[str], *, whole: bool = True) -> str | None:
    """What is wrong with a command line, if anything is.

    Args:
        words: the command line, without assignments before it and redirections behind it.
        whole: whether it can be run as it stands; within a sentence, arguments may be left out.
    """
    program = words[0]
    if program not in PROGRAMS:
        return f"{program}: not a program that the pages may use"
    general = _EVERYWHERE.get(program, Usage("")).known()
    rest = list(words[1:])
    while rest and (option := rest[0].partition("=")[0]) in general:
        del rest[: 2 if general[option] and "=" not in rest[0] else 1]
    name = _subcommand(program, rest)
    if name is None:
        return f"{' '.join(words[:3])}: no such subcommand"
    usage = _USAGES[name]
    return next(_wrong(name, usage, rest[len(name.split()) - 1 :], {**general, **usage.known()}, whole=whole), None)


def _subcommand(program: str, rest: Sequence[str]) -> str | None:
    """The longest name of a subcommand that the words begin with."""
    names = (" ".join([program, *rest[:count]]) for count in range(4, -1, -1))
    return next((name for name in names if name in _USAGES), None)


def _wrong(name: str, usage: Usage, rest: list[str], known: Mapping[str, bool], *, whole: bool) -> Iterator[str]:
    arguments = 0
    words = iter(rest)
    for word in words:
        if not re.match(r"--?[A-Za-z]", word):
            arguments += 1
            continue
        option, equals, _ = word.partition("=")
        if option not in known:
            yield f"{name}: {option}: no such option"
        elif equals and not known[option] and option != "--refresh":
            yield f"{name}: {option} takes no value"
        elif known[option] and not equals and next(words, "-").startswith("-"):
            yield f"{name}: {option} needs a value"
    if arguments > usage.most or (whole and arguments < usage.least):
        yield f"{name}: {arguments} arguments; it takes {usage.least} to {usage.most}"
