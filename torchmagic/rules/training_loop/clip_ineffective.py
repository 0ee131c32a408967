"""Gradients are clipped at a time when no step uses what was clipped.

*Symptom*: clipping has no effect whatever its limit; spikes of the gradient still reach the weights. Where no parameter
has a gradient yet, ``clip_grad_value_`` raises "Expected !nested_tensorlist[0].empty() to be true".

*Why it happens*: clipping changes ``.grad`` once, where it stands. After ``step()`` it comes too late; before
``backward()`` there is nothing to clip yet, or only what the next reset throws away. An iterator of parameters, such as
``filter(…)`` or ``model.parameters()`` kept under a name, has none left once somebody has walked it. Parameters of
another model than the one that is trained never have a gradient.

*What to try*: clip between ``backward()`` (and ``scaler.unscale_(optimizer)``) and ``step()``. Keep parameters
in a list.

*Source*: PyTorch documentation, "torch.nn.utils.clip_grad_norm_" and "Automatic Mixed Precision examples".
"""

from collections.abc import Iterator

from torchmagic.analyses.model_names import parameters_in
from torchmagic.records.clipping import ClipRecord
from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# The catalogue asks for three iterations in which the clip was for nothing.
MIN_STEPS = 3
# An iterator has its parameters the first time.
FIRST_WALK = 1


@rule
def clip_ineffective(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each line that clips gradients of an optimizer which never uses them so."""
    yield from _raised(run)
    clipped = {record.optimizer for record in run.of(ClipRecord) if record.used}
    for record in run.of(ClipRecord):
        if record.empty >= min_steps and record.used <= FIRST_WALK and record.empty == record.unused:
            yield _walked_before(record, min_steps)
            continue
        if record.gradless >= min_steps and not (record.used or record.unused):
            yield _of_another(run, record, min_steps)
            continue
        if record.unused < min_steps or record.optimizer in clipped:
            continue
        late = 2 * record.after_step > record.unused
        yield Finding(
            rule="clip-ineffective",
            severity=Severity.WARNING,
            confidence=0.95,
            title=f"clipping has no effect: {record.optimizer} used clipped gradients in none of {record.unused} steps",
            optimizer=record.optimizer,
            **line_of(record.place),
            step=record.step,
            evidence={
                "steps that clipping did not reach": record.unused,
                "threshold": min_steps,
                "steps on clipped gradients": record.used,
            },
            why="It runs after the step that has used the gradients already."
            if late
            else "It runs before the backward that makes the gradients of the step.",
            fix=f"clip between loss.backward() and {record.optimizer}.step()",
        )


def _raised(run: Run) -> Iterator[Finding]:
    """Yield the clip that ended the run, for want of anything to clip."""
    for site in run.of(CrashSiteRecord):
        if site.problem is CrashKind.NO_GRADIENTS and site.place is not None and "clip" in site.place.source:
            yield Finding(
                rule="clip-ineffective",
                severity=Severity.ERROR,
                confidence=0.95,
                title="no parameter that was to be clipped has a gradient",
                **line_of(site.place),
                step=site.step,
                evidence={"steps before": site.step, "torch says": site.message.splitlines()[0]},
                why="backward() makes the gradients: the clip runs before it, or after they were reset.",
                fix="clip between loss.backward() and the optimizer's step()",
            )


def _of_another(run: Run, record: ClipRecord, min_steps: int) -> Finding:
    return Finding(
        rule="clip-ineffective",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"clipping has no effect: {record.gradless} times nothing that it was given had a gradient",
        **line_of(record.place),
        step=record.step,
        evidence={"clips of parameters without a gradient": record.gradless, "threshold": min_steps},
        why="No backward reaches these parameters and no optimizer steps on them: they are not what is trained here.",
        fix=f"torch.nn.utils.clip_grad_norm_({parameters_in(run)}, …)  # of the model that is trained",
    )


def _walked_before(record: ClipRecord, min_steps: int) -> Finding:
    return Finding(
        rule="clip-ineffective",
        severity=Severity.WARNING,
        confidence=0.95,
        title=f"clipping has no effect: in {record.empty} steps of {record.optimizer} it was given no parameters",
        optimizer=record.optimizer,
        **line_of(record.place),
        step=record.step,
        evidence={
            "steps in which it was given no parameters": record.empty,
            "threshold": min_steps,
            "steps on clipped gradients": record.used,
        },
        why="An iterator gives its parameters once: the optimizer, or an earlier step, has walked it to its end.",
        fix="list(…)  # keep the parameters in a list, and give that to both",
    )
