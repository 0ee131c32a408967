"""This file is the options of ``%%torchprofile``: one table from which parsing, help, defaults and completion come."""

from torchmagic.api.profile_request import SORTS
from torchmagic.jupyter.option import IGNORE, RUN_OPTIONS, Option, whole_number


def _runs() -> tuple[str, ...]:
    from torchmagic.jupyter.session_completion import known_runs  # noqa: PLC0415 - waits for the first Tab

    return tuple(known_runs())


_STEPS = "Optimizer steps to profile (20 unless chosen); a cell that makes none is profiled whole."
PROFILE_OPTIONS = (
    Option(flag="--steps", field="steps", metavar="N", read=whole_number, help=_STEPS),
    Option(flag="--active", field="steps", metavar="N", read=whole_number, help="The same as --steps."),
    Option(
        flag="--wait",
        field="wait",
        metavar="N",
        read=whole_number,
        help="Leave so many optimizer steps alone at the beginning.",
    ),
    Option(
        flag="--warmup",
        field="warmup",
        metavar="N",
        read=whole_number,
        help="Then profile so many and throw them away (2 unless chosen).",
    ),
    Option(flag="--quick", field="quick", fixed=True, help="One step to warm up and three to profile."),
    Option(flag="--memory", field="memory", fixed=True, help="Note down allocations: memory by line, module and step."),
    Option(flag="--flops", field="flops", fixed=True, help="Count floating point operations; slows small steps."),
    Option(flag="--shapes", field="shapes", fixed=True, help="Tell operators apart by shape; slows small steps."),
    Option(flag="--stacks", field="stacks", fixed=True, help="Put Python's calls into the trace; slows every step."),
    Option(
        flag="--sort-by",
        field="sort_by",
        metavar="COLUMN",
        choices=SORTS,
        help="Order of the operators.",
    ),
    Option(flag="--top", field="top", metavar="N", read=whole_number, help="Show so many operators, in place of 40."),
    Option(
        flag="--trace",
        field="trace",
        metavar="PATH",
        help="Write a trace for Perfetto and chrome://tracing; its folder has to exist.",
    ),
    Option(flag="--tensorboard", field="tensorboard", metavar="DIR", help="Write the same trace for TensorBoard."),
    Option(
        flag="--baseline",
        field="baseline",
        metavar="RUN",
        known=_runs,
        help="Compare with an earlier profile: its number in the history, its name, or last.",
    ),
    Option(flag="--verify", field="verify", fixed=True, help="Try the cures on a copy of the model, and time them."),
    IGNORE,
    *RUN_OPTIONS,
)
