"""Ranks update on gradients of their own rows alone.

*Symptom*: training on N ranks learns no better than on one, and ranks end with different models.

*Why it happens*: the model was never wrapped, or it is called around its wrapper (``ddp.module(x)``), so that backward
passes nothing on; or an exchange by hand leaves parameters out.

*What to try*: ``model = DistributedDataParallel(model)``, and call that: ``model(x)``. By hand, reduce the gradient of
every parameter before ``optimizer.step()``.

*Source*: PyTorch tutorial "Getting started with distributed data parallel"; PyTorch documentation of
``DistributedDataParallel``, forward and backward passes.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.ranks_copies import Copies, copies
from torchmagic.analyses.ranks_exchange import averages_now_and_then, splits_work, wraps
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.ranks import Checked, Wrapping
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

# Looks at which gradients have to differ; a first one may fall into a warm-up.
MIN_LOOKS = 2
MOST_NAMES = 3


@rule
def gradients_not_reduced(run: Run, *, min_looks: int = MIN_LOOKS) -> Iterator[Finding]:
    """Report each model whose gradients differ across ranks at every look, and which nobody averages."""
    ranks = run.ranks
    if ranks is None or ranks.num_read < len((0, 1)) or splits_work(ranks) or averages_now_and_then(ranks):
        return
    apart_for_good = {found.model for found in copies(ranks, Checked.WEIGHT) if not found.met_again and found.apart}
    for found in copies(ranks, Checked.GRADIENT):
        looks = len(found.looks)
        if looks < min_looks or len(found.apart) < looks or found.model not in apart_for_good:
            continue
        wrap = next(iter(wraps(ranks, found.model)), None)
        is_bare = wrap is None or wrap.wrapper is Wrapping.NONE
        bypassed, withheld = _passes(ranks, "bypassed"), _passes(ranks, "withheld")
        if bypassed and not withheld and not (is_bare and _passes(ranks, "reduced")):
            yield _around(ranks, found, bypassed)
        elif is_bare:
            yield _bare(ranks, found)


def _passes(ranks: Ranks, how: str) -> int:
    return int(sum(sum(values) for _, values in ranks.series("gradient_sync", name=how).values()))


def _bare(ranks: Ranks, found: Copies) -> Finding:
    partly = 0 < len(found.names) < found.num_names
    names = few(found.names, most=MOST_NAMES)
    wrap = next(iter(wraps(ranks, found.model)), None)
    began_alike = all(len(each.groups[each.looks[0]]) == 1 for each in copies(ranks, Checked.WEIGHT))
    return Finding(
        rule="gradients-not-reduced",
        severity=Severity.ERROR if began_alike or partly else Severity.WARNING,
        confidence=0.9 if began_alike or partly else 0.7,
        title=f"{len(found.names)} of {found.num_names} gradients of {found.model} are not reduced: {names}"
        if partly
        else f"the {ranks.world_size:,} ranks train {found.model} each on its own: its gradients are not reduced",
        parameter=found.names[0] if partly else None,
        **line_of(wrap.place if wrap is not None else None),
        step=found.apart[0],
        evidence=_evidence(found),
        why="What is exchanged by hand leaves them out, so each rank updates them on its own rows."
        if partly
        else "The model is not wrapped, and nothing of its size is exchanged between backward and step.",
        fix="for p in model.parameters(): dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)  # all of them, on every rank"
        if partly
        else f"{found.model} = torch.nn.parallel.DistributedDataParallel({found.model})",
    )


def _around(ranks: Ranks, found: Copies, bypassed: int) -> Finding:
    wrap = next(iter(wraps(ranks, found.model)), None)
    return Finding(
        rule="gradients-not-reduced",
        severity=Severity.ERROR,
        confidence=0.95,
        title=f"{found.model} is called around its wrapper, so its gradients are not reduced",
        **line_of(wrap.place if wrap is not None else None),
        step=found.apart[0],
        evidence=_evidence(found) | {"backward passes around the wrapper": bypassed},
        why="DistributedDataParallel prepares the exchange in its own forward; a call of .module skips it.",
        fix="call the wrapped model itself: output = model(x), not model.module(x)",
    )


def _evidence(found: Copies) -> dict[str, float | str]:
    return {
        "looks at which gradients differed": f"{len(found.apart)} of {len(found.looks)}",
        "groups of equal ranks": len(found.groups[found.apart[0]]),
    }
