"""This file is the words of ``%torchsession``: one table from which parsing, help and completion come."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

MAGIC = "torchsession"

# What may stand in a place, and what Tab therefore offers there.
Kind = Literal["run", "metric", "parameter", "probe", "level", "exporter", "path", "text", "tag", "state", "ending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One option of a word.

    Args:
        name: What is typed.
        metavar: Name of its value in the help; empty for an option without a value.
        kind: What its value is.
        many: Whether it takes all the words up to the next option.
    """

    name: str
    metavar: str = ""
    kind: Kind = "text"
    many: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One thing that the magic does.

    Args:
        name: What is typed.
        help: What it does, in one line.
        metavar: What follows it, as the help shows it.
        kinds: What each place behind it takes; the last one stands for all that follow if ``most`` allows them.
        least: Fewest words that must follow.
        most: Most words that may follow; None for any number.
        is_raw: Whether what follows the first word is one text, taken as it was typed.
        flags: Its options.
    """

    name: str
    help: str
    metavar: str = ""
    kinds: tuple[Kind, ...] = ()
    least: int = 0
    most: int | None = 0
    is_raw: bool = False
    flags: tuple[Flag, ...] = ()

    @property
    def usage(self) -> str:
        """How it is typed."""
        flags = " ".join(f"[{f'{flag.name} {flag.metavar}'.strip()}]" for flag in self.flags)
        return " ".join(part for part in (f"%{MAGIC} {self.name}", self.metavar, flags) if part)


_RUNS = Flag(name="--runs", metavar="N ...", kind="run", many=True)
WORDS = (
    Word(
        name="history",
        help="The table of all runs, of this kernel and of earlier ones in this folder; the newest 20 without --all.",
        flags=(Flag(name="--all"),),
    ),
    Word(name="last", help="The last run again; after a kernel died, what was seen up to then."),
    Word(
        name="show",
        metavar="[N]",
        kinds=("run",),
        most=1,
        help="The full panel of a run again; the last, if none is named.",
    ),
    Word(
        name="compare",
        metavar="[A B ...]",
        kinds=("run",),
        most=None,
        help="What the later runs changed against the first; the last two, if none is named.",
    ),
    Word(
        name="plot",
        metavar="METRIC",
        kinds=("metric",),
        least=1,
        most=1,
        help="The curves of one metric, of the last run or of those named; * in NAME stands for any letters.",
        flags=(Flag(name="--parameter", metavar="NAME", kind="parameter"), _RUNS),
    ),
    Word(
        name="note",
        metavar="N [TEXT]",
        kinds=("run", "text"),
        least=1,
        most=2,
        is_raw=True,
        help="Write a note to a run; no text removes it.",
    ),
    Word(
        name="tag",
        metavar="N TAG ...",
        kinds=("run", "tag"),
        least=2,
        most=None,
        help="Give a run tags; -TAG takes one off.",
    ),
    Word(
        name="export",
        metavar="PATH",
        kinds=("path",),
        least=1,
        most=1,
        help="Write the last run, or those named, to a file; its suffix or --to says in which form.",
        flags=(Flag(name="--to", metavar="FORM", kind="exporter"), _RUNS),
    ),
    Word(
        name="enable",
        metavar="[PROBES]",
        kinds=("probe",),
        most=None,
        help="Switch probes on for the runs to come, and in one that goes on from its next step; no name means all.",
    ),
    Word(name="disable", metavar="[PROBES]", kinds=("probe",), most=None, help="Switch probes off likewise."),
    Word(name="status", help="Which probes are on."),
    Word(
        name="level",
        metavar="[LEVEL]",
        kinds=("level",),
        most=1,
        help="Watch all runs at this level; own lets each go by its own again; without a word, says which it is.",
    ),
    Word(
        name="repr",
        metavar="STATE",
        kinds=("state",),
        least=1,
        most=1,
        help="on shows a tensor that is a cell's last expression as %tensorinfo does; off as torch prints it.",
    ),
    Word(
        name="serve",
        metavar="[stop]",
        kinds=("ending",),
        most=1,
        help="Answer questions about runs over HTTP on this machine, and print where and the token; stop ends it.",
        flags=(Flag(name="--port", metavar="N"),),
    ),
    Word(
        name="clear",
        help="Forget the runs of this kernel; with --stored also all that is stored for this folder, for good.",
        flags=(Flag(name="--stored"),),
    ),
)
BY_NAME: Mapping[str, Word] = {word.name: word for word in WORDS}
DEFAULT = BY_NAME["history"]
OWN_LEVEL = "own"
STOP = "stop"


def help_text() -> str:
    """Return the help, two lines a word."""
    lines = [f"%{MAGIC}: the runs of this kernel and of earlier ones in this folder", ""]
    for word in WORDS:
        lines += [word.usage, f"    {word.help}"]
    lines += ["", "N, A and B are a run's number in the history (-1 is the last), its name, or last."]
    lines.append("In Python: torchmagic.session has a method for each.")
    return "\n".join(lines)
