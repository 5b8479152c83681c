"""The Kubernetes objects of a stack as plain dicts: nothing here knows how they get into a cluster."""

from pathways.manifests.access import client_rule, network_policy, proxy_service
from pathways.manifests.job_set import job_set
from pathways.manifests.namespace import namespace, service_account

__all__ = ["client_rule", "job_set", "namespace", "network_policy", "proxy_service", "service_account"]
