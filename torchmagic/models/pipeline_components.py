"""This file is the components of a pipeline, each with its parameters, kinds, mode and what is not finite in it."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from torchmagic.models.component_memory import MB
from torchmagic.models.concerns import nonfinite_of
from torchmagic.models.sources import Source, as_source, unwrapped
from torchmagic.models.tree import held_tensors, tree_of
from torchmagic.records.modelinfo import Held, HeldTensor


def pipeline_components(pipeline: Any) -> dict[str, Any]:
    """Take a pipeline apart; nothing is run.

    Args:
        pipeline: An object, dictionary or list that holds modules, such as a pipeline of ``diffusers``; or a module.

    Returns:
        ``pipeline`` (its class), ``total_parameters`` and ``trainable_parameters`` (elements, each tensor counted
        once), ``total_memory`` (MB of 2**20 bytes, of parameters and buffers), ``components`` (by name: ``class``,
        ``parameters``, ``trainable_parameters``, ``memory``, ``dtypes``, ``devices``, ``mode``, ``nonfinite``,
        ``shared_with``, ``notes``), ``others`` (class of what else it holds, by name), ``anomalies`` and ``notes`` (one
        line each).

    Raises:
        TypeError: If there is no module in it; one line.
    """
    source = as_source(pipeline)
    owner: dict[int, str] = {}
    components = {name: _component(model, name, owner) for name, model in _models(source)}
    once = [each for told in components.values() for each in told.pop("counted")]
    return {
        "pipeline": type(pipeline).__name__,
        "total_parameters": sum(each.num_elements for each in once if each.held is not Held.BUFFER),
        "trainable_parameters": sum(each.num_elements for each in once if each.trainable),
        "total_memory": sum(each.num_bytes for each in once if each.device != "meta") / MB,
        "components": components,
        "others": dict(source.others),
        "anomalies": [line for name, told in components.items() for line in _anomalies(name, told)],
        "notes": [*source.notes, *(note for told in components.values() for note in told["notes"])],
    }


def _models(source: Source) -> list[tuple[str, nn.Module]]:
    if source.model is not None:
        return [(type(source.model).__name__, source.model)]
    return list(source.components)


def _component(model: nn.Module, name: str, owner: dict[int, str]) -> dict[str, Any]:
    """Tell one component; ``counted`` is what no component before it has, whose names are in ``owner``."""
    model, notes = unwrapped(model)
    tree = tree_of(model)
    told = dict(zip(tree.tensors, held_tensors(tree), strict=True))
    shared = {owner[id(each)] for each in tree.tensors.values() if id(each) in owner}
    counted = [told[key] for key, each in tree.tensors.items() if id(each) not in owner]
    owner.update({id(each): name for each in tree.tensors.values() if id(each) not in owner})
    parameters = [each for each in told.values() if each.held is not Held.BUFFER]
    modes = {module.training for module in model.modules()}
    return {
        "class": type(model).__name__,
        "parameters": sum(each.num_elements for each in parameters),
        "trainable_parameters": sum(each.num_elements for each in parameters if each.trainable),
        "memory": sum(each.num_bytes for each in told.values() if each.device != "meta") / MB,
        "dtypes": _shares(parameters, "dtype"),
        "devices": _shares(parameters, "device"),
        "mode": "mixed" if len(modes) > 1 else "training" if True in modes else "evaluation",
        "nonfinite": nonfinite_of(tree),
        "shared_with": sorted(shared),
        "notes": list(notes),
        "counted": counted,
    }


def _shares(tensors: list[HeldTensor], field: str) -> dict[str, int]:
    """Count elements by dtype or device, the most common first."""
    counts: dict[str, int] = {}
    for each in tensors:
        kind = getattr(each, field)
        counts[kind] = counts.get(kind, 0) + each.num_elements
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def _anomalies(name: str, told: Mapping[str, Any]) -> list[str]:
    lines = [f"{name}.{each}: {text}" for each, text in told["nonfinite"].items()]
    if "meta" in told["devices"] and len(told["devices"]) > 1:
        lines.append(f"{name}: some of its parameters are on the meta device, without values")
    return lines
