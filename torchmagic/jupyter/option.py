"""This file is one option of a cell magic, the readers of its value, and the options that every cell magic takes."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torchmagic.debuggers.settings import FailOn, PanelMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a cell magic.

    Args:
        flag: What is typed.
        field: The setting that it sets.
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


def words(kind: type[StrEnum]) -> tuple[str, ...]:
    """Return the words of a choice as plain strings."""
    return tuple(member.value for member in kind)


def whole_number(text: str) -> int:
    """Return the whole number that a word says."""
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"wants a whole number, got {text!r}") from None


def seconds(text: str) -> float:
    """Return the number of seconds that a word says, with or without their sign."""
    try:
        return float(text.removesuffix("s"))
    except ValueError:
        raise ValueError(f"wants a number of seconds, got {text!r}") from None


def percent(text: str) -> float:
    """Return the number of percent that a word says, with or without the sign."""
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        raise ValueError(f"wants a number of percent, got {text!r}") from None


def rule_ids() -> tuple[str, ...]:
    """Return the ids of all rules."""
    from torchmagic.rules.catalogue import RULES  # noqa: PLC0415 - loading the extension is to cost next to nothing

    return tuple(rule.id for rule in RULES)


def _failing() -> tuple[str, ...]:
    return (*words(FailOn), *rule_ids())


IGNORE = Option(
    flag="--ignore",
    field="ignore",
    metavar="RULES",
    known=rule_ids,
    many=True,
    help="Say nothing of these rules; * stands for any letters. A line may say # torchmagic: ignore[RULE].",
)
RUN_OPTIONS = (
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
    Option(
        flag="--no-source",
        field="keep_source",
        fixed=False,
        help="Leave the source out of it: of the cell, and of other cells and files.",
    ),
    Option(
        flag="--fail-on",
        field="fail_on",
        metavar="SEVERITY,RULES",
        known=_failing,
        many=True,
        help="End the cell with an error at findings from this severity on (error, warning, info) or of these rules.",
    ),
    Option(flag="--report", field="report", metavar="PATH", help="Write an HTML report to this file."),
)
