"""This file is the border: what a user may hand over as a model, and the models that are in it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

# Wrappers around a model that change how it runs and not what it is, with the attribute that holds it.
_WRAPPERS = {
    "OptimizedModule": ("_orig_mod", "compiled: the model inside was looked at, and run without the compiler"),
    "DataParallel": ("module", "inside DataParallel: the model inside was looked at, on its own device"),
    "DistributedDataParallel": ("module", "inside DistributedDataParallel: the model inside was looked at"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What was handed over.

    Args:
        model: The model, when it is one.
        components: Models by name, when they are several.
        others: Name and class of what else is there.
        notes: What a reader has to know.
    """

    model: nn.Module | None = None
    components: tuple[tuple[str, nn.Module], ...] = ()
    others: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def as_source(value: Any) -> Source:
    """Find the models in what was handed over.

    Args:
        value: A module, a wrapper around one, a dictionary or list of modules, or an object that has some as
            attributes, such as a pipeline.

    Raises:
        TypeError: If there is none; one line says what came, what was wanted and what to do.
    """
    if isinstance(value, nn.Module):
        model, notes = unwrapped(value)
        return Source(model=model, notes=notes)
    if isinstance(value, type) or (callable(value) and not _has_attributes(value)):
        raise TypeError(_refusal(value))
    parts = _parts(value)
    components = [(name, part) for name, part in parts if isinstance(part, nn.Module)]
    if not components:
        raise TypeError(_refusal(value))
    others = [(name, type(part).__name__) for name, part in parts if _is_other(part)]
    return Source(components=tuple(components), others=tuple(others))


def unwrapped(model: nn.Module) -> tuple[nn.Module, tuple[str, ...]]:
    """Take a model out of compilers and data parallelism, with a note for each layer taken off."""
    notes: list[str] = []
    while (wrapper := _WRAPPERS.get(type(model).__name__)) is not None:
        inner = vars(model).get("_modules", {}).get(wrapper[0])
        if not isinstance(inner, nn.Module):
            break
        notes.append(wrapper[1])
        model = inner
    return model, tuple(notes)


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [(str(name), part) for name, part in value.items()]
    if isinstance(value, list | tuple):
        return [(f"[{index}]", part) for index, part in enumerate(value)]
    # Plain attributes only: a property could load or make something.
    parts = dict(vars(value)) if _has_attributes(value) else {}
    if dataclasses.is_dataclass(value):
        parts |= {each.name: getattr(value, each.name, None) for each in dataclasses.fields(value)}
    return list(parts.items())


def _has_attributes(value: Any) -> bool:
    return hasattr(value, "__dict__") and any(isinstance(part, nn.Module) for part in vars(value).values())


def _is_other(part: Any) -> bool:
    return not isinstance(part, nn.Module | str | int | float | bool | None)


def _refusal(value: Any) -> str:
    kind = value if isinstance(value, type) else type(value)
    came = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    wanted = "a model was wanted (a torch.nn.Module, or an object, list or dict that holds some)"
    if isinstance(value, type):
        cure = f"make one: {kind.__qualname__}(...)" if issubclass(value, nn.Module) else "pass the model itself"
        return f"{wanted}, the class {came} came; {cure}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{wanted}, {came} came; %tensorinfo tells about tensors"
    if isinstance(value, Mapping) and value and all(hasattr(each, "shape") for each in value.values()):
        return f"{wanted}, a dict of tensors came; load it into its model with model.load_state_dict(...) first"
    if callable(value):
        return f"{wanted}, {came} came; pass the model that it returns or belongs to"
    return f"{wanted}, {came} came; name the variable that holds the model"
