"""This file is the check of a whole model: sound parameters that fit together, and outputs that are finite."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from torch import nn

from torchmagic.models.calls import Call, batch_call, sized_call
from torchmagic.models.concerns import concerns_of
from torchmagic.models.output_checks import Outputs, outputs_of
from torchmagic.models.parameters import models_in
from torchmagic.models.tree import module_parts, tree_of
from torchmagic.records.modelinfo import Concern

# What a check is about; other concerns, such as tied weights, are told by ``%modelinfo``.
CHECKED = {
    "non-finite": "parameters_finite",
    "odd-dtype": "dtypes_consistent",
    "odd-device": "devices_consistent",
    "on-meta": "devices_consistent",
    "shared-memory": "memory_separate",
    "unregistered": "all_registered",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelValidation:
    """What a check of a model found; it is true where nothing is wrong.

    Args:
        parameters_finite: Whether no parameter or buffer has a value that is NaN or infinite.
        dtypes_consistent: Whether no tensor has another dtype than its siblings.
        devices_consistent: Whether none is on another device than its siblings, or on the meta device beside others.
        memory_separate: Whether no two parameters lie over the same memory.
        all_registered: Whether no plain list or dictionary hides modules or parameters.
        outputs_finite: Whether the outputs have no NaN and no infinity; minus infinity, which masks and
            log-probabilities have, is told and not wrong. None where the model was not run or raised.
        error: What the forward raised, in one line; empty where it did not.
        problems: What is wrong, one line each.
        remarks: What is worth knowing and not wrong, one line each.
    """

    parameters_finite: bool = True
    dtypes_consistent: bool = True
    devices_consistent: bool = True
    memory_separate: bool = True
    all_registered: bool = True
    outputs_finite: bool | None = None
    error: str = ""
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.is_valid

    def to_dict(self) -> dict[str, Any]:
        """Return the same as a dictionary of truth values and texts."""
        return {"is_valid": self.is_valid, **asdict(self)}


def validate_model(model: Any, inputs: Any = None, *, input_size: Any = None) -> ModelValidation:
    """Check the parameters of a model and, with an input, what comes out of it.

    The model is not run: a copy that shares its weights is, so modes, buffers, gradients, hooks, random numbers and
    the inputs stay as they are, bit for bit.

    Args:
        model: A module, a wrapper around one, or an object that holds some, such as a pipeline (without inputs).
        inputs: A tensor, tuple, dictionary or loader, as a training loop would give it; None does not run the model.
        input_size: Instead of inputs the size of a made-up one, such as ``(1, 3, 32, 32)``.

    Raises:
        TypeError: If there is no model; one line.
        ValueError: If the inputs make no sense; one line.
    """
    models = models_in(model)
    if inputs is not None and input_size is not None:
        raise ValueError("inputs and an input size came; give one of them")
    runs = inputs is not None or input_size is not None
    if runs and len(models) > 1:
        first = next(iter(models))
        raise ValueError(f"several models came and one input; name the model that it is for, such as {first}")
    found = [(name, concern) for name, each in models.items() for concern in _concerns(each)]
    wrong = [(name, concern) for name, concern in found if concern.is_wrong]
    flags: dict[str, Any] = {CHECKED[concern.kind]: False for _, concern in wrong if concern.kind in CHECKED}
    validation = ModelValidation(
        **flags,
        problems=tuple(_told(*each) for each in wrong),
        remarks=tuple(_told(name, concern) for name, concern in found if not concern.is_wrong),
    )
    if not runs:
        return validation
    only = next(iter(models.values()))
    return _with_outputs(validation, outputs_of(only, tree_of(only), _call(only, inputs, input_size)))


def _concerns(model: nn.Module) -> Iterator[Concern]:
    tree = tree_of(model)
    yield from concerns_of(tree, module_parts(tree))


def _call(model: nn.Module, inputs: Any, input_size: Any) -> Call:
    return batch_call(model, inputs) if inputs is not None else sized_call(model, input_size)


def _told(component: str, concern: Concern) -> str:
    names = [f"{component}.{name}" if component else name for name in concern.names]
    return f"{', '.join(names)}: {concern.text}"


def _with_outputs(validation: ModelValidation, outputs: Outputs) -> ModelValidation:
    problems = list(outputs.problems)
    if outputs.error:
        problems.append(f"its forward raises {outputs.error}")
    return replace(
        validation,
        outputs_finite=None if outputs.error else not outputs.problems,
        error=outputs.error,
        problems=validation.problems + tuple(problems),
        remarks=validation.remarks + outputs.remarks,
    )
