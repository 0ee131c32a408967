"""This file is Tab for ``%torchsession``: its words and options, and the runs, metrics and probes that there are."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from torchmagic.debuggers.settings import PROBES, Level
from torchmagic.jupyter.flags import HELP
from torchmagic.jupyter.session_words import BY_NAME, OWN_LEVEL, STOP, Flag, Kind, Word

if TYPE_CHECKING:
    from torchmagic.api.session import PublicSession


def session_candidates(typed: str) -> list[str]:
    """Return the words that may stand at the end of a line.

    Args:
        typed: What follows the magic's name, up to the cursor.

    Returns:
        Whole words, each beginning with what is typed already.
    """
    first, *before = typed.split(" ")
    before = [each for each in before[:-1] if each] if before else []
    last = typed.rpartition(" ")[2]
    if " " not in typed:
        return _beginning((*BY_NAME, *HELP[:1]), last)
    word = BY_NAME.get(first)
    if word is None:
        return []
    flags = {flag.name: flag for flag in word.flags}
    if last.startswith("--"):
        return _beginning((*flags, *HELP[:1]), last)
    flag = _open_flag(flags, before)
    kind = flag.kind if flag else _kind(word, [each for each in before if not each.startswith("--")])
    if kind is None or kind not in _OFFERS:
        return []
    return _beginning([each for each in _OFFERS[kind]() if each not in before], last)


def _open_flag(flags: Mapping[str, Flag], before: list[str]) -> Flag | None:
    """Return the option whose value stands at the cursor, or None."""
    for index in range(len(before) - 1, -1, -1):
        flag = flags.get(before[index])
        if flag is not None:
            takes = flag.many or index == len(before) - 1
            return flag if flag.metavar and takes else None
    return None


def _kind(word: Word, before: list[str]) -> Kind | None:
    if not word.kinds or (word.most is not None and len(before) >= word.most):
        return None
    return word.kinds[min(len(before), len(word.kinds) - 1)]


def _session() -> "PublicSession":
    from torchmagic.api.session import session  # noqa: PLC0415 - loading the extension is to cost next to nothing

    return session


def known_runs() -> list[str]:
    """Return what may be typed for a run: ``last``, numbers and names, the newest first."""
    entries = _session().history(everything=True).content[::-1]
    names = dict.fromkeys(entry.name for entry in entries if entry.name)
    quoted = [f'"{name}"' if " " in name else name for name in names]
    return ["last", *(str(entry.number) for entry in entries), *quoted]


def _metrics() -> list[str]:
    run = _session().last
    return sorted({frame.metric for frame in run.frames}) if run else []


def _parameters() -> list[str]:
    run = _session().last
    return [row["name"] for row in run.parameters] if run else []


def _exporters() -> list[str]:
    from torchmagic.exports.catalogue import EXPORTERS  # noqa: PLC0415 - as above

    return [exporter.name for exporter in EXPORTERS]


_OFFERS: Mapping[Kind, Callable[[], Iterable[str]]] = {
    "run": known_runs,
    "metric": _metrics,
    "parameter": _parameters,
    "probe": lambda: PROBES,
    "level": lambda: (*(level.value for level in Level), OWN_LEVEL),
    "exporter": _exporters,
    "state": lambda: ("on", "off"),
    "ending": lambda: (STOP,),
}


def _beginning(known: Iterable[str], word: str) -> list[str]:
    return [each for each in known if each.startswith(word)]
