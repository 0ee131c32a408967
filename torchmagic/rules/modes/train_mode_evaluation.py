"""A model is evaluated while its dropout or batch norm is in training mode.

*Symptom*: validation scores are noisy and too low; they change when the batch size changes.

*Why it happens*: ``model.eval()`` was not called before the evaluation, or the model has a ``train`` of its own, which
``eval`` calls, and which does not pass the mode on to its parts. Dropout then drops units of the prediction;
batch norm uses the statistics of the batch at hand and moves its own towards the evaluation data, ``no_grad`` or not.

*What to try*: call ``model.eval()`` before an evaluation and ``model.train()`` after it.

*Source*: PyTorch documentation of ``Module.eval`` and of ``no_grad``; PyTorch forum, "model.eval() vs torch.no_grad()".
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import few
from torchmagic.analyses.evaluation_rhythm import adversaries_train, is_part_of_steps
from torchmagic.analyses.uncalled_methods import told_at_uncalled
from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Batches evaluated in all passes together.
MIN_BATCHES = 2


@rule
def train_mode_evaluation(run: Run, *, min_batches: int = MIN_BATCHES) -> Iterator[Finding]:
    """Report each line at which a model that also trains, or an average of one, was evaluated in training mode."""
    records = [each for each in run.of(EvaluationRecord) if (each.training or each.alone) and each.awake]
    records = [record for record in records if record.also_trained or _is_forgotten(run, record)]
    adversaries = adversaries_train(run)
    told: set[tuple[str, str]] = set()
    for place in dict.fromkeys(record.place for record in records):
        here = [record for record in records if record.place == place]
        batches = sum(record.num_batches for record in here)
        if batches < min_batches or is_part_of_steps(run, here) or (adversaries and not _is_measured(here)):
            continue
        first = here[0]
        if (first.model, first.loader) in told:
            continue
        told.add((first.model, first.loader))
        yield told_at_uncalled(run, _finding(here, batches, min_batches), "eval")


def _is_forgotten(run: Run, record: EvaluationRecord) -> bool:
    """Whether a model that nobody trains, such as an average of weights, is evaluated as others are in their mode."""
    if record.grad_enabled or not record.num_losses:
        return False
    beside = [each for each in run.of(EvaluationRecord) if each.place == record.place and each.model != record.model]
    return any(each.num_losses and not each.training for each in beside)


def _is_measured(here: list[EvaluationRecord]) -> bool:
    """Whether it ran on a loader's batches or had a loss, as samples of a generator have not."""
    return any(record.loader or record.num_losses for record in here)


def _finding(here: list[EvaluationRecord], batches: int, min_batches: int) -> Finding:
    first = here[0]
    return Finding(
        rule="train-mode-evaluation",
        severity=Severity.WARNING,
        confidence=0.92 if not first.grad_enabled else 0.85,
        title=f"{first.model} is evaluated in training mode: "
        + (f"its eval() does not reach {first.awake[0]}" if first.alone else f"{first.awake[0]} is active"),
        module=first.awake[0],
        **line_of(first.place),
        step=first.step,
        evidence={
            "passes": len(here),
            "batches": batches,
            "threshold": min_batches,
            "active": few(first.awake),
        },
        why="Nothing is learned from these forwards, yet dropout drops units and batch norm uses, and moves to, the "
        "statistics of each evaluated batch.",
        fix=_fix(first),
    )


def _fix(first: EvaluationRecord) -> str:
    if first.alone:
        return "return super().train(mode)  # in the model's own train(), which is to reach its parts"
    return f"{first.model}.eval()  # before the evaluation" + (
        f", and {first.model}.train() after it" if first.also_trained else ""
    )
