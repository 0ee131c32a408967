"""The loss on which backward is called is not connected to any parameter.

*Symptom*: nothing is learnt, or ``element 0 of tensors does not require grad``; all gradients are None.

*Why it happens*: something between the model and ``backward`` takes the value out of the graph: ``.item()``,
``.detach()``, ``.data``, numpy, ``argmax``, ``torch.tensor(loss)``. ``requires_grad_()`` on the result silences the
error and connects nothing. Or all parameters were frozen, the new head with the rest.

*What to try*: compute the loss from the model's output with torch's functions only, and take ``.item()`` of it for
printing, after ``backward()``.

*Source*: PyTorch forum and Stack Overflow, "element 0 of tensors does not require grad and does not have a grad_fn".
"""

import re
from collections.abc import Iterator, Sequence

from torchmagic.analyses.arrivals import disconnected
from torchmagic.analyses.counting import few
from torchmagic.analyses.crash_words import short
from torchmagic.analyses.cuts import ANYTHING, WITHOUT_GRADIENTS, cuts_above
from torchmagic.analyses.scopes import scopes
from torchmagic.analyses.source_lines import lines_freezing
from torchmagic.analyses.syntax import names_in
from torchmagic.analyses.texts import places_by
from torchmagic.records.connection import DetachedLossRecord, MadeInForwardRecord, UnregisteredRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import ModelRecord, ParameterRecord
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, line_of_crash, rule
from torchmagic.session.run import Run

# One backward that reaches nothing may be an inspection of something else; a loop has more than one.
MIN_BACKWARDS = 2
_NO_TENSOR = re.compile(
    r"'(?:float|int|bool|list|ndarray|numpy\.\w+|float\d+|float_)' object has no attribute 'backward'"
    r"|`training_step` must return a Tensor"
)


@rule
def detached_loss(run: Run, *, min_backwards: int = MIN_BACKWARDS) -> Iterator[Finding]:
    """Report a loss that is cut off from everything that is trained."""
    record = disconnected(run)
    frozen = _frozen(run, record) if record is not None else []
    if record is not None and frozen:
        yield _of_the_frozen(run, record, frozen)
    elif record is not None and _is_certain(run, record, min_backwards):
        yield _finding(record, record.cut or record.made or record.backward)
    crash = next((each for each in run.of(CrashRecord) if _NO_TENSOR.search(each.message)), None)
    if crash is not None and record is None:
        yield _of_a_number(run, crash)


def _is_certain(run: Run, record: DetachedLossRecord, min_backwards: int) -> bool:
    """Whether nothing but a cut explains it: gradients were on, and nobody trains what no model registers."""
    hidden = any(each.looks and not each.registered for each in run.of(UnregisteredRecord)) or run.of(
        MadeInForwardRecord
    )
    if hidden or not record.owned or (not record.raised and (record.num_backwards < min_backwards or not run.steps)):
        return False
    if record.connected:
        return True
    blind = record.how == WITHOUT_GRADIENTS
    models = run.of(ModelRecord)
    return not blind and (bool(record.cut and (record.ran or not models)) or (not models and not record.raised))


def _frozen(run: Run, record: DetachedLossRecord) -> list[ModelRecord]:
    """Return the models that ran, where the backward raised because none of them has a parameter that is trained."""
    models = [each for each in run.of(ModelRecord) if each.name in record.ran]
    if not record.raised or any(each.num_trainable for each in models):
        return []
    return [] if record.owned and not set(names_in(run.source)).isdisjoint(record.beside) else models


def _of_the_frozen(run: Run, record: DetachedLossRecord, models: Sequence[ModelRecord]) -> Finding:
    """Return the finding of a loss of models all of whose parameters were frozen."""
    names = [each.name for each in models]
    number = sum(each.model in names for each in run.of(ParameterRecord))
    lines = places_by(run, lines_freezing)
    return Finding(
        rule="detached-loss",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{record.loss} reaches nothing that is trained: all {number} parameters of {few(names)} are frozen",
        module=names[-1],
        **line_of(lines[-1] if lines else record.backward),
        step=0,
        evidence={"parameters that require a gradient": f"0 of {number}", "backward raised": "yes"},
        why="Where no parameter requires a gradient, what is computed from them has no graph to go back through.",
        fix=f"unfreeze what is to be trained, before the optimizer is built: {names[-1]}.requires_grad_(True)",
    )


def _finding(record: DetachedLossRecord, place: Place | None) -> Finding:
    by = f", cut off by {record.how}" if record.how else ""
    return Finding(
        rule="detached-loss",
        severity=Severity.ERROR,
        confidence=0.97 if record.connected else 0.85,
        title=f"{record.loss} reaches none of {record.owned} parameters{by}",
        **line_of(place),
        step=0,
        evidence={
            "backward passes": record.num_backwards,
            "parameters with a gradient": f"0 of {record.owned}",
            "backward raised": "yes" if record.raised else "no",
        },
        why="The value that backward starts from was taken out of the graph, so no gradient can come back to the "
        "parameters.",
        fix=f"compute {record.loss} from the model's output with torch functions, without "
        f"{' and '.join(dict.fromkeys((record.how, *record.again))) or '.item(), .detach() or torch.tensor()'}",
    )


def _lines_of_cuts(text: str) -> list[int]:
    every = scopes(text)
    found = [cuts_above(scope, scope.losses, every, frozenset({ANYTHING})) for scope in every]
    return [cut.line for cuts in found for cut in cuts]


def _of_a_number(run: Run, crash: CrashRecord) -> Finding:
    """Return the finding of a loss that is no tensor any more."""
    cuts = places_by(run, _lines_of_cuts)
    place = line_of(cuts[0]) if cuts else line_of_crash(crash)
    return Finding(
        rule="detached-loss",
        severity=Severity.ERROR,
        confidence=0.95,
        title="backward is called on a number that is no tensor any more",
        **place,
        evidence={"torch says": short(crash.message)},
        why="A plain number has no graph: what turned the loss into one cut it off from the parameters.",
        fix="call backward() on the tensor, and use .item() only for what is printed",
    )
