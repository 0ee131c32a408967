"""A state that was kept to go back to is no copy, so that training goes on in it.

*Symptom*: the best weights are put back at the end, and the score is that of the last ones; a checkpoint holds other
weights than those it was taken of; a target network is never behind.

*Why it happens*: ``state_dict()`` returns the tensors of the model, not copies of them; ``dict(…)``, ``copy.copy`` and,
on the CPU, ``.cpu()`` keep them. ``target = online`` gives one model a second name.

*What to try*: ``copy.deepcopy(model.state_dict())``, or write it to a file at once; ``copy.deepcopy(model)`` for a
second model.

*Source*: PyTorch tutorial on saving and loading models ("best_model_state = model.state_dict() returns a reference to
the state and not its copy").
"""

import re
from collections.abc import Iterator

from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.records.state import AliasedStateRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

_TAKING = re.compile(r"([\w.]+(?:\[[^\]]*\])?(?:\.\w+)*)\.state_dict\(\)")
WHY = "state_dict() returns the weights themselves, not a copy: every step after it changes what was kept."
WHY_SAME = "Both names stand for one object; whatever trains the one trains the other."


@rule
def aliased_state_dict(run: Run) -> Iterator[Finding]:
    """Report each line that loads or saves a state that the model has gone on to train in, or a model's own."""
    told = set()
    for record in run.of(AliasedStateRecord):
        place = _second_name(run, record) if record.how == "same" else record.taken or record.place
        if place in told:
            continue
        told.add(place)
        yield Finding(
            rule="aliased-state-dict",
            severity=Severity.ERROR,
            confidence=0.95,
            title=_title(record),
            **line_of(place),
            step=record.step,
            evidence=_evidence(record),
            why=WHY_SAME if record.how == "same" else WHY,
            fix=_fix(record),
        )


def _second_name(run: Run, record: AliasedStateRecord) -> Place | None:
    """Return the line that gives a model its second name; where none is found, the one that loads its state."""
    names = (re.escape(record.model), re.escape(record.source))
    naming = re.compile(r"\s*(?:self\.)?{}\s*=\s*(?:self\.)?{}\s*(?:#.*)?".format(*names))

    def found(text: str) -> list[int]:
        return [number for number, line in enumerate(text.splitlines(), start=1) if naming.fullmatch(line)]

    return next(iter(places_by(run, found)), record.place)


def _title(record: AliasedStateRecord) -> str:
    if record.how == "same":
        return f"{record.model} and {record.source} are one model: loading the state of one into the other does nothing"
    what = "loaded into " + (record.model or "the model") if record.how == "loaded" else "saved"
    if record.step == record.taken_step:
        return f"the state {what} is no copy: it holds what was loaded since it was taken"
    since = f"those of step {record.taken_step}" if record.taken_step else "the first ones"
    return f"the state {what} is no copy: it holds the newest weights, not {since}"


def _evidence(record: AliasedStateRecord) -> dict[str, float | str]:
    used = record.place.source.strip() if record.place is not None else ""
    if record.how == "same":
        return {"times": record.times, "first at step": record.step}
    return {"taken at step": record.taken_step, f"{record.how} at step": record.step, "by": used, "times": record.times}


def _fix(record: AliasedStateRecord) -> str:
    if record.how == "same":
        return f"{record.model} = copy.deepcopy({record.source})"
    source = record.taken.source.strip() if record.taken is not None else ""
    copied, count = _TAKING.subn(r"copy.deepcopy(\1.state_dict())", source)
    return copied if count else f"copy.deepcopy({record.source or 'model'}.state_dict())"
