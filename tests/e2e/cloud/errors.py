"""Google's refusals, worded as the services and the provider word them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase

from tests.e2e.cloud.wire import Props


class CloudError(Exception):
    """A call that a service refused; ``str()`` is what the provider prints of it."""

    def __init__(self, status: int, message: str, reason: str) -> None:
        super().__init__(f"googleapi: Error {status}: {message}, {reason}")
        self.status = status


class ProviderError(Exception):
    """A refusal of the provider itself, before or after any call."""


@dataclass
class InitFailedError(Exception):
    """A resource that exists but did not come up: the engine keeps it, marked with the reasons."""

    id: str
    props: Props
    reasons: list[str] = field(default_factory=list)


def not_found(path: str) -> CloudError:
    """404 of a named thing."""
    return CloudError(404, f"Not found: {path}.", "notFound")


def already_exists(path: str) -> CloudError:
    """409 of a name that is taken."""
    return CloudError(409, f"Already exists: {path}.", "alreadyExists")


def in_use(what: str, path: str, user: str) -> ProviderError:
    """The failed operation of deleting what something else uses. ``what`` is a short type such as ``Network``."""
    kind = "resource_policy" if what == "ResourcePolicy" else what.lower()
    return ProviderError(
        f"Error waiting for Deleting {what}: The {kind} resource '{path}' is already being used by '{user}'"
    )


def invalid(message: str) -> CloudError:
    """400 of a request that makes no sense to the service."""
    return CloudError(400, message, "badRequest")


class FaultKind(Enum):
    """What a test can make of an operation. Each is what is left after the provider's own retries."""

    QUOTA = "quota"
    STOCKOUT = "stockout"
    CONFLICT = "conflict"
    RATE_LIMIT = "rate-limit"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    TIMEOUT_AFTER = "timeout-after"
    PERMISSION_DENIED = "permission-denied"


@dataclass(frozen=True, slots=True)
class Fault:
    """The next ``count`` operations that match fail in this way.

    ``type`` is a pattern on the short type (``NodePool``) or the whole token, ``name`` one on the resource's own name.
    TIMEOUT_AFTER lets the operation go through and reports a time-out. STOCKOUT of a node pool leaves it in ERROR.
    """

    kind: FaultKind
    type: str = "*"
    name: str = "*"
    operation: str = "create"
    count: int = 1

    def matches(self, operation: str, token: str, name: str) -> bool:
        """True for an operation (create, read, update, delete) on such a resource."""
        short = token.rpartition(":")[2]
        typed = fnmatchcase(short, self.type) or fnmatchcase(token, self.type)
        return operation == self.operation and typed and fnmatchcase(name, self.name)


_PERMISSIONS = {
    "Cluster": "container.clusters.{0}",
    "NodePool": "container.clusters.update",
    "Bucket": "storage.buckets.{0}",
    "Account": "iam.serviceAccounts.{0}",
}
_VERBS = {"create": "creating", "update": "updating", "delete": "deleting", "read": "reading"}


def refusal(kind: FaultKind, operation: str, token: str, path: str, project: str) -> Exception:
    """The error of a fault that keeps the operation from happening at all."""
    short = token.rpartition(":")[2]
    error: Exception
    match kind:
        case FaultKind.QUOTA:
            error = CloudError(
                403,
                "Insufficient regional quota to satisfy request: resource \"CPUS\": request requires '64.0' and is "
                "short '40.0'. project has a quota of '24.0' with '24.0' available. View and manage quotas at "
                f"https://console.cloud.google.com/iam-admin/quotas?usage=USED&project={project}.",
                "forbidden",
            )
        case FaultKind.CONFLICT:
            error = already_exists(path)
        case FaultKind.RATE_LIMIT:
            error = CloudError(
                429,
                "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute' for consumer "
                f"'project:{project}'.",
                "rateLimitExceeded",
            )
        case FaultKind.UNAVAILABLE:
            error = CloudError(503, "The service is currently unavailable.", "backendError")
        case FaultKind.INTERNAL:
            error = CloudError(500, "Internal error encountered.", "backendError")
        case FaultKind.PERMISSION_DENIED:
            permission = _PERMISSIONS.get(short, f"compute.{short[0].lower()}{short[1:]}s.{{0}}").format(operation)
            error = CloudError(
                403, f'Required "{permission}" permission(s) for "{path}" (or it may not exist).', "forbidden"
            )
        case FaultKind.STOCKOUT:
            error = ProviderError(stockout_message(path, path, project, "-", 1))
        case FaultKind.TIMEOUT_AFTER:
            error = timeout(operation, short)
    return error


def timeout(operation: str, short: str) -> ProviderError:
    """The provider gave up waiting; the operation itself went on."""
    return ProviderError(
        f"Error waiting for {_VERBS[operation]} {short}: timeout while waiting for state to become 'DONE' "
        "(last state: 'RUNNING', timeout: 30m0s)"
    )


def stockout_message(instance: str, pool: str, project: str, zone: str, expected: int) -> str:
    """What GKE notes on a pool whose machines the zone does not have."""
    return (
        f"Google Compute Engine: Not all instances running in IGM after 35m11.2s. Expected {expected}, running 0, "
        f"transitioning {expected}. Current errors: [GCE_STOCKOUT]: Instance '{instance}' creation failed: The zone "
        f"'projects/{project}/zones/{zone}' does not have enough resources available to fulfill the request. "
        "'(resource type:compute)'."
    )


def reservation_message(instance: str, reservation: str, expected: int, free: int) -> str:
    """What GKE notes on a pool whose reservation has fewer free hosts than it needs."""
    return (
        f"Google Compute Engine: Not all instances running in IGM after 35m11.2s. Expected {expected}, running 0, "
        f"transitioning {expected}. Current errors: [GCE_STOCKOUT]: Instance '{instance}' creation failed: Specified "
        f"reservation '{reservation}' does not have available resources for the request: {free} free."
    )
