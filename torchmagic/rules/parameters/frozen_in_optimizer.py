"""An optimizer holds parameters that require no gradient.

*Symptom*: none as a rule; with weight decay or momentum from before they were frozen they may still move, and progress
counts more parameters than are trained.

*Why it happens*: ``optim.…(model.parameters())`` takes all parameters, frozen ones too.

*What to try*: give it what is trained: ``(p for p in model.parameters() if p.requires_grad)``.

*Source*: PyTorch documentation, "Autograd mechanics", on ``requires_grad``.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted, few
from torchmagic.analyses.optimizer_lines import place_of_building
from torchmagic.records.connection import GradientFlowRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.objective import GroupRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Frozen parameters from which on it is told.
MIN_FROZEN = 1


@rule
def frozen_in_optimizer(run: Run, *, min_frozen: int = MIN_FROZEN) -> Iterator[Finding]:
    """Report each optimizer that stepped and holds frozen parameters."""
    for flow in run.of(GradientFlowRecord):
        if flow.num_frozen < min_frozen or not flow.frozen:
            continue
        yield Finding(
            rule="frozen-in-optimizer",
            severity=Severity.INFO,
            confidence=0.95,
            title=f"{flow.optimizer} holds {counted(flow.num_frozen, 'frozen parameter')}",
            parameter=flow.frozen[0],
            module=flow.frozen[0].rpartition(".")[0] or None,
            optimizer=flow.optimizer,
            **line_of(_place(run, flow)),
            step=0,
            evidence={
                "frozen": few(flow.frozen, flow.num_frozen),
                "trainable": flow.num_trainable,
                "parameter groups": ", ".join(map(str, flow.groups)),
            },
            why="They require no gradient, so the optimizer has nothing to do for them.",
            fix=f"give it only (p for p in {flow.frozen[0].partition('.')[0]}.parameters() if p.requires_grad)",
        )


def _place(run: Run, flow: GradientFlowRecord) -> Place | None:
    """Return the line that builds the optimizer, else that of its first step."""
    groups = (each for each in run.of(GroupRecord) if each.optimizer == flow.optimizer)
    return next((place for each in groups if (place := place_of_building(run, each)) is not None), flow.place)
