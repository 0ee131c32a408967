"""This file reads what the modules of a model are and how those of torch's own are set, never by the user's code."""

from collections import Counter
from itertools import islice
from typing import Any

from torch import nn

from torchmagic.probes.module_parts import modules_of

# Modules of a model that are looked at.
MOST_MODULES = 10_000
# Settings that torch does not list with its constants.
UNLISTED = ("p", "dropout", "eps", "momentum")
# Sizes are told by the number of parameters; devices and places of memory are no settings.
SIZES = frozenset({
    "in_features", "out_features", "in_channels", "out_channels", "in1_features", "in2_features", "num_features",
    "num_embeddings", "embedding_dim", "input_size", "hidden_size", "normalized_shape", "num_channels", "inplace",
})  # fmt: skip


def layer_settings(model: nn.Module) -> dict[str, str]:
    """Return how many modules of each class a model has, and what those of torch's own are set to.

    Args:
        model: The model; of very many modules the first ones are looked at.
    """
    counts = Counter[str]()
    settings: dict[str, dict[str, None]] = {}
    for module in islice(modules_of(model), MOST_MODULES):
        kind = type(module)
        counts[kind.__name__] += 1
        if kind.__module__.startswith("torch.nn."):
            for name, value in _own(module):
                settings.setdefault(f"{kind.__name__} {name.replace('_', ' ')}", {})[value] = None
    return {f"{name} layers": str(count) for name, count in counts.items()} | {
        name: ", ".join(values) for name, values in settings.items()
    }


def _own(module: nn.Module) -> list[tuple[str, str]]:
    """Return the settings of a module of torch's own."""
    listed = (*getattr(type(module), "__constants__", ()), *UNLISTED)
    names = [name for name in dict.fromkeys(listed) if name not in SIZES and not name.startswith("_")]
    return [(name, _word(module.__dict__[name])) for name in names if is_setting(module.__dict__.get(name))]


def is_setting(value: Any) -> bool:
    """Whether a value is one that a setting has: a truth value, a number, a word, or a few of these."""
    if type(value) in (tuple, list):
        return 0 < len(value) <= len(UNLISTED) and all(type(each) in (bool, int, float) for each in value)
    return type(value) in (bool, int, float, str)


def _word(value: Any) -> str:
    if type(value) is bool:
        return "yes" if value else "no"
    return " ".join(map(str, value)) if type(value) in (tuple, list) else str(value)
