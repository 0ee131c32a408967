"""This file is the options of ``%%torchdebug``: one table from which parsing, help, defaults and completion come."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from torchmagic.debuggers.modes import MODES
from torchmagic.debuggers.settings import PROBES, Anomaly, Level, Settings
from torchmagic.jupyter.option import IGNORE, RUN_OPTIONS, Option, percent, seconds, whole_number, words

OPTIONS = (
    Option(
        flag="--level",
        field="level",
        metavar="LEVEL",
        choices=(*words(Level), "extreme"),
        help="How closely to watch; each level sees all that the one before it sees (extreme is expert).",
    ),
    Option(flag="--only", field="only", metavar="NAMES", choices=PROBES, many=True, help="Use only these probes."),
    Option(
        flag="--also",
        field="also",
        metavar="NAMES",
        choices=PROBES,
        many=True,
        help="Use these probes beside those of the level.",
    ),
    Option(flag="--without", field="without", metavar="NAMES", choices=PROBES, many=True, help="Leave these out."),
    Option(
        flag="--mode",
        field="mode",
        metavar="MODE",
        choices=tuple(MODES),
        help="A named choice of probes; --level, --only and --without outweigh it.",
    ),
    Option(
        flag="--anomaly",
        field="anomaly",
        metavar="HOW",
        choices=words(Anomaly),
        help="What to do at the first NaN or Inf: find its origin (auto), also warn, stop the cell (raise), ...",
    ),
    Option(
        flag="--every",
        field="every",
        metavar="N",
        read=whole_number,
        help="Statistics each N steps (otherwise as often as the budget allows).",
    ),
    Option(
        flag="--budget",
        field="budget",
        metavar="PERCENT",
        read=percent,
        help="Most of the step time that statistics may take.",
    ),
    IGNORE,
    Option(flag="--model", field="model", metavar="NAME", help="Watch only the model of this name."),
    Option(
        flag="--hang-after",
        field="hang_after",
        metavar="SECONDS",
        read=seconds,
        help="On a rank of a distributed run, look what all ranks did last after so many seconds without progress.",
    ),
    Option(
        flag="--every-rank",
        field="every_rank",
        fixed=True,
        help="Show the result on each rank of a distributed run, and not on rank 0 alone.",
    ),
    *RUN_OPTIONS,
)


def watched_settings(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> Settings:
    """Return the settings that come of what was typed, the mode and the defaults, in this order of weight.

    Args:
        defaults: Values of ``Settings`` fields that were not typed: the configuration, with the switches over it.
        given: What was typed, by field.

    Raises:
        ValueError: If a value is wrong.
    """
    asked = {**MODES.get(given.get("mode", ""), {}), **given}
    names = {field.name for field in fields(Settings)}
    under = dict(defaults)
    if "only" in asked:  # these and no others, whatever is switched on or off
        left_out = _names(under.get("without", ()))
        under |= {"also": (), "without": tuple(name for name in left_out if name not in asked["only"])}
    return Settings(**{name: value for name, value in {**under, **asked}.items() if name in names})


def _names(value: str | Iterable[str]) -> Iterable[str]:
    return value.replace(",", " ").split() if isinstance(value, str) else value
