"""This file is ``modelinfo``: everything about one model, for scripts, tests and notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torchmagic.models.describe import Asked, describe_model
from torchmagic.records.modelinfo import ModelRecord, PipelineRecord
from torchmagic.views.modelinfo import model_page
from torchmagic.views.page import Page
from torchmagic.views.pipeline import pipeline_page
from torchmagic.views.self_shown import SelfShown

_NUM_ROWS = 60  # of the tree in text; html scrolls
_NUM_HTML_ROWS = 400
_WIDTH = 120


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelInfo(SelfShown):
    """What is known about a model; it holds numbers and text, not the model.

    Args:
        record: The plain facts, for programs.
        page: The same for readers; ``print`` shows it as text, a notebook as HTML.
    """

    record: ModelRecord | PipelineRecord
    page: Page

    def __str__(self) -> str:
        # The skins are loaded only when something is shown.
        from torchmagic.views.skins.text import as_text  # noqa: PLC0415

        return as_text(self.page, num_rows=_NUM_ROWS, width=_WIDTH)

    def _repr_html_(self) -> str:
        from torchmagic.views.skins.html import as_html  # noqa: PLC0415

        return as_html(self.page, num_rows=_NUM_HTML_ROWS)


def modelinfo(
    model: Any,
    *,
    input_size: Any = None,
    batch: Any = None,
    dtypes: Sequence[Any] | None = None,
    optimizer: Any = None,
    depth: int | None = None,
    name: str = "",
) -> ModelInfo:
    """Look closely at a model: its tree, shapes, parameters, memory, operations, and what is wrong with its tensors.

    With an input a copy that shares the weights is run: modes, buffers, gradients, hooks, random numbers and the inputs
    stay as they are, bit for bit. Without an input nothing is run.

    Args:
        model: A module, compiled or not, or an object, list or dictionary that holds some, such as a pipeline.
        input_size: Sizes of a made-up input with its batch dimension, such as ``(1, 3, 32, 32)``; a list of sizes for
            several arguments; a dictionary of sizes by argument name.
        batch: Instead of sizes a tensor, tuple, dictionary, or a loader, of which one batch is used.
        dtypes: One for each size; otherwise as the model's parameters, or whole numbers where an embedding comes first.
        optimizer: Whose memory to count: a name such as ``"adamw"``, or an optimizer.
        depth: Levels of the tree to show; None for all.
        name: What to call it.

    Raises:
        TypeError: If there is no model; one line says what came, what was wanted and what to do.
        ValueError: If inputs, optimizer or depth make no sense; one line.

    Example:
        >>> import torch
        >>> info = modelinfo(torch.nn.Linear(4, 2), input_size=(1, 4))
        >>> info.record.num_parameters, info.record.forward.flops
        (10, 16)
    """
    if depth is not None and (not isinstance(depth, int) or depth < 0):
        raise ValueError(f"depth is a number of levels, 0 or more, {depth!r} came")
    asked = Asked(input_size=input_size, batch=batch, dtypes=dtypes, optimizer=optimizer)
    record = describe_model(model, name=name, asked=asked)
    if isinstance(record, PipelineRecord):
        return ModelInfo(record=record, page=pipeline_page(record))
    return ModelInfo(record=record, page=model_page(record, depth=depth))
