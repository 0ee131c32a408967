"""This file is the stand-in of a model on copies: it runs by a mode's recipe, and hands on what it gave."""

from collections.abc import Callable
from typing import Any

from torch import nn

from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.optimized_model import SHARED, OptimizedModel
from torchmagic.tuning.setup import Setup


class TunedModel(OptimizedModel):
    """An optimised model whose setup was made before, with its optimizer.

    Args:
        setup: How it runs.
        mode: The mode.
        look: Told of the outputs of each call.
    """

    def __init__(self, setup: Setup, mode: OptimizationMode, look: Callable[[Any], None]) -> None:
        nn.Module.__init__(self)
        tables = {name: vars(setup.model)[name] for name in SHARED}
        own = {"mode": mode, "setup": setup, "seconds": 0.0, "look": look}
        vars(self).update(tables, **{f"_torchmagic_{name}": value for name, value in own.items()})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model; takes and returns what the model does."""
        outputs = self._torchmagic_setup.call(*args, **kwargs)
        self._torchmagic_look(outputs)
        return outputs
