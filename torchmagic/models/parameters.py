"""This file is the parameters of what a user handed over, by name, each of them once."""

from typing import Any

from torch import nn

from torchmagic.models.sources import as_source, unwrapped
from torchmagic.models.tree import tree_of


def models_in(value: Any) -> dict[str, nn.Module]:
    """Return the models in what was handed over, out of compilers and data parallelism.

    Args:
        value: A module, a wrapper around one, or an object, list or dictionary that holds some, such as a pipeline.

    Returns:
        A single model under the empty name, several under the names that they have there.

    Raises:
        TypeError: If there is none; one line.
    """
    source = as_source(value)
    if source.model is not None:
        return {"": source.model}
    return {name: unwrapped(model)[0] for name, model in source.components}


def parameters_of(value: Any) -> dict[str, nn.Parameter]:
    """Return the parameters of a model by their ``named_parameters()`` names; of several models, with theirs before.

    Tied parameters are there once, under their first name.

    Args:
        value: As ``models_in`` takes it.

    Raises:
        TypeError: If there is no model; one line.
    """
    found: dict[int, tuple[str, nn.Parameter]] = {}
    for component, model in models_in(value).items():
        for name, parameter in model.named_parameters(prefix=component):
            found.setdefault(id(parameter), (name, parameter))
    return dict(found.values())


def names_of(value: Any) -> list[tuple[tuple[str, ...], nn.Parameter]]:
    """Return each parameter of a model once, with all names that it has, the first of them first.

    Args:
        value: As ``models_in`` takes it.

    Raises:
        TypeError: If there is no model; one line.
    """
    found: dict[int, tuple[list[str], nn.Parameter]] = {}
    for component, model in models_in(value).items():
        tree = tree_of(model)
        for tensor in tree.tensors.values():
            if isinstance(tensor, nn.Parameter):
                names = [f"{component}.{name}" if component else name for name in tree.names[id(tensor)]]
                found.setdefault(id(tensor), ([], tensor))[0].extend(names)
    return [(tuple(names), parameter) for names, parameter in found.values()]
