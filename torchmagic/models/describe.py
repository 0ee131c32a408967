"""This file is the description of one model: tree, tensors, one forward on a twin, concerns, memory, in one record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from torchmagic.models.calls import Call, batch_call, likely_input, sized_call
from torchmagic.models.concerns import concerns_of
from torchmagic.models.running import Forward, forward_of
from torchmagic.models.sources import Source, as_source, unwrapped
from torchmagic.models.training_memory import USUAL, training_memory
from torchmagic.models.tree import Tree, held_tensors, is_lazy, module_parts, size_of, tree_of
from torchmagic.records.modelinfo import Held, ModelRecord, PipelineRecord, TrainingMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a user asked beyond the model itself: inputs, and the optimizer to count with."""

    input_size: Any = None
    dtypes: Sequence[torch.dtype] | None = None
    batch: Any = None
    optimizer: Any = None

    @property
    def runs(self) -> bool:
        """Whether the model is to be run."""
        return self.input_size is not None or self.batch is not None


def describe_model(value: Any, *, name: str = "", asked: Asked | None = None) -> ModelRecord | PipelineRecord:
    """Describe a model, or the models in an object, without changing anything about them.

    Args:
        value: A module, a wrapper around one, or what holds several.
        name: What the user calls it.
        asked: Inputs and optimizer; without inputs the model is not run.

    Raises:
        TypeError: If there is no model in it; one line.
        ValueError: If the inputs or the optimizer make no sense; one line.
    """
    asked = asked or Asked()
    if asked.input_size is not None and asked.batch is not None:
        raise ValueError("an input size and a batch came; give one of them")
    source = as_source(value)
    if source.model is None:
        return _pipeline(value, source, name, asked)
    return _described(source.model, name, asked, source.notes)


def _described(model: nn.Module, name: str, asked: Asked, notes: tuple[str, ...]) -> ModelRecord:
    tree = tree_of(model)
    call = _call(model, asked)
    forward = None if call is None else forward_of(model, tree, call)
    if forward is not None:
        tree, notes = forward.tree, notes + forward.notes
    parts = module_parts(tree) if forward is None else forward.parts
    return ModelRecord(
        name=name,
        class_name=parts[0].class_name,
        modules=parts,
        tensors=held_tensors(tree),
        concerns=concerns_of(tree, parts),
        forward=None if forward is None else forward.facts,
        memory=_memory(tree, asked.optimizer, forward),
        likely_input="" if call is not None else likely_input(model),
        notes=notes,
    )


def _call(model: nn.Module, asked: Asked) -> Call | None:
    if asked.batch is not None:
        return batch_call(model, asked.batch)
    if asked.input_size is None:
        return None
    return sized_call(model, asked.input_size, dtypes=asked.dtypes)


def _memory(tree: Tree, optimizer: Any, forward: Forward | None) -> tuple[TrainingMemory, ...]:
    parameters = [each for each in tree.tensors.values() if tree.held[id(each)] is Held.PARAMETER]
    if not any(each.requires_grad for each in parameters) or any(map(is_lazy, parameters)):
        return ()
    known = forward is not None and not forward.facts.error
    facts = forward.facts if forward is not None and known else None
    first = [] if optimizer is None else [optimizer]
    others = [each for each in USUAL if each != optimizer]
    return tuple(
        training_memory(
            parameters,
            each,
            buffers=sum(
                size_of(each)[1] for each in tree.tensors.values() if tree.held[id(each)] is not Held.PARAMETER
            ),
            batch=facts.input_bytes if facts else 0,
            activations=facts.saved_bytes if facts else None,
        )
        for each in (*first, *others)
    )


def _pipeline(value: Any, source: Source, name: str, asked: Asked) -> PipelineRecord:
    if asked.runs:
        first = source.components[0][0]
        raise ValueError(f"several models came and one input; name the model that it is for, such as {first}")
    models = [(part, unwrapped(model)) for part, model in source.components]
    described = [
        replace(_described(model, part, Asked(optimizer=asked.optimizer), notes), likely_input="")
        for part, (model, notes) in models
    ]
    once = {
        id(each): (tree.held[id(each)], each)
        for tree in [tree_of(model) for _, (model, _) in models]
        for each in tree.tensors.values()
    }
    parameters = [each for held, each in once.values() if held is Held.PARAMETER and not is_lazy(each)]
    return PipelineRecord(
        name=name,
        class_name=type(value).__name__,
        components=tuple(described),
        others=source.others,
        num_parameters=sum(each.numel() for each in parameters),
        num_bytes=sum(size_of(each)[1] for _, each in once.values()),
        notes=("several models: none of them was run",),
    )
