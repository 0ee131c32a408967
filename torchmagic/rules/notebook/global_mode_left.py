"""The cell ran with a global mode of torch that an earlier cell had changed.

*Symptom*: a cell behaves otherwise than the same code does in a fresh kernel: losses without a graph, tensors in
float64, or operators that refuse to run.

*Why it happens*: ``torch.set_grad_enabled(False)``, ``torch.set_default_dtype`` and their like hold for the whole
process. Called in one cell, they hold in all later ones.

*What to try*: use the context manager, which ends with its block (``with torch.no_grad():``), or set the mode back at
the end of the cell that needs it.

*Source*: PyTorch documentation, "Locally disabling gradient computation"; Pimentel et al., "A large-scale study about
quality and reproducibility of Jupyter notebooks", MSR 2019 (hidden state).
"""

from collections.abc import Iterator

from torchmagic.records.finding import Finding, Severity
from torchmagic.records.notebook import GlobalModesRecord
from torchmagic.rules.rule import rule
from torchmagic.session.run import Run

# How a cell gives each mode the value of a fresh kernel.
BACK = {
    "torch.set_grad_enabled": "torch.set_grad_enabled(True)",
    "torch.set_default_dtype": "torch.set_default_dtype(torch.float32)",
    "torch.set_default_device": 'torch.set_default_device("cpu")',
    "torch.use_deterministic_algorithms": "torch.use_deterministic_algorithms(False)",
}


@rule
def global_mode_left(run: Run) -> Iterator[Finding]:
    """Report modes that the cell found changed, and left as they were."""
    for record in run.of(GlobalModesRecord):
        modes = {call: value for call, value in record.changed.items() if call in record.kept}
        if not modes:
            continue
        said = ", ".join(f"{call}({value})" for call, value in modes.items())
        backs = [BACK[call] for call in modes if call in BACK]
        yield Finding(
            rule="global-mode-left",
            severity=Severity.INFO,
            confidence=0.95,
            title=f"{said} was still on from an earlier cell",
            evidence=modes,
            why="These modes hold for the whole process: the cell found them changed, and ran with them to its end.",
            fix="; ".join(backs) or "end the `with` block that an earlier cell entered, or restart the kernel",
        )
