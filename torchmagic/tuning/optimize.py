"""This file is ``optimize_model``: an optimised model of a model, or a decorator that optimises what it is given."""

import functools
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, overload

from torch import nn

from torchmagic.tuning.modes import OptimizationMode, mode_of
from torchmagic.tuning.optimized_model import OptimizedModel
from torchmagic.tuning.recipes.catalogue import check_options

_FULL = OptimizationMode.FULL_OPTIMIZATION
_F = TypeVar("_F", bound=Callable[..., Any])


@overload
def optimize_model(
    model: nn.Module, optimization_mode: OptimizationMode | str = ..., **options: Any
) -> OptimizedModel: ...
@overload
def optimize_model(model: _F, optimization_mode: OptimizationMode | str = ..., **options: Any) -> _F: ...
@overload
def optimize_model(
    model: None = None, optimization_mode: OptimizationMode | str = ..., **options: Any
) -> Callable[[_F], _F]: ...


def optimize_model(model: Any = None, optimization_mode: OptimizationMode | str = _FULL, **options: Any) -> Any:
    """Return a model that runs faster or smaller and shares the weights of the given one; or decorate a function.

    The given model is not changed. The optimised one is another module with the same parameters, buffers and parts
    under the same names: training either trains both, and a ``state_dict`` of either fits both. What is at work, and
    what fell back and why, is told by its ``optimization_metrics``.

    As a decorator, with or without a call, it hands the function an optimised model for every argument that is a
    module with parameters. It keeps one for each model, for as long as that model lives.

    Args:
        model: A module; or the function to decorate; or nothing, to decorate what follows.
        optimization_mode: What is done: an ``OptimizationMode`` or its name.
        options: Choices of the recipes: ``micro_batches`` (MEMORY_EFFICIENT), ``compile_options`` (COMPILATION, the
            keyword arguments of ``torch.compile``), ``dtype`` (AMP), ``num_threads`` (THREADS).

    Returns:
        An ``OptimizedModel``; or the decorated function; or the decorator.

    Raises:
        TypeError: If what came is neither a module nor a function, or is a TorchScript model.
        ValueError: If there is no such mode or option; one line that lists them.
    """
    mode = mode_of(optimization_mode)
    check_options(options)
    if model is None:
        return functools.partial(_decorated, mode=mode, options=options)
    if isinstance(model, OptimizedModel):
        model = model.original_model
    if isinstance(model, nn.Module):
        return OptimizedModel(model, mode, options)
    if callable(model) and not isinstance(model, type):
        return _decorated(model, mode=mode, options=options)
    raise TypeError(f"a {type(model).__name__} came; give a torch.nn.Module, or a function to decorate")


def _decorated(function: Callable[..., Any], *, mode: OptimizationMode, options: dict[str, Any]) -> Any:
    known: weakref.WeakKeyDictionary[nn.Module, OptimizedModel] = weakref.WeakKeyDictionary()

    def optimised(value: Any) -> Any:
        if not isinstance(value, nn.Module) or isinstance(value, OptimizedModel | nn.modules.loss._Loss):  # noqa: SLF001 - has no public name
            return value
        if next(value.parameters(), None) is None:
            return value
        if value not in known:
            known[value] = OptimizedModel(_alias(value), mode, options)
        return known[value]

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*map(optimised, args), **{name: optimised(each) for name, each in kwargs.items()})

    return run


def _alias(model: nn.Module) -> nn.Module:
    """Return a second object of the model's class that has the very same attributes, and does not keep it alive."""
    alias: nn.Module = object.__new__(type(model))
    object.__setattr__(alias, "__dict__", vars(model))
    return alias
