"""This file is the refusal of what a debugger's method cannot work with, in one line and before anything is done."""

from typing import Any

from torchmagic.analyses.counting import counted
from torchmagic.models.sources import as_source


def any_model(value: Any) -> Any:
    """Return what came as the model, which is one or holds some.

    Raises:
        TypeError: If there is none; one line.
    """
    as_source(value)
    return value


def able_model(value: Any, deed: str) -> Any:
    """Return what came as the model, which is one, or can do the one thing that is asked of it.

    Args:
        value: What came.
        deed: The name of what is asked of it, such as ``parameters``.

    Raises:
        TypeError: If it cannot; one line says what came, what was wanted and what to do.
    """
    if isinstance(value, type) or not hasattr(value, deed):
        models = as_source(value).components  # raises where there are none
        came = f"{type(value).__name__} with {counted(len(models), 'model')}"
        raise TypeError(f"one model was wanted, {came} came; pass the one that is meant")
    return value


def able_loss(value: Any) -> Any:
    """Return what came as the loss, which can be gone back from.

    Raises:
        TypeError: If it cannot; one line.
    """
    if not hasattr(value, "backward"):
        came = type(value).__name__
        raise TypeError(f"a loss was wanted (a tensor), {came} came; pass what the criterion returned, not its .item()")
    return value


def able_optimizer(value: Any) -> Any:
    """Return what came as the optimizer, which makes steps.

    Raises:
        TypeError: If it does not; one line.
    """
    if isinstance(value, type) or not hasattr(value, "step"):
        came = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(f"an optimizer of torch.optim was wanted, {came} came; pass the one that steps the model")
    return value
