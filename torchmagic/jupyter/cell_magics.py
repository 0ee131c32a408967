"""This file is the cell magics: a table of those whose header opens a run, and the help of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torchmagic.api.profile_request import ProfileRequest
from torchmagic.jupyter.bench_options import BENCH_OPTIONS
from torchmagic.jupyter.option import Option
from torchmagic.jupyter.options import OPTIONS, watched_settings
from torchmagic.jupyter.profile_options import PROFILE_OPTIONS
from torchmagic.tuning.bench_request import BenchRequest

HELP, EXPLAIN = "--help", "--explain"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellMagic:
    """One cell magic.

    Args:
        name: As it is typed behind ``%%``.
        begin: Name of the line magic that its header becomes.
        usage: First lines of its help.
        options: Its options.
        settings: Makes its settings of the defaults and of what was typed; what is wrong is a ValueError.
        words: What its line form takes in place of a statement.
        explains: Whether it answers for the pages of rules.
    """

    name: str
    begin: str
    usage: tuple[str, ...]
    options: tuple[Option, ...]
    settings: Callable[[Mapping[str, Any], Mapping[str, Any]], Any]
    words: tuple[str, ...] = ()
    explains: bool = True

    @property
    def flags(self) -> tuple[str, ...]:
        """All that may be typed with a dash in front."""
        return (*(option.flag for option in self.options), HELP, *((EXPLAIN,) if self.explains else ()))

    def option(self, flag: str) -> Option | None:
        """Return the option of this flag; None where there is none."""
        return next((option for option in self.options if option.flag == flag), None)

    def help_text(self) -> str:
        """Return the help, one option a line or two."""
        lines = [*self.usage, ""]
        for option in self.options:
            lines.append(f"  {option.flag} {option.metavar}".rstrip())
            lines.append(f"      {option.help}")
            if option.choices:
                lines.append(f"      {' | '.join(option.choices)}")
        if self.explains:
            lines += [f"  {EXPLAIN} [RULE]", "      Print the page of a rule, or the list of all."]
        lines.append("\nDefaults: %config TorchMagic")
        return "\n".join(lines)


def asks(line: str) -> bool:
    """Whether options ask a question, for help or for a rule's page, instead of a run."""
    return line.lstrip().startswith("-") and any(word in (HELP, "-h", EXPLAIN) for word in line.split())


def _profile(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> ProfileRequest:
    return ProfileRequest.from_dict({**defaults, **given})


def _bench(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> BenchRequest:
    return BenchRequest.from_dict({**defaults, **given})


TORCHDEBUG = CellMagic(
    name="torchdebug",
    begin="_torchmagic_begin",
    usage=(
        "%%torchdebug [options]            watch this cell",
        "%torchdebug [options] STATEMENT   watch one statement",
        "%torchdebug on [options] | off     watch every following cell that runs a model",
    ),
    options=OPTIONS,
    settings=watched_settings,
    words=("on", "off"),
)
TORCHPROFILE = CellMagic(
    name="torchprofile",
    begin="_torchmagic_profile",
    usage=(
        "%%torchprofile [options]            profile this cell: where its time and memory go",
        "%torchprofile [options] STATEMENT   profile one statement",
    ),
    options=PROFILE_OPTIONS,
    settings=_profile,
)
TORCHBENCH = CellMagic(
    name="torchbench",
    begin="",  # its cell is a trial, which the magic runs itself
    usage=(
        "%%torchbench [options]            measure what would make the training step of this cell faster",
        "%torchbench [options] STATEMENT   the step that a statement runs",
    ),
    options=BENCH_OPTIONS,
    settings=_bench,
    explains=False,
)
# Where the headers of several stand above one cell, the first of these has the say on how the run is watched.
CELL_MAGICS = (TORCHDEBUG, TORCHPROFILE)
