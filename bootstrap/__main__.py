"""Read the configuration, build what the workflows need, export what is copied into the repository's variables."""

import sys
from pathlib import Path

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env

# The engine runs this folder; the modules are imported as the package that tests and type checker see.
sys.path.insert(0, str(Path(__file__).absolute().parents[1]))
from bootstrap.settings import SettingsError, load
from bootstrap.stack import BootstrapStack

try:
    settings = load({**get_config_env(), **CONFIG.get()}, f"bootstrap/Pulumi.{pulumi.get_stack()}.yaml")
except SettingsError as error:
    raise pulumi.RunError(str(error)) from None
for name, value in BootstrapStack("bootstrap", settings).outputs.items():
    pulumi.export(name, value)
