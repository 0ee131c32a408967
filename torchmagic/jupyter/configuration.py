"""This file is the configuration: ``%config TorchMagic`` and ``c.TorchMagic``, the defaults of every option."""

import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from types import new_class
from typing import Any

from traitlets import Any as AnyTrait
from traitlets import Int, TraitError, validate
from traitlets.config import Config, Configurable

from torchmagic.debuggers.settings import Settings
from torchmagic.jupyter.options import OPTIONS

_HELP = {option.field: option.help for option in OPTIONS} | {
    "thresholds": "Thresholds of rules that are to be other than their own, as {'dead-relu.min_share': 0.7}.",
}


def _default(field: Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


_TRAITS = {
    field.name: AnyTrait(_default(field), help=_HELP[field.name]).tag(config=True)
    for field in fields(Settings)
    if field.name in _HELP
}


class Defaults(Configurable):
    """Defaults of ``%%torchdebug``, as ``Settings`` accepts them, and what holds for all panels."""

    living_panels = Int(
        3, min=1, help="So many panels stay connected to the kernel; older ones leave their static copies behind."
    ).tag(config=True)

    @validate(*_TRAITS)
    def _accepted(self, proposal: Mapping[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            return getattr(Settings(**{name: value}), name)
        except (ValueError, TypeError, AttributeError) as error:
            raise TraitError(f"TorchMagic.{name} is left as it was: {error}") from None

    def values_by_field(self) -> dict[str, Any]:
        """Return the configured value of each settings field."""
        return {name: getattr(self, name) for name in _TRAITS}


# The name is what users type; the traits are the fields of Settings, written nowhere twice.
TorchMagic = new_class("TorchMagic", (Defaults,), exec_body=lambda body: body.update(_TRAITS))


def configured(config: Config) -> Any:
    """Return the configuration that a profile asks for; what is wrong in it costs one line and no more."""
    configuration = TorchMagic()
    for name, value in config.get("TorchMagic", {}).items():
        try:
            configuration.update_config(Config({"TorchMagic": {name: value}}))
        except TraitError as error:
            print(f"torchmagic: {error}", file=sys.stderr)  # noqa: T201 - a line for the person who reads the cell
    return configuration
