"""An optimizer steps the parameters of a model that is no longer the one being trained.

*Symptom*: gradients are there, ``step()`` runs, and the model does not change.

*Why it happens*: the model was built again, copied or replaced after the optimizer was given its parameters; the
optimizer still holds those of the old one.

*What to try*: build the optimizer after the model, and again whenever the model is replaced.

*Source*: PyTorch documentation of ``torch.optim``, "Constructing it"; Humbatova et al., ICSE 2020.
"""

from collections.abc import Iterator

from torchmagic.analyses.arrivals import stale
from torchmagic.analyses.source_lines import lines_giving
from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import Located, line_in, line_of, rule
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
            title=f"{flow.optimizer} holds the parameters of another model, not those of {flow.twin}, which is trained",
            module=flow.twin,
            optimizer=flow.optimizer,
            **_place(run, flow),
            step=0,
            evidence={
                f"steps of {flow.optimizer}": flow.steps,
                "threshold": min_steps,
                "parameters with a gradient": f"0 of {flow.num_trainable}",
            },
            why=f"Gradients go to the parameters of {flow.twin}, which no optimizer holds; {flow.optimizer} was built "
            "for tensors of the same shapes that no loss reaches any more.",
            fix=f"build {flow.optimizer} after {flow.twin}: {flow.optimizer} = torch.optim.…({flow.twin}.parameters())",
        )


def _place(run: Run, flow: GradientFlowRecord) -> Located:
    """Return the last line of the cell that makes the model, else the optimizer's first step."""
    lines = lines_giving(run.source, flow.twin)
    return line_in(run, lines[-1]) if lines else line_of(flow.place)
