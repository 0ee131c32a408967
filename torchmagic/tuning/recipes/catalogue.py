"""This file is the list of all recipes."""

from collections.abc import Iterable

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import Recipe
from torchmagic.tuning.recipes.amp import AMP
from torchmagic.tuning.recipes.channels_last import CHANNELS_LAST
from torchmagic.tuning.recipes.compilation import COMPILATION
from torchmagic.tuning.recipes.full_optimization import FULL_OPTIMIZATION
from torchmagic.tuning.recipes.fused_optimizer import FUSED_OPTIMIZER
from torchmagic.tuning.recipes.gradient_accumulation import GRADIENT_ACCUMULATION
from torchmagic.tuning.recipes.inference import INFERENCE
from torchmagic.tuning.recipes.memory_efficient import MEMORY_EFFICIENT
from torchmagic.tuning.recipes.none import NONE
from torchmagic.tuning.recipes.threads import THREADS

RECIPES = (
    NONE,
    AMP,
    COMPILATION,
    MEMORY_EFFICIENT,
    FULL_OPTIMIZATION,
    CHANNELS_LAST,
    FUSED_OPTIMIZER,
    GRADIENT_ACCUMULATION,
    INFERENCE,
    THREADS,
)


def recipe_of(mode: OptimizationMode) -> Recipe:
    """Return the recipe of a mode."""
    return next(recipe for recipe in RECIPES if recipe.mode == mode)


def check_options(options: Iterable[str]) -> None:
    """Accept options that some recipe reads.

    Raises:
        ValueError: If there is another among them; one line that lists those there are.
    """
    known = sorted({name for recipe in RECIPES for name in recipe.options})
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(f"there is no option {unknown[0]!r}; there are {', '.join(known)}")
