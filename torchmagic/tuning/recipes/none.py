"""This file is the recipe that changes nothing: the plain loop, which others are compared with."""

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe, fits_all
from torchmagic.tuning.setup import Setup


def _unchanged(setup: Setup) -> Setup:
    return setup


NONE = Recipe(
    mode=OptimizationMode.NONE,
    changes="Nothing.",
    applies="Always.",
    exactness="The same bits.",
    unfit=fits_all,
    apply=_unchanged,
)
