"""A backward reached a part of the graph that an earlier backward had freed.

*Symptom*: "Trying to backward through the graph a second time".

*Why it happens*: a backward frees what the graph kept. A hidden state that is carried from batch to batch, a tensor
made once in front of the loop, a running sum of losses, or an output shared by two losses still hangs on it.

*What to try*: cut the graph where one iteration ends: ``hidden = hidden.detach()``. Make inside the loop what is
trained through, or add the losses and call backward once. ``retain_graph=True`` only hides it, and memory grows.

*Source*: PyTorch documentation, "torch.autograd.backward: retain_graph"; PyTorch tutorials on truncated
backpropagation through time ("repackage_hidden" in the word language model example).
"""

import re
from collections.abc import Iterator

from torchmagic.analyses.crash_words import short, site_of
from torchmagic.records.crash import CrashKind, CrashSiteRecord, Reuse, ReusedGraphRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# A line that takes a derivative, and what keeps the graph for it.
_DERIVATIVE = re.compile(r"\bgrad\(")
FIX_OF_DERIVATIVE = (
    "torch.autograd.grad(…, create_graph=True) for each but the last, and for all that a loss is made of"
)
# What is carried or made outside is to be changed where it is made; otherwise the second backward is the place.
AT_ITS_MAKING = (Reuse.CARRIED, Reuse.OUTSIDE)


@rule
def backward_twice(run: Run) -> Iterator[Finding]:
    """Report the exception that ended the run, when a graph was used a second time."""
    site = site_of(run, CrashKind.BACKWARD_TWICE)
    if site is None:
        return
    reused = next(iter(run.of(ReusedGraphRecord)), None)
    title, why, fix = _words(reused, stepped=bool(site.step))
    place = _place(site, reused)
    if place == site.place and place is not None and _DERIVATIVE.search(place.source):
        fix = FIX_OF_DERIVATIVE
    yield Finding(
        rule="backward-twice",
        severity=Severity.ERROR,
        confidence=0.97,
        title=title,
        **line_of(place),
        step=site.step,
        evidence=_evidence(site, reused),
        why=why,
        fix=fix,
    )


def _place(site: CrashSiteRecord, reused: ReusedGraphRecord | None) -> Place | None:
    if reused is not None and reused.reuse in AT_ITS_MAKING and reused.made is not None:
        return reused.made
    return site.place


def _evidence(site: CrashSiteRecord, reused: ReusedGraphRecord | None) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    if site.place is not None:
        found["backward"] = f"line {site.place.line}: {site.place.source}"
    if reused is not None and reused.name:
        found["graph of"] = reused.name
        found["how"] = reused.reuse.value
    if reused is not None and reused.made is not None:
        found["made at"] = f"line {reused.made.line}: {reused.made.source}"
    return {**found, "torch says": short(site.message)}


def _words(reused: ReusedGraphRecord | None, *, stepped: bool) -> tuple[str, str, str]:
    """Return title, why and fix.

    Args:
        reused: Whose graph was used again, if that is known.
        stepped: Whether an optimizer has stepped: two losses of one optimizer would have failed before, so that these
            are of two.
    """
    name = reused.name if reused is not None else ""
    loss = reused.loss if reused is not None and reused.loss else "the loss"
    match reused.reuse if reused is not None else Reuse.UNKNOWN:
        case Reuse.CARRIED if name == loss:
            why = "It holds the graphs of all iterations so far, and those of the earlier ones are freed."
            fix = f"call backward on the loss of this iteration; {name} = {name}.detach() or .item() for the sum"
            return f"{name} adds up the losses of earlier iterations and is back-propagated again", why, fix
        case Reuse.CARRIED:
            why = f"{name} still hangs on the graph of the iteration before, which that iteration's backward has freed."
            fix = f"{name} = {name}.detach()  # at the start of each iteration; each part of a tuple by itself"
            return f"{name} carries its graph from one iteration to the next", why, fix
        case Reuse.OUTSIDE:
            why = "The first backward frees its graph; the second iteration needs it again."
            where = "in forward" if "." in name else "inside the loop"
            fix = f"make {name} {where}, or {name} = {name}.detach() where nothing in front of it is trained"
            return f"{name} is made once, and every iteration goes back through it", why, fix
        case Reuse.SHARED:
            why = f"Another loss has gone back through {name} already, and that freed its graph."
            fix = f"add the losses and call backward once; or {name}.detach() in the loss that does not train it"
            if stepped:
                fix = f"compute {name} anew for this loss; detach() only what a loss is not to train"
            return f"{loss} and an earlier loss share the graph of {name}", why, fix
        case Reuse.AGAIN:
            fix = f"call {loss}.backward() once for each forward"
            return f"{loss}.backward() is called twice for one forward", "The first call has freed the graph.", fix
        case _:
            why = (
                "Something that this loss is computed from was made before an earlier backward, and hangs on its graph."
            )
            fix = "detach() what is kept from one iteration to the next"
            return f"{loss} goes back through a graph that was freed", why, fix
