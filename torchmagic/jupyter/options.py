"""This file is the options of ``%%torchdebug``: one table from which parsing, help, defaults and completion come."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from enum import StrEnum
from io import StringIO
from typing import Any

from IPython.core.error import UsageError

from torchmagic.debuggers.settings import PROBES, Anomaly, FailOn, Level, PanelMode, Settings

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
        many: Whether several choices may be given, with commas between them.
        read: Turns the typed word into the field's value.
        fixed: The value of an option without one.
    """

    flag: str
    field: str
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    many: bool = False
    read: Callable[[str], Any] = str
    fixed: Any = None


OPTIONS = (
    Option(
        flag="--level",
        field="level",
        metavar="LEVEL",
        choices=(*words(Level), "extreme"),
        help="How closely to watch; each level sees all that the one before it sees (extreme is expert).",
    ),
    Option(flag="--only", field="only", metavar="NAMES", choices=PROBES, many=True, help="Use only these probes."),
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
    Option(
        flag="--fail-on",
        field="fail_on",
        metavar="SEVERITY",
        choices=words(FailOn),
        help="End the cell with an error when there are findings of this severity: for notebooks in CI.",
    ),
    Option(flag="--report", field="report", metavar="PATH", help="Write an HTML report to this file."),
)
HELP = "--help"
BY_FLAG: Mapping[str, Option] = {option.flag: option for option in OPTIONS}


def asks_help(line: str) -> bool:
    """Whether the options ask for help instead of a run."""
    return line.lstrip().startswith("-") and any(word in (HELP, "-h") for word in line.split())


def parse(line: str, defaults: Mapping[str, Any]) -> tuple[Settings, str]:
    """Read options from the front of a line.

    Args:
        line: What was typed behind the magic's name.
        defaults: Values of ``Settings`` fields that were not typed.

    Returns:
        The settings, and what follows the options, as it was typed.

    Raises:
        UsageError: If an option or its value is wrong; one line that names the nearest right one.
    """
    given: dict[str, Any] = {}
    word, rest = _first_word(line)
    while word.startswith("-"):
        flag, has_value, value = word.partition("=")
        option = _option(flag)
        if not option.metavar and has_value:
            raise UsageError(f"%%{MAGIC}: {flag} takes no value, got {value!r}")
        if option.metavar and not has_value:
            value, rest = _first_word(rest, is_value=True)
        given[option.field] = _value(option, value)
        line = rest
        word, rest = _first_word(line)
    try:
        settings = Settings(**_chosen(defaults, given))
    except (ValueError, TypeError) as error:
        raise UsageError(f"%%{MAGIC}: {error}") from None
    return settings, line.strip()


def help_text() -> str:
    """Return the help, one option a line or two."""
    lines = [f"%%{MAGIC} [options]            watch this cell", f"%{MAGIC} [options] STATEMENT   watch one statement"]
    lines += [f"%{MAGIC} on [options] | off     watch every following cell that runs a model", ""]
    for option in OPTIONS:
        lines.append(f"  {option.flag} {option.metavar}".rstrip())
        lines.append(f"      {option.help}")
        if option.choices:
            lines.append(f"      {' | '.join(option.choices)}")
    lines.append("\nDefaults: %config TorchMagic")
    return "\n".join(lines)


def no_statement(got: str) -> str:
    """Return what to say to a header that holds more than options."""
    nearest = get_close_matches(f"--{got.split(maxsplit=1)[0]}", (*BY_FLAG, HELP), n=1)
    hint = f"did you mean {nearest[0]}?" if nearest else f"%%{MAGIC} --help lists them"
    return f"%%{MAGIC} takes only options on its line, got {got!r}; {hint}"


def _first_word(line: str, *, is_value: bool = False) -> tuple[str, str]:
    """Split off one word, quoted as in a shell, and leave the rest untouched."""
    characters = StringIO(line)
    lexer = shlex.shlex(characters, posix=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        word = lexer.get_token()
    except ValueError as error:
        if not is_value and not line.lstrip().startswith("-"):  # a statement's quotes are Python's matter
            return line.lstrip(), ""
        raise UsageError(f"%%{MAGIC}: {str(error).lower()} in {line.strip()!r}") from None
    return word or "", line[characters.tell() :]


def _option(flag: str) -> Option:
    if flag not in BY_FLAG:
        nearest = get_close_matches(flag, (*BY_FLAG, HELP), n=1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"%%{MAGIC} --help lists all"
        raise UsageError(f"%%{MAGIC}: there is no option {flag!r}; {hint}")
    return BY_FLAG[flag]


def _value(option: Option, word: str) -> Any:
    if not option.metavar:
        return option.fixed
    if not word or word.startswith("--"):
        got = f"got {word!r}" if word else "got nothing"
        raise UsageError(f"%%{MAGIC}: {option.flag} wants {_wanted(option)}, {got}")
    parts = word.replace(",", " ").split() if option.many else [word]
    for part in parts:
        if option.choices and part not in option.choices:
            nearest = get_close_matches(part, option.choices, n=1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise UsageError(f"%%{MAGIC}: {option.flag} wants {_wanted(option)}, got {part!r}{hint}")
    try:
        return tuple(parts) if option.many else option.read(word)
    except ValueError as error:
        raise UsageError(f"%%{MAGIC}: {option.flag} {error}") from None


def _wanted(option: Option) -> str:
    if option.choices:
        return f"{'some' if option.many else 'one'} of {', '.join(option.choices)}"
    return option.metavar


def _chosen(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Join what was typed, the mode and the defaults, in this order of weight."""
    mode = MODES.get(given.get("mode", ""), {})
    names = {field.name for field in fields(Settings)}
    return {name: value for name, value in {**defaults, **mode, **given}.items() if name in names}
