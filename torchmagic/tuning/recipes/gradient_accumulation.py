"""This file is the recipe for batches in pieces: several small backwards, one optimizer step, the same gradient."""

from dataclasses import replace

from torch import nn

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.setup import Setup

PARTS = 4
_MIXING = nn.modules.batchnorm._BatchNorm  # noqa: SLF001 - the class of all batch norms has no public name


def _unfit(setup: Setup) -> str:
    if setup.optimizer is None:
        return "it changes the training loop, not the model: use PyTorchOptimizer.optimize_training_loop"
    return ""


def _apply(setup: Setup) -> Setup:
    if any(isinstance(each, _MIXING) and each.training for each in setup.model.modules()):
        setup.notes.remarks.append("batch norm sees pieces instead of whole batches, so results differ")
    return replace(setup, parts=int(setup.options.get("parts") or PARTS))


GRADIENT_ACCUMULATION = Recipe(
    mode=OptimizationMode.GRADIENT_ACCUMULATION,
    changes=f"Each batch is cut into {PARTS} pieces with a backward of their own, whose gradients add up to the "
    "batch's; one optimizer step follows.",
    applies="Batches whose rows do not depend on each other, and losses that are a mean or a sum over them.",
    exactness="Sums run in another order: the last bits differ. Batch norm sees the pieces, dropout draws in another "
    "order: with them results differ.",
    unfit=_unfit,
    apply=_apply,
    options=("parts",),
)
