"""Steps are trained while dropout or batch norm is in evaluation mode.

*Symptom*: no regularisation; batch statistics stay where they were; training goes on worse after the first validation.

*Why it happens*: ``model.eval()`` was called for a validation, or in an earlier cell, and ``model.train()`` was not
called again before the next batch. A model with a ``train()`` of its own may do something else there, or set its own
flag and forget its parts.

*What to try*: call ``model.train()`` at the start of every training epoch; where that is another method,
``nn.Module.train(model)``. A ``train()`` of one's own calls ``super().train(mode)``. To freeze batch norm on purpose,
freeze its parameters as well: ``requires_grad_(False)``.

*Source*: PyTorch documentation of ``Module.eval``; joeynmt issue 184, simpletransformers issue 941.
"""

from collections.abc import Iterator

from torchmagic.analyses.counting import counted, few
from torchmagic.analyses.uncalled_methods import told_at_uncalled
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.records.protocol import EvalModeRecord, OwnTrain
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Steps that must have been trained in the wrong mode.
MIN_STEPS = 3


@rule
def eval_mode_training(run: Run) -> Iterator[Finding]:
    """Report each model that trained for several steps with such modules in evaluation mode."""
    for model in dict.fromkeys(record.model for record in run.of(EvalModeRecord)):
        records = [record for record in run.of(EvalModeRecord) if record.model == model]
        if len(records) < MIN_STEPS:
            continue
        last = records[-1]
        kinds = ", ".join(dict.fromkeys(last.class_names))
        finding = Finding(
            rule="eval-mode-training",
            severity=Severity.ERROR,
            confidence=0.95,
            title=f"{model} trains with {counted(len(last.modules), 'module')} ({kinds}) in evaluation mode",
            module=last.modules[0],
            **line_of(_place(last)),
            step=records[0].step,
            evidence={"steps": len(records), "threshold": MIN_STEPS, "modules": few(last.modules)},
            why=f"{_who(last)}, although these steps update the parameters of these modules.",
            fix=_fix(last),
        )
        yield told_at_uncalled(run, finding, "train")


def _place(record: EvalModeRecord) -> Place | None:
    alone = record.train if record.own_train is OwnTrain.ALONE else None
    return alone or record.switched or record.forward


def _fix(record: EvalModeRecord) -> str:
    if record.own_train is OwnTrain.ALONE:
        return "return super().train(mode)  # in train(), which sets the flag of the model alone"
    if record.own_train is OwnTrain.OTHER:
        return (
            f"nn.Module.train({record.model})  # before the first batch; {record.model}.train() is a method of its own"
        )
    return f"{record.model}.train()  # at the start of each training epoch"


def _who(record: EvalModeRecord) -> str:
    if record.own_train is OwnTrain.ALONE:
        return "The model has a train() of its own, which does not reach its parts: they stay in evaluation mode"
    if record.switched is None and record.own_train is OwnTrain.OTHER:
        return (
            "They were put into evaluation mode without torch's eval(), and the model's own train() does not end that"
        )
    if record.switched is None:
        return "Code before this cell left them in evaluation mode, and nothing here called train()"
    return "eval() was called and train() was not called again"
