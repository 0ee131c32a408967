"""This file is the form of a recipe, and how one is applied."""

from collections.abc import Callable
from dataclasses import dataclass

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.setup import Setup


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One way to make a model or its training faster or smaller.

    Args:
        mode: Its name.
        changes: What it changes.
        applies: When it applies.
        exactness: What it may cost in exactness.
        unfit: Returns why it does not apply to a setup, in one line; nothing if it does.
        apply: Returns the changed setup.
        options: Names of the options that it reads.
    """

    mode: OptimizationMode
    changes: str
    applies: str
    exactness: str
    unfit: Callable[[Setup], str]
    apply: Callable[[Setup], Setup]
    options: tuple[str, ...] = ()


def applied(recipe: Recipe, setup: Setup) -> Setup:
    """Apply a recipe; one that does not fit leaves the setup as it is, and its notes say why."""
    reason = recipe.unfit(setup)
    if reason:
        setup.notes.refuse(recipe.mode, reason)
        return setup
    setup.notes.in_force.append(recipe.mode)
    return recipe.apply(setup)


def fits_all(_setup: Setup) -> str:
    """Return no reason against any setup."""
    return ""
