"""A tensor that the backward still needed was changed in place.

*Symptom*: "one of the variables needed for gradient computation has been modified by an inplace operation", or "a
leaf Variable that requires grad is being used in an in-place operation".

*Why it happens*: many operations keep their input or output for the backward. ``x += …``, ``x[…] = …``, ``x.relu_()``
or ``inplace=True`` overwrite it; ``optimizer.step()`` between a forward and its backward overwrites the weights.

*What to try*: write the change out of place (``x = x + …``, ``torch.where``, ``x.clone()`` first), and call
``optimizer.step()`` only after every backward that uses the same forward. A state that is carried from batch to batch
is to be detached; ``retain_graph=True`` only hides that it is not.

*Source*: PyTorch documentation, "Autograd mechanics: in-place operations with autograd"; PyTorch issue 15803.
"""

import re
from collections.abc import Iterator

from torchmagic.analyses.carried_names import carried_state
from torchmagic.analyses.crash_words import evidence, short, site_of
from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import places_by, text_around
from torchmagic.records.crash import CrashKind, CrashSiteRecord, InplaceRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# A change that only its kind and place in the source point at may be another one.
SURE, LIKELY = 0.97, 0.85
# How a change in place looks in a line, where it is no module that makes it.
_WRITTEN = re.compile(r"\w_\(|[-+*/@]=|\] *=|\bout=")

_KEPT = re.compile(r"retain_graph *= *True")


@rule
def inplace_autograd_error(run: Run) -> Iterator[Finding]:
    """Report the exception that ended the run, when a change in place caused it, at the line that changes."""
    site = site_of(run, CrashKind.INPLACE)
    if site is None:
        return
    change = next(iter(run.of(InplaceRecord)), None)
    state = _carried(run, site) if change is not None and change.optimizer else ""
    if state:
        yield _of_a_state(site, change, state)
        return
    place = _place(run, site, change)
    name = change.name if change is not None and change.name else "a tensor that the backward needs"
    yield Finding(
        rule="inplace-autograd-error",
        severity=Severity.ERROR,
        confidence=SURE if change is not None and change.sure else LIKELY,
        title=_title(change, name, site),
        module=site.module if "leaf" in site.message else None,
        parameter=change.name if change is not None and change.optimizer else None,
        optimizer=change.optimizer or None if change is not None else None,
        **line_of(place),
        step=site.step,
        evidence=_evidence(site, change),
        why=_why(change, site),
        fix=_fix(change, name, place, site),
    )


def _carried(run: Run, site: CrashSiteRecord) -> str:
    """Return the state whose graph a loop carries on, and keeps by ``retain_graph=True``; empty where there is none."""
    place = site.place
    if place is None or not _KEPT.search(place.source):
        return ""
    return carried_state(text_around(run, place), place.line)


def _of_a_state(site: CrashSiteRecord, change: InplaceRecord | None, state: str) -> Finding:
    optimizer = change.optimizer if change is not None else ""
    return Finding(
        rule="inplace-autograd-error",
        severity=Severity.ERROR,
        confidence=SURE,
        title=f"{state} carries on the graph of the batch before, whose weights {optimizer}.step() has changed",
        optimizer=optimizer or None,
        **line_of(site.place),
        step=site.step,
        evidence=_evidence(site, change),
        why="retain_graph=True keeps that graph, so that this backward goes through it again; but it multiplies by the "
        "weights as they were, and the step has overwritten them.",
        fix=f"{state} = {state}.detach()  # before the next batch uses it; backward() without retain_graph=True",
    )


def _place(run: Run, site: CrashSiteRecord, change: InplaceRecord | None) -> Place | None:
    if change is None:
        return site.place
    if not change.optimizer:
        return change.place or site.place
    owner = next((each for each in run.of(OptimizerRecord) if each.name == change.optimizer), None)
    if owner is not None and owner.place is not None:
        return owner.place
    return next(iter(places_by(run, lambda text: lines_calling(text, ("step",)))), site.place)


def _title(change: InplaceRecord | None, name: str, site: CrashSiteRecord) -> str:
    if change is not None and change.optimizer:
        return f"{change.optimizer}.step() changed {name} between a forward and its backward"
    if "leaf" in site.message:
        return f"{name} is a leaf that requires a gradient, and is changed in place"
    if "is a view" in site.message:
        return f"{name} is changed in place, and autograd cannot follow changes of such a view"
    if change is None or not change.name:
        return "a tensor was changed in place, and the backward needed its old values"
    return f"{name} was changed in place, and the backward needed its old values"


def _evidence(site: CrashSiteRecord, change: InplaceRecord | None) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    if change is not None:
        shape = str(change.shape) if change.shape else ""
        pairs = {"changed": change.name, "made by": change.made_by, "needed by": change.needed_by, "shape": shape}
        found.update({key: value for key, value in pairs.items() if value})
    if site.place is not None:
        found["raised at"] = f"line {site.place.line}: {site.place.source}"
    return {**found, "torch says": short(evidence(site)["torch says"])}  # type: ignore[arg-type] # what torch says is text


def _why(change: InplaceRecord | None, site: CrashSiteRecord) -> str:
    if change is not None and change.optimizer:
        return "The backward of that forward multiplies by the weights as they were; the step has overwritten them."
    if "leaf" in site.message:
        return "Autograd collects the gradient of a leaf; were it changed, the gradient would be that of another value."
    kept = (
        f"{change.needed_by} keeps it"
        if change is not None and change.needed_by
        else "An operation of the forward keeps it"
    )
    return f"{kept} to compute the gradient, and finds other values than those it worked on."


def _fix(change: InplaceRecord | None, name: str, place: Place | None, site: CrashSiteRecord) -> str:
    line = place.source if place is not None else ""
    if change is not None and change.optimizer:
        return f"{change.optimizer}.step()  # after all backward passes of this forward, or run the forward again"
    if "leaf" in site.message:
        return f"with torch.no_grad(): {line or name}"
    for sign in ("+=", "-=", "*=", "/=", "**=", "@="):
        if f" {sign} " in line:
            left, _, right = line.partition(f" {sign} ")
            if "[" not in left:
                plain = right.replace("_", "").replace(".", "").isalnum()
                return f"{left} = {left} {sign[:-1]} {right if plain else f'({right})'}"
    if "inplace=True" in line:
        return line.replace("inplace=True", "inplace=False")
    if change is not None and change.place is not None and not _WRITTEN.search(line):
        return "build the module that this line calls without inplace=True"
    copied = name if change is not None and change.name else "x"
    return f"{copied} = {copied}.clone()  # before it is changed; or write the change out of place"
