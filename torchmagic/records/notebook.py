"""This file is the notebook: what a cell found when it began, left there by the cells before it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalModesRecord:
    """Torch's global modes, where the cell began with others than a fresh kernel has.

    Args:
        changed: Call that changes a mode, such as ``torch.set_grad_enabled``, to the value that was found.
        kept: Those of the calls whose mode was still the same when the cell ended.
    """

    changed: Mapping[str, str]
    kept: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RerunRecord:
    """A run of the very same source came before, in this kernel.

    Args:
        times: How many such runs made steps.
        steps: Optimizer steps that they made together.
    """

    times: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerStateRecord:
    """An optimizer began the run with state of earlier steps.

    Args:
        optimizer: Name of the optimizer.
        steps: Steps that it had made; None where its state does not tell.
        keys: Names of what it keeps for a parameter, such as ``exp_avg``.
    """

    optimizer: str
    steps: int | None
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedHookRecord:
    """The same function hangs more than once on a module or parameter.

    Args:
        subject: Path of the module, or name of the parameter.
        hook: Name of the function.
        how: How it was registered, such as ``register_forward_hook``.
        count: How many of it there are.
        at_start: How many of them were there when the model was first called in this run.
    """

    subject: str
    hook: str
    how: str
    count: int
    at_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftoverGradientsRecord:
    """The first step of the run followed gradients to which code before the run had added.

    Args:
        optimizer: Name of the optimizer.
        num_parameters: Parameters whose gradient held something when the run began, and was added to.
        total: Parameters of the optimizer that had a gradient.
        share: Length of what was left over, over the length of the gradients that the step followed.
    """

    optimizer: str
    num_parameters: int
    total: int
    share: float
