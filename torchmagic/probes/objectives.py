"""This file watches objectives: what the loss of each backward is made of, and where mere chance would leave it."""

import math
from dataclasses import replace
from types import FrameType
from typing import Any

import torch

from torchmagic.probes.chance import Chance, Level, chance_of
from torchmagic.probes.loss_terms import Terms, terms_of
from torchmagic.probes.losses import loss_name
from torchmagic.probes.pacing import FIRST_STEPS, next_look
from torchmagic.probes.scaling import Scaling
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.objective import ObjectiveRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.presence import plain

# Criteria remembered within a step; lines with a backward that are told apart.
MOST_REMEMBERED, MOST_SITES = 256, 32
# Records of lines whose loss is made of other things each time.
MOST_RECORDS = 64
# The level of chance is that of all targets seen, and known after some looks.
MOST_LEVELS = 16


class Objectives:
    """Records ``ObjectiveRecord`` at the first backward of each line and when it changed, and two series.

    ``criterion`` is the value of a loss's only criterion, the mean where it has several, and ``chance_loss`` the level
    of mere chance on its targets so far, both under the loss's name. All are taken in the first steps, and then ever
    more rarely.
    """

    def __init__(self) -> None:
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._scaling = Scaling()
        self._made: dict[int, str] = {}
        self._calls: dict[int, tuple[Any, Chance]] = {}
        self._known: dict[Site | None, ObjectiveRecord] = {}
        self._levels: dict[str, Level] = {}
        self._log_prob = False
        self._looks = 0
        self._told = 0
        self._awake_until = FIRST_STEPS

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for criteria, log-probabilities and backward passes."""
        self._taps, self._recorder = taps, recorder
        taps.on("loss", self._loss)
        taps.on("log_prob", self._asked)
        taps.on("backward_begin", self._backward)
        taps.see("log_prob", seen=True)
        self._scaling.attach(taps)

    def flush(self, step: int) -> None:
        """Forget the step's criteria, and rest unless a new line was met lately."""
        self._looks += bool(self._made)
        self._made.clear()
        self._calls.clear()
        if step >= self._awake_until and self._taps is not None:
            self._taps.see("log_prob", seen=False)
            self._taps.rest(self, until=next_look(step))

    def detach(self) -> None:
        """Let go of everything."""
        self._made.clear()
        self._calls.clear()
        self._levels.clear()
        if self._taps is not None:
            self._taps.see("log_prob", seen=False)

    def _asked(self, output: Any) -> None:
        self._log_prob = self._log_prob or (isinstance(output, torch.Tensor) and output.requires_grad)

    def _loss(self, name: str, args: Any, kwargs: Any, output: Any, frame: FrameType) -> None:
        node = output.grad_fn if isinstance(output, torch.Tensor) else None
        if node is None or len(self._made) >= MOST_REMEMBERED:
            return
        number = int(node._sequence_nr())
        self._made[number] = name
        value = plain(output)
        value = value if value is None or value.numel() == 1 else value.mean()
        self._calls[number] = value, chance_of(name, args, kwargs, level=self._looks < MOST_LEVELS)

    def _backward(self, tensors: Any, frame: FrameType) -> None:
        if not isinstance(tensors, torch.Tensor) or (self._taps is not None and self._taps.depth):
            return
        loss = self._scaling.unscaled(tensors) if self._scaling.pair else tensors
        site = site_of(frame)
        known = self._known.get(site)
        if loss is None or (known is None and len(self._known) >= MOST_SITES) or self._recorder is None:
            return
        terms = terms_of(loss, self._made)
        called = [self._calls[number] for number in terms.numbers if number in self._calls]
        record = self._record(site, terms, [chance for _, chance in called], known)
        if known is None or replace(record, step=known.step, scale=known.scale) != known:
            self._known[site] = record
            self._tell(record, anew=known is None)
        if len(terms.numbers) == 1 and called:
            self._append(record.loss, *called[0])

    def _tell(self, record: ObjectiveRecord, *, anew: bool) -> None:
        if self._recorder is None or self._told >= MOST_RECORDS:
            return
        self._told += 1
        self._recorder.add(record)
        if anew:
            self._awake_until = self._recorder.step + FIRST_STEPS

    def _record(
        self, site: Site | None, terms: Terms, chances: list[Chance], known: ObjectiveRecord | None
    ) -> ObjectiveRecord:
        return ObjectiveRecord(
            loss=loss_name(site),
            place=place_of(site),
            step=self._recorder.step if self._recorder is not None else 0,
            criteria=tuple(sorted(set(terms.criteria))),
            mixed=terms.num_others > 0 or (known is not None and known.mixed),
            sign=terms.sign,
            scale=terms.scales[0] if len(terms.scales) == 1 else math.nan,
            weighted=terms.weighted or (known is not None and known.weighted),
            log_prob=self._log_prob,
            num_classes=max((each.num_classes for each in chances), default=0),
            altered=any(each.altered for each in chances),
        )

    def _append(self, loss: str, value: Any, chance: Chance) -> None:
        if self._recorder is None:
            return
        if value is not None:
            self._recorder.append("criterion", (value.item(),), (loss,))
        level = self._levels.setdefault(loss, Level()).add(chance)
        if math.isfinite(level):
            self._recorder.append("chance_loss", (level,), (loss,))
