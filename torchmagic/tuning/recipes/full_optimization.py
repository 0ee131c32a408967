"""This file is the recipe that applies all others that make a step faster without changing what is trained."""

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe, applied, fits_all
from torchmagic.tuning.recipes.amp import AMP
from torchmagic.tuning.recipes.channels_last import CHANNELS_LAST
from torchmagic.tuning.recipes.compilation import COMPILATION
from torchmagic.tuning.recipes.fused_optimizer import FUSED_OPTIMIZER
from torchmagic.tuning.setup import Setup

# The first is innermost: what is compiled runs under autocast.
PARTS = (COMPILATION, AMP, CHANNELS_LAST, FUSED_OPTIMIZER)


def _apply(setup: Setup) -> Setup:
    for recipe in PARTS:
        setup = applied(recipe, setup)
    return setup


FULL_OPTIMIZATION = Recipe(
    mode=OptimizationMode.FULL_OPTIMIZATION,
    changes="COMPILATION, AMP, CHANNELS_LAST and FUSED_OPTIMIZER together. MEMORY_EFFICIENT is not among them, since "
    "it trades time for memory, nor THREADS, which is a matter of the machine.",
    applies="Always; each part where it applies.",
    exactness="That of its parts.",
    unfit=fits_all,
    apply=_apply,
    options=(*COMPILATION.options, *AMP.options),
)
