"""This file is the options of ``%%torchdebug``: one table from which parsing, help, defaults and completion come."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torchmagic.debuggers.settings import PROBES, Anomaly, FailOn, Level, PanelMode

MAGIC = "torchdebug"

# The modes of the first sketches, each told in today's settings.
MODES: Mapping[str, Mapping[str, Any]] = {
    "anomaly_detection": {"only": ("anomaly",)},
    "gradient_checking": {"only": ("forward", "backward", "gradients", "weights")},
    "memory_profiling": {"only": ("memory",)},
    "performance_profiling": {"only": ("performance",)},
    "full_debug": {"level": Level.EXPERT},
    "none": {"without": PROBES},
}


def words(kind: type[StrEnum]) -> tuple[str, ...]:
    """Return the words of a choice as plain strings."""
    return tuple(member.value for member in kind)


def whole_number(text: str) -> int:
    """Return the whole number that a word says."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"wants a whole number, got {text!r}") from None


def percent(text: str) -> float:
    """Return the number of percent that a word says, with or without the sign."""
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        raise ValueError(f"wants a number of percent, got {text!r}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of the magic.

    Args:
        flag: What is typed.
        field: The field of ``Settings`` that it sets.
        help: What it does, in one line.
        metavar: Name of its value in the help; empty for an option without a value.
        choices: The only values it takes; empty means any.
        known: Tells the values it takes where they are too many to list, and loaded when first asked for.
        many: Whether several choices may be given, with commas between them.
        read: Turns the typed word into the field's value.
        fixed: The value of an option without one.
    """

    flag: str
    field: str
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    known: Callable[[], tuple[str, ...]] = tuple
    many: bool = False
    read: Callable[[str], Any] = str
    fixed: Any = None


def rule_ids() -> tuple[str, ...]:
    """Return the ids of all rules."""
    from torchmagic.rules.catalogue import RULES  # noqa: PLC0415 - loading the extension is to cost next to nothing

    return tuple(rule.id for rule in RULES)


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
    Option(
        flag="--ignore",
        field="ignore",
        metavar="RULES",
        known=rule_ids,
        many=True,
        help="Say nothing of these rules; * stands for any letters. A line may say # torchmagic: ignore[RULE].",
    ),
    Option(flag="--model", field="model", metavar="NAME", help="Watch only the model of this name."),
    Option(flag="--name", field="name", metavar="LABEL", help="Label of the run."),
    Option(
        flag="--panel",
        field="panel",
        metavar="WHEN",
        choices=words(PanelMode),
        help="Show the panel while the cell runs (live), at its end, as text, or not at all (none).",
    ),
    Option(flag="--save", field="save", fixed=True, help="Write the run to the project's store."),
    Option(flag="--no-save", field="save", fixed=False, help="Keep the run in memory only."),
    Option(flag="--source", field="keep_source", fixed=True, help="Write the cell's source with the run."),
    Option(flag="--no-source", field="keep_source", fixed=False, help="Leave the cell's source out of it."),
    Option(
        flag="--fail-on",
        field="fail_on",
        metavar="SEVERITY",
        choices=words(FailOn),
        help="End the cell with an error when there are findings of this severity: for notebooks in CI.",
    ),
    Option(flag="--report", field="report", metavar="PATH", help="Write an HTML report to this file."),
)
HELP, EXPLAIN = "--help", "--explain"
BY_FLAG: Mapping[str, Option] = {option.flag: option for option in OPTIONS}


def asks(line: str) -> bool:
    """Whether the options ask a question, for help or for a rule's page, instead of a run."""
    return line.lstrip().startswith("-") and any(word in (HELP, "-h", EXPLAIN) for word in line.split())


def help_text() -> str:
    """Return the help, one option a line or two."""
    lines = [f"%%{MAGIC} [options]            watch this cell", f"%{MAGIC} [options] STATEMENT   watch one statement"]
    lines += [f"%{MAGIC} on [options] | off     watch every following cell that runs a model", ""]
    for option in OPTIONS:
        lines.append(f"  {option.flag} {option.metavar}".rstrip())
        lines.append(f"      {option.help}")
        if option.choices:
            lines.append(f"      {' | '.join(option.choices)}")
    lines += [f"  {EXPLAIN} [RULE]", "      Print the page of a rule, or the list of all."]
    lines.append("\nDefaults: %config TorchMagic")
    return "\n".join(lines)
