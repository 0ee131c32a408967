"""This file is the configuration: ``%config TorchMagic`` and ``c.TorchMagic``, the defaults of every option."""

import sys
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from types import new_class
from typing import Any

from traitlets import Any as AnyTrait
from traitlets import Int, TraitError, validate
from traitlets.config import Config, Configurable

from torchmagic.api.profile_request import SHARED, ProfileRequest
from torchmagic.debuggers.settings import Settings
from torchmagic.jupyter.bench_options import BENCH_OPTIONS
from torchmagic.jupyter.options import OPTIONS
from torchmagic.jupyter.profile_options import PROFILE_OPTIONS
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.tuning.bench_request import BenchRequest

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
# The options of a profile alone carry its name, as ``profile_steps``; what is true of every run is set once for all.
_PROFILE = "profile_"
_PROFILE_HELP = {option.field: option.help for option in reversed(PROFILE_OPTIONS)} | {
    "lines": "Whether the lines of the cell are timed.",
}
_PROFILE_DEFAULTS = {field.name: _default(field) for field in fields(ProfileSettings)} | {
    name: getattr(ProfileRequest(), name) for name in ("sort_by", "top")
}
_PROFILE_TRAITS = {
    f"{_PROFILE}{name}": AnyTrait(default, help=_PROFILE_HELP[name]).tag(config=True)
    for name, default in _PROFILE_DEFAULTS.items()
}
# Those of a benchmark likewise, as ``bench_steps``.
_BENCH = "bench_"
_BENCH_TRAITS = {
    f"{_BENCH}{option.field}": AnyTrait(getattr(BenchRequest(), option.field), help=option.help).tag(config=True)
    for option in BENCH_OPTIONS
}


class Defaults(Configurable):
    """Defaults of ``%%torchdebug``, ``%%torchprofile`` and ``%%torchbench``, and what holds for panels."""

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

    @validate(*_PROFILE_TRAITS)
    def _accepted_for_profiles(self, proposal: Mapping[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            ProfileRequest.from_dict({name.removeprefix(_PROFILE): value})
        except (ValueError, TypeError) as error:
            raise TraitError(f"TorchMagic.{name} is left as it was: {error}") from None
        return value

    @validate(*_BENCH_TRAITS)
    def _accepted_for_benchmarks(self, proposal: Mapping[str, Any]) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        try:
            return getattr(BenchRequest.from_dict({name.removeprefix(_BENCH): value}), name.removeprefix(_BENCH))
        except (ValueError, TypeError) as error:
            raise TraitError(f"TorchMagic.{name} is left as it was: {error}") from None

    def values_by_field(self) -> dict[str, Any]:
        """Return the configured value of each field of ``Settings``."""
        return {name: getattr(self, name) for name in _TRAITS}

    def profile_values(self) -> dict[str, Any]:
        """Return the configured value of each field of a ``ProfileRequest``."""
        shared = {name: getattr(self, name) for name in SHARED}
        return shared | {name: getattr(self, f"{_PROFILE}{name}") for name in _PROFILE_DEFAULTS}

    def bench_values(self) -> dict[str, Any]:
        """Return the configured value of each field of a ``BenchRequest``."""
        return {name.removeprefix(_BENCH): getattr(self, name) for name in _BENCH_TRAITS}


_ALL = _TRAITS | _PROFILE_TRAITS | _BENCH_TRAITS
# The name is what users type; the traits are the fields of the settings, written nowhere twice.
TorchMagic = new_class("TorchMagic", (Defaults,), exec_body=lambda body: body.update(_ALL))


def configured(config: Config) -> Any:
    """Return the configuration that a profile asks for; what is wrong in it costs one line and no more."""
    configuration = TorchMagic()
    for name, value in config.get("TorchMagic", {}).items():
        try:
            configuration.update_config(Config({"TorchMagic": {name: value}}))
        except TraitError as error:
            print(f"torchmagic: {error}", file=sys.stderr)  # noqa: T201 - a line for the person who reads the cell
    return configuration
