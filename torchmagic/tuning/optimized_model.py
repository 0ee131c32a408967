"""This file is the optimised model: a thin module around the user's, with the same weights under the same names."""

import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from torchmagic.tuning.metrics import OptimizationMetrics
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.recipe import applied
from torchmagic.tuning.recipes.catalogue import recipe_of
from torchmagic.tuning.setup import Setup

# The tables of a module: the wrapper's are the model's own. Its other attributes are asked of the model.
SHARED = "_parameters", "_buffers", "_modules", "_non_persistent_buffers_set"


class OptimizedModel(nn.Module):
    """A model that runs by a mode's recipes; its weights, buffers, parts and attributes are those of the model itself.

    Training one trains the other. Names in ``state_dict()``, ``named_parameters()`` and ``named_modules()`` are the
    model's own; hooks of the model run as before. A copy, or one that was pickled, is optimised anew.

    Args:
        model: The model; it is not changed.
        mode: What is done.
        options: Choices of the recipes, by name.

    Raises:
        TypeError: If it is a TorchScript model.
    """

    def __init__(self, model: nn.Module, mode: OptimizationMode, options: Mapping[str, Any] | None = None) -> None:
        if isinstance(model, torch.jit.ScriptModule):
            raise TypeError("a TorchScript model came, which is compiled already; give the module that it was made of")
        super().__init__()
        begin = time.perf_counter()
        own = vars(self)
        own["_torchmagic_mode"] = mode
        setup = Setup(model=model, call=model, options=dict(options or {}))
        own["_torchmagic_setup"] = applied(recipe_of(mode), setup)
        own.update({name: vars(model)[name] for name in SHARED})
        own["_torchmagic_seconds"] = time.perf_counter() - begin

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the model; takes and returns what the model does."""
        return self._torchmagic_setup.call(*args, **kwargs)

    @property
    def original_model(self) -> nn.Module:
        """The model that was given."""
        model: nn.Module = self._torchmagic_setup.model
        return model

    @property
    def optimization_mode(self) -> OptimizationMode:
        """The mode that was asked for."""
        mode: OptimizationMode = self._torchmagic_mode
        return mode

    @property
    def optimization_metrics(self) -> OptimizationMetrics:
        """What is at work now; a recipe that fell back at the first call is told by ``notes``."""
        setup: Setup = self._torchmagic_setup
        in_force = setup.notes.in_force
        return OptimizationMetrics(
            mode=self.optimization_mode,
            execution_time=self._torchmagic_seconds,
            amp_enabled=OptimizationMode.AMP in in_force,
            compilation_enabled=OptimizationMode.COMPILATION in in_force,
            checkpointing_enabled=OptimizationMode.MEMORY_EFFICIENT in in_force,
            notes=setup.notes.lines(),
        )

    @property
    def training(self) -> bool:
        """Whether the model is in training mode."""
        setup = vars(self).get("_torchmagic_setup")
        return setup is not None and setup.model.training

    @training.setter
    def training(self, value: bool) -> None:
        if "_torchmagic_setup" in vars(self):
            self.original_model.training = value

    def train(self, mode: bool = True) -> "OptimizedModel":  # noqa: FBT001, FBT002 - torch's signature
        """Put the model into training mode, or into evaluation mode."""
        self.original_model.train(mode)
        return self

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """Return the model's own state, under its own names."""
        return self.original_model.state_dict(*args, **kwargs)

    def load_state_dict(self, state_dict: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Load a state of the model."""
        return self.original_model.load_state_dict(state_dict, *args, **kwargs)

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self.original_model._load_from_state_dict(*args, **kwargs)  # noqa: SLF001 - a module may have its own

    def _apply(self, *args: Any, **kwargs: Any) -> "OptimizedModel":
        self.original_model._apply(*args, **kwargs)  # type: ignore[no-untyped-call]  # noqa: SLF001 - RNNs have their own
        return self

    def extra_repr(self) -> str:
        """Return the mode and the class of the model."""
        return f"{self.optimization_mode.value}, {type(self.original_model).__name__}"

    def __getattr__(self, name: str) -> Any:
        if "_torchmagic_setup" not in vars(self):
            return super().__getattr__(name)
        return getattr(self.original_model, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_torchmagic_setup" not in vars(self):
            super().__setattr__(name, value)
        else:
            setattr(self.original_model, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return OptimizedModel, (self.original_model, self.optimization_mode, self._torchmagic_setup.options)
