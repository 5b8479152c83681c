"""Pathways on GKE: read the stack file's config, build what it means, export the outputs."""

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env

from components.stack import PathwaysStack
from pathways.errors import StackFileError
from pathways.load import decoded, load
from pathways.plan import derive
from pathways.warnings import warnings

# All keys of the config, not only those asked for: an unknown one has to be refused.
config = decoded({**get_config_env(), **CONFIG.get()})
file = f"stacks/Pulumi.{pulumi.get_stack()}.yaml"
try:
    plan = derive(load(config, file))
except StackFileError as error:
    raise pulumi.RunError(str(error)) from None
for sentence in warnings(plan):
    pulumi.log.warn(sentence)
for name, value in PathwaysStack("pathways", plan, file=file).outputs.items():
    pulumi.export(name, value)
