"""This file is the options of ``%%torchbench``: one table from which parsing, help, defaults and completion come."""

from torchmagic.jupyter.option import Option, whole_number
from torchmagic.tuning.modes import OptimizationMode


def _seconds(text: str) -> float:
    try:
        return float(text.removesuffix("s"))
    except ValueError:
        raise ValueError(f"wants a number of seconds, got {text!r}") from None


BENCH_OPTIONS = (
    Option(
        flag="--modes",
        field="modes",
        metavar="NAMES",
        choices=tuple(mode.value for mode in OptimizationMode),
        many=True,
        help="Measure these, with commas between them, in place of all that may apply to a training.",
    ),
    Option(
        flag="--steps",
        field="steps",
        metavar="N",
        read=whole_number,
        help="Time so many steps of each mode and, in turns with them, of the plain loop (100; at least 24).",
    ),
    Option(
        flag="--time-limit",
        field="time_limit",
        metavar="SECONDS",
        read=_seconds,
        help="Seconds for all modes together (120); a compiler that has begun is not stopped.",
    ),
)
