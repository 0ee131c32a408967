"""An optimizer steps the parameters of a model that is no longer the one being trained.

*Symptom*: gradients are there, ``step()`` runs, and the model does not change.

*Why it happens*: the model was built again, copied or replaced after the optimizer was given its parameters; the
optimizer still holds those of the old one. Or a tensor that is trained by itself, as an image is, was assigned anew:
``image = image.detach().clamp(0, 1).requires_grad_()``.

*What to try*: build the optimizer after the model, and again whenever the model is replaced; change a tensor in place.

*Source*: PyTorch documentation of ``torch.optim``, "Constructing it"; Humbatova et al., ICSE 2020.
"""

from collections.abc import Iterator

from torchmagic.analyses.arrivals import stale
from torchmagic.analyses.optimizer_lines import built_for
from torchmagic.analyses.source_lines import lines_giving
from torchmagic.analyses.texts import places_by, text_around
from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.objective import GroupRecord
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Steps that the optimizer must have made without any gradient.
MIN_STEPS = 3


@rule
def stale_optimizer(run: Run, *, min_steps: int = MIN_STEPS) -> Iterator[Finding]:
    """Report each optimizer none of whose parameters ever had a gradient while another model's had theirs in vain."""
    for flow in stale(run, min_steps=min_steps):
        yield Finding(
            rule="stale-optimizer",
            severity=Severity.ERROR,
            confidence=0.93,
            title=_title(flow),
            module=None if flow.twin_is_tensor else flow.twin,
            parameter=flow.twin if flow.twin_is_tensor else None,
            optimizer=flow.optimizer,
            **_place(run, flow),
            step=flow.idle_since if flow.num_received else 0,
            evidence=_evidence(flow, min_steps),
            why=f"Gradients go to {'the tensor' if flow.twin_is_tensor else 'the parameters of'} {flow.twin}, which no "
            f"optimizer holds; {flow.optimizer} was built for {_of_old(flow)} that no loss reaches any more.",
            fix=_fix(run, flow),
        )


def _title(flow: GradientFlowRecord) -> str:
    if flow.twin_is_tensor:
        return f"{flow.optimizer} holds the tensor that {flow.twin} was before, not the one that gets the gradients"
    return f"{flow.optimizer} holds the parameters of another model, not those of {flow.twin}, which is trained"


def _of_old(flow: GradientFlowRecord) -> str:
    return "one of the same shape" if flow.twin_is_tensor else "tensors of the same shapes"


def _evidence(flow: GradientFlowRecord, min_steps: int) -> dict[str, int | str]:
    if flow.num_received:  # once, or zeros that were left of it
        return {"steps in a row without a new gradient": flow.idle, "threshold": min_steps}
    return {
        f"steps of {flow.optimizer}": flow.steps,
        "threshold": min_steps,
        "parameters with a gradient": f"0 of {flow.num_trainable}",
    }


def _fix(run: Run, flow: GradientFlowRecord) -> str:
    if flow.twin_is_tensor:
        return f"change {flow.twin} in place, as under torch.no_grad() by {flow.twin}.clamp_(…) or {flow.twin}.copy_(…)"
    groups = [each for each in run.of(GroupRecord) if each.optimizer == flow.optimizer]
    if len(groups) == 1:
        return f"{built_for(run, groups[0], flow.twin)}  # after {flow.twin} is made"
    return f"build {flow.optimizer} after {flow.twin}: {flow.optimizer} = torch.optim.…({flow.twin}.parameters())"


def _place(run: Run, flow: GradientFlowRecord) -> Located:
    """Return the last line of the cell that makes the model, or one below it that builds the optimizer for another.

    Where neither is seen it is the optimizer's first step.
    """
    made = places_by(run, lambda text: lines_giving(text, flow.twin))
    groups = (each for each in run.of(GroupRecord) if each.optimizer == flow.optimizer)
    built = next((each.built for each in groups if each.built is not None), None)
    if made and built is not None and built.line > made[-1].line and text_around(run, built):
        return line_of(built)
    return line_of(made[-1] if made else flow.place)
