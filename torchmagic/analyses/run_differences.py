"""This file is the differences of runs: what of all that they were given is not the same, or was not compared."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from torchmagic.analyses.run_facts import (
    Facts,
    Value,
    beginning_of,
    differing,
    environment_facts,
    finer_facts,
    layer_facts,
    setting_facts,
    training_facts,
)
from torchmagic.analyses.source_difference import body
from torchmagic.session.run import Run

KINDS: Mapping[str, Callable[[Run], Facts]] = {
    "training": training_facts,
    "layers": layer_facts,
    "settings": setting_facts,
    "environment": environment_facts,
}
# What follows from another difference whose name begins so is no cause of its own.
FOLLOWS = {
    "trainable parameters": "parameters of the",
    "parameters in the optimizer": "parameters of the",
    "decay apart from the gradient": "optimizer",
    "batch size given to the model": "batch size",
}
Row = tuple[Value | None, ...]


class OtherText(NamedTuple):
    """The text of a cell or file beside the run's own, where it is another than in the run before."""

    name: str
    old: str
    new: str


def differences(runs: Sequence[Run]) -> dict[str, dict[str, Row]]:
    """Return by kind what is not the same in all runs, with the value of each; None where a run has none.

    What only some runs recorded is no difference.
    """
    return {kind: _told(runs, kind, facts) for kind, facts in KINDS.items()}


def causes(run: Run, other: Run) -> dict[str, Row]:
    """Return what may be behind another result of the other run: all that differs and follows from nothing else."""
    found = {name: row for each in differences([run, other]).values() for name, row in each.items()}
    return {name: row for name, row in found.items() if not _follows(name, found)}


def compared(run: Run, other: Run) -> list[str]:
    """Return the names of what both runs kept, so that it could be compared."""
    kept = ["source"] if has_source(run) and has_source(other) else []
    return [*kept, *(kind for kind, facts in KINDS.items() if facts(run) and facts(other))]


def has_source(run: Run) -> bool:
    """Whether a run's source was kept."""
    return bool(run.source.strip())


def other_texts(run: Run, other: Run) -> list[OtherText]:
    """Return the texts of other cells and files, which both runs kept, that are not the same in both.

    What only one run has may have taken no part that was noted in the other, unless each has one that the other lacks.
    """
    same_file = run.texts.keys() & other.texts.keys()
    found = [
        OtherText(other.file_names.get(file, file), run.texts[file], other.texts[file])
        for file in other.texts
        if file in same_file and body(run.texts[file]) != body(other.texts[file])
    ]
    gone, new = _only_in(run, other), _only_in(other, run)
    if len(gone) == len(new) == 1:
        found.append(OtherText(other.file_names.get(new[0], new[0]), run.texts[gone[0]], other.texts[new[0]]))
    elif gone and new:
        names = [other.file_names.get(file, file) for file in new]
        found.append(OtherText(", ".join(names), "", ""))
    return found


def random_numbers_differ(run: Run, other: Run) -> bool:
    """Whether torch's generator was seeded alike, but stood elsewhere as training began."""
    one, two = beginning_of(run), beginning_of(other)
    if one is None or two is None or not (one.random and two.random):
        return False
    return one.seed == two.seed and one.random != two.random


def first_values_differ(run: Run, other: Run) -> bool | None:
    """Whether the models were given other values at first; None where that is not known."""
    one, two = beginning_of(run), beginning_of(other)
    return None if one is None or two is None or not (one.values and two.values) else one.values != two.values


def seeds_are_known(run: Run, other: Run) -> bool:
    """Whether both runs kept the seed that training began with; of older ones that trained it is not known."""
    known = [beginning_of(each) is not None or not each.steps for each in (run, other)]
    return all(known) and all("seed" in environment_facts(each) for each in (run, other))


def _told(runs: Sequence[Run], kind: str, facts: Callable[[Run], Facts]) -> dict[str, Row]:
    known = [facts(run) for run in runs]
    if kind == "layers" and not all(known):
        return {}
    finer = {name for run in runs for name in finer_facts(run)} if kind == "training" else set[str]()
    rows = {name: row for name, row in differing(known).items() if name not in finer or None not in row}
    if kind == "environment" and not all(seeds_are_known(runs[0], run) for run in runs):
        rows.pop("seed", None)
    return rows


def _follows(name: str, found: Mapping[str, Row]) -> bool:
    cause = next((each for start, each in FOLLOWS.items() if name.startswith(start)), None)
    return cause is not None and any(other != name and other.startswith(cause) for other in found)


def _only_in(run: Run, other: Run) -> list[str]:
    """Return the files whose text one run has, and the other neither has by its name nor by its lines."""
    theirs = {tuple(body(text)) for text in (other.source, *other.texts.values())}
    return [file for file, text in run.texts.items() if file not in other.texts and tuple(body(text)) not in theirs]
