"""This file watches dropout that is called as a function: whether it is active while its model is being evaluated."""

from types import FrameType
from typing import Any, NamedTuple

from torch import nn

from torchmagic.probes.cast import Cast
from torchmagic.probes.module_parts import is_training, modules_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.evaluation import AwakeDropoutRecord
from torchmagic.session.recorder import Recorder

# How often the functions are wrapped anew before the probe goes to rest: a teacher may be in evaluation mode in the
# midst of each step.
MOST_SWITCHES = 16
MOST_LINES, MOST_CALLS = 8, 256
NEVER = 1 << 60


class _First(NamedTuple):
    """What is known of the first call of a line."""

    module: str
    model: str
    step: int
    function: str
    p: float


class AwakeDropout:
    """Records an ``AwakeDropoutRecord`` a line that drops values inside a module in evaluation mode.

    The functions are wrapped only while the outermost module that runs is in evaluation mode. A module inside one whose
    parts were partly set to training is left alone: that is how uncertainty is sampled.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._switches = 0
        self._found: dict[Site | None, _First] = {}
        self._calls: dict[Site | None, int] = {}
        self._asleep: dict[int, bool] = {}

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls of models, and for dropout."""
        self._taps, self._recorder = taps, recorder
        taps.on("root_mode", self._begin)
        taps.on("dropout", self._dropout)

    def detach(self) -> None:
        """Hand over what was seen."""
        if self._taps is not None:
            self._taps.see("dropout", seen=False)
        found, self._found = self._found, {}
        if self._recorder is None:
            return
        for site, first in found.items():
            self._recorder.add(
                AwakeDropoutRecord(
                    module=first.module,
                    step=first.step,
                    function=first.function,
                    p=first.p,
                    times=self._calls[site],
                    also_trained=self._is_trained(first.model),
                    place=place_of(site),
                )
            )

    def _begin(self, module: nn.Module) -> None:
        if self._taps is None:
            return
        self._asleep.clear()
        self._switches += 1
        if self._switches > MOST_SWITCHES or sum(self._calls.values()) > MOST_CALLS:
            self._taps.see("dropout", seen=False)
            self._taps.rest(self, until=NEVER)
        else:
            self._taps.see("dropout", seen=not module.training)

    def _dropout(self, name: str, p: Any, frame: FrameType) -> None:
        stack = self._taps.stack if self._taps is not None else []
        if not stack or stack[0].training or self._recorder is None:
            return
        root = stack[0]
        if id(root) not in self._asleep:
            self._asleep[id(root)] = not any(map(is_training, modules_of(root)))
        site = site_of(frame)
        if not self._asleep[id(root)] or (site not in self._found and len(self._found) >= MOST_LINES):
            return
        self._calls[site] = self._calls.get(site, 0) + 1
        if site not in self._found:
            model = self._cast.model_of(root)
            module = self._cast.path_of(stack[-1]) or type(stack[-1]).__name__
            self._found[site] = _First(module, model.name if model else "", self._recorder.step, name, float(p))

    def _is_trained(self, name: str) -> bool:
        model = next((each for each in self._cast.models if each.name == name), None)
        owned = {each for optimizer in self._cast.optimizers for each in optimizer.names}
        return model is not None and not owned.isdisjoint(model.parameters)
