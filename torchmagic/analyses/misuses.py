"""This file finds which misuse of torch's interface an exception tells of, and puts it into words."""

import re

from torchmagic.analyses.crash_layers import Misfit
from torchmagic.analyses.crash_words import short, subject
from torchmagic.analyses.data_misuses import DATA_MISUSES
from torchmagic.analyses.misuse import Misuse
from torchmagic.analyses.model_misuses import MODEL_MISUSES
from torchmagic.analyses.training_misuses import TRAINING_MISUSES
from torchmagic.records.crash import CrashSiteRecord
from torchmagic.records.place import Place

# The first that fits is taken.
MISUSES = (*TRAINING_MISUSES, *MODEL_MISUSES, *DATA_MISUSES)
STATE = r"Error\(s\) in loading state_dict for (\w+)"
_MISSING, _UNEXPECTED = re.compile(r"Missing key\(s\)[^:]*: (.*)"), re.compile(r"Unexpected key\(s\)[^:]*: (.*)")
_STATE_GIVEN = re.compile(r"load_state_dict\((\w+)[,)]")
_KEY = re.compile(r'"([^"]+)"')
_PLAIN = re.compile(r"[A-Za-z_][\w.]*")
_PARAMETERS = re.compile(r"(\.(?:named_)?parameters)\b(?!\s*\()")
_RAISED = re.compile(r'File "([^"]+)", line (\d+), in (\w+)\n\s*([^\n]+)')
_INSTALLED = re.compile(r"[\\/](?:site|dist)-packages[\\/]")
# Keys that are named.
MOST_KEYS = 3
# A longer line is told by what is called.
LONGEST_LINE = 60


def is_misuse(message: str, line: str) -> bool:
    """Whether an exception tells of a misuse that is known.

    Args:
        message: What it says.
        line: Text of the line that raised, of which the expression is a part.
    """
    return re.search(STATE, message) is not None or any(
        re.search(each.says, message, re.DOTALL) and re.search(each.where.removeprefix("^"), line) for each in MISUSES
    )


def misuse_words(site: CrashSiteRecord) -> Misfit | None:
    """Put the misuse that ended a run into words; None for one that is not known."""
    state = re.search(STATE, site.message)
    if state is not None:
        return _of_state(site, state[1])
    line = site.expression or (site.place.source if site.place is not None else site.operation)
    for each in MISUSES:
        found = re.search(each.says, site.message, re.DOTALL)
        if found is not None and re.search(each.where, line):
            return _filled(each, site, line, found.groups(default=""))
    return None


def raised_at(message: str) -> Place | None:
    """Return the line of a worker's own code that raised, by the traceback that is part of what the exception says."""
    theirs = [found for found in _RAISED.finditer(message) if not _INSTALLED.search(found[1])]
    if not theirs:
        return None
    file, line, function, source = theirs[-1].groups()
    return Place(file=file, line=int(line), source=source.strip(), function=function)


def _filled(misuse: Misuse, site: CrashSiteRecord, line: str, groups: tuple[str, ...]) -> Misfit:
    names = [fact.name for fact in site.tensors if _PLAIN.fullmatch(fact.name)]
    stands_for = {
        "says": short(site.message),
        "what": subject(site),
        "line": line if len(line) <= LONGEST_LINE else line.partition("(")[0] + "(…)",
        "name": names[0] if names else "x",
        "last": names[-1] if names else "x",
        "called": line.replace("(", "()(", 1),
        "parenthesised": _PARAMETERS.sub(r"\1()", line),
    }
    title, why, fix = (each.format(*groups, **stands_for) for each in (misuse.title, misuse.why, misuse.fix))
    return Misfit(title, why, fix)


def _of_state(site: CrashSiteRecord, model: str) -> Misfit:
    """Explain a state whose keys are not those of the model: a wrapper's prefix, or another model."""
    missing, unexpected = (_keys(pattern.search(site.message)) for pattern in (_MISSING, _UNEXPECTED))
    given = _STATE_GIVEN.search(site.expression)
    state = given[1] if given is not None else "state"
    why = "The names of a state are those of the attributes of the model that it was taken from."
    if prefix := _prefix(unexpected, missing):
        title = f"the state was taken from inside a wrapper: its keys begin with {prefix}"
        return Misfit(
            title, why, f"{state} = {{key.removeprefix({prefix!r}): value for key, value in {state}.items()}}"
        )
    if prefix := _prefix(missing, unexpected):
        title = f"this {model} is in a wrapper, and the state is not of one: its keys lack {prefix}"
        return Misfit(title, why, f"{state} = {{{prefix!r} + key: value for key, value in {state}.items()}}")
    title = f"the state is not that of this {model}: " + " and ".join(
        f"{len(keys)} keys {what}, as {', '.join(keys[:MOST_KEYS])}"
        for keys, what in ((missing, "are missing"), (unexpected, "are unknown"))
        if keys
    )
    return Misfit(
        title, why, "build the model as it was when the state was saved; strict=False leaves the rest as it is"
    )


def _keys(found: re.Match[str] | None) -> list[str]:
    return _KEY.findall(found[1]) if found is not None else []


def _prefix(wrapped: list[str], bare: list[str]) -> str:
    """Return what stands before each of some keys where the rest are others; empty where they are not."""
    prefix = wrapped[0].removesuffix(bare[0]) if wrapped and bare and wrapped[0].endswith(bare[0]) else ""
    return prefix if prefix and wrapped == [prefix + each for each in bare] else ""
