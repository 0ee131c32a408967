"""This file looks at what the data give the first layer of a model, and how much of what embeddings get is padding."""

from dataclasses import replace
from types import FrameType
from typing import Any, cast

import torch
from torch import nn

from torchmagic.analyses.data_lines import origin_line
from torchmagic.probes.cast import Cast
from torchmagic.probes.leaves import Leaves, Look
from torchmagic.probes.module_parts import parameters_of
from torchmagic.probes.notebook_text import notebook_text
from torchmagic.probes.pacing import Pacer, next_look
from torchmagic.probes.raw_parts import raw_part
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.wrappers import now
from torchmagic.records.feeding import FirstLayerRecord, PaddingRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.batch import has_values
from torchmagic.tensors.rows import layer_scales

# Values of a batch that are looked at, all features together.
MOST_VALUES = 1 << 16
# Enough looks at one layer, and at the embeddings of one model.
MOST_RECORDS, MOST_LOOKS = 4, 8
# Mean magnitude of a feature, and scales over one another, from which on the line that makes the data is looked for.
LARGE, UNEQUAL = 10.0, 100.0
EMBEDDINGS = (nn.Embedding, nn.EmbeddingBag)


class FirstLayers:
    """Records a ``FirstLayerRecord``, and a ``PaddingRecord`` an embedding that has one, at the steps looked at.

    The first layer is the first module with parameters that runs, embeddings left out. What it is given counts as data
    where no graph leads to it; so do columns that are joined to what embeddings give.
    """

    def __init__(self, cast: Cast, taps: Taps, leaves: Leaves, pacer: Pacer) -> None:
        self._cast, self._taps, self._pacer = cast, taps, pacer
        self._look = Look(leaves, taps)
        self._recorder: Recorder | None = None
        self._waiting = False
        self._model = ""
        self._site: Site | None = None
        self._told: dict[tuple[str, int], int] = {}
        self._looks: dict[str, int] = {}
        self._made: dict[str, Place | None] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for models and their innermost modules."""
        self._recorder = recorder
        taps.on("root_begin", self._begin)
        taps.on("leaf", self._see)

    def flush(self, step: int) -> None:
        """Rest until the next look."""
        self._look.switch(on=False)
        self._waiting = False
        if self._look.took:
            self._pacer.pay("first layers", self._look.cost())
        self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Let go of everything."""
        self._look.switch(on=False)

    def _begin(self, module: nn.Module, args: Any, kwargs: Any, frame: FrameType) -> None:
        model = self._cast.model_of(module)
        looks = self._looks.get(model.name, 0) if model is not None else MOST_LOOKS
        self._waiting = looks < MOST_LOOKS and self._taps.grad_enabled
        self._look.switch(on=self._waiting)
        if model is not None and self._waiting:
            self._looks[model.name] = looks + 1
            self._model, self._site = model.name, site_of(frame)

    def _see(self, module: nn.Module, args: Any, output: Any) -> None:
        if not self._waiting or not module._parameters or not self._look.counts():
            return
        given: Any = args[0] if args else None
        if isinstance(module, EMBEDDINGS):
            self._see_padding(module, given)
            return
        self._waiting = False
        self._look.switch(on=False)
        if not has_values(given) or not given.is_floating_point() or given.dim() < 2:  # noqa: PLR2004 - rows of features
            return
        shape = getattr(output, "shape", None)
        if shape == given.shape and not isinstance(module, (nn.Linear, nn.modules.conv._ConvNd)):
            return  # it may well be what normalises
        began = now()
        data = raw_part(given)
        if data is not None:
            self._tell(module, data)
        self._look.took += now() - began

    def _tell(self, module: nn.Module, given: torch.Tensor) -> None:
        path = self._cast.path_of(module)
        if self._recorder is None or path is None or not self._may_tell(module):
            return
        pictures = isinstance(module, nn.modules.conv._ConvNd)
        if pictures and given.dim() != cast("torch.Tensor", module.weight).dim():
            return  # a single sample
        scale, spread = layer_scales(given, 1 if pictures else -1, MOST_VALUES)
        low, high = torch.aminmax(given.detach())
        place = place_of(self._site)
        self._recorder.add(
            FirstLayerRecord(
                model=self._model,
                module=path,
                class_name=type(module).__name__,
                step=self._recorder.step,
                shape=tuple(given.shape),
                scale=scale,
                spread=spread,
                low=low.item(),
                high=high.item(),
                frozen=not any(each.requires_grad for each in parameters_of(module)),
                place=place,
                made=self._line_making(place) if scale > LARGE or spread > UNEQUAL else None,
            )
        )

    def _line_making(self, place: Place | None) -> Place | None:
        """Return the line of any cell that makes the data of the present model."""
        if place is not None and self._model not in self._made:
            notebook = notebook_text(place.file)
            there = replace(place, line=notebook.line_of(place))
            self._made[self._model] = notebook.place_at(origin_line(notebook.text, there, self._model))
        return self._made.get(self._model)

    def _see_padding(self, module: nn.Module, given: Any) -> None:
        padding = getattr(module, "padding_idx", None)
        path = self._cast.path_of(module)
        if padding is None or self._recorder is None or path is None or not has_values(given):
            return
        if self._may_tell(module):
            self._recorder.add(
                PaddingRecord(
                    model=self._model,
                    module=path,
                    step=self._recorder.step,
                    share=(given == padding).float().mean().item(),
                    place=place_of(self._site),
                )
            )

    def _may_tell(self, module: nn.Module) -> bool:
        key = self._model, id(module)
        self._told[key] = self._told.get(key, 0) + 1
        return self._told[key] <= MOST_RECORDS
