"""This file watches for averaged models that are evaluated with the statistics that batch norm begins with."""

import itertools
import weakref
from dataclasses import dataclass
from types import FrameType
from typing import Any

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from torchmagic.probes.cast import Cast
from torchmagic.probes.module_parts import named_modules_of, parameters_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.probes.weak_table import WeakTable
from torchmagic.records.evaluation import FirstStatisticsRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import readable

# Models that are followed, looks at each, and weights of each that are compared.
MOST_MODELS, MOST_LOOKS, MOST_WEIGHTS = 16, 32, 8
# A weight that was written to so often is an average, or follows another: an initialiser or a load writes once.
MANY_WRITES = 8


@dataclass
class _Seen:
    """A model as it was evaluated first; once its weights have moved, what it is called, and where it is evaluated."""

    norms: list[tuple[str, weakref.ref[nn.Module]]]
    sizes: list[float]
    looks: int = 0
    step: int = -1
    model: str = ""
    module: str = ""
    site: Site | None = None


class FirstStatistics:
    """Records ``FirstStatisticsRecord`` as the run ends, for each model evaluated with first statistics all along.

    A model that an optimizer steps is none of these: there its own mode is to blame.

    Args:
        cast: Models and optimizers.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._recorder: Recorder | None = None
        self._seen: WeakTable[nn.Module, _Seen] = WeakTable()

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for calls without gradients."""
        self._recorder = recorder
        taps.on("root_without", self._called)

    def detach(self) -> None:
        """Record the models whose statistics are the first ones still, and let go of everything."""
        recorder, self._recorder = self._recorder, None
        stepped = self._cast.at_work.stepped
        for module, seen in self._seen.items():
            own = {id(each) for each in parameters_of(module)}
            if recorder is not None and seen.model and stepped.keys().isdisjoint(own):
                self._tell(recorder, seen)
        self._seen.clear()

    def _called(self, module: nn.Module, frame: FrameType) -> None:
        if self._recorder is None:
            return
        seen = self._seen.get(module)
        if seen is None:
            if len(self._seen) >= MOST_MODELS:
                return
            norms = [(path, weakref.ref(part)) for path, part in named_modules_of(module) if _is_untouched(part)]
            seen = self._seen[module] = _Seen(norms, _sizes(module) if norms else [])
        if not seen.norms or seen.model or seen.step == self._recorder.step or seen.looks >= MOST_LOOKS:
            return
        seen.step, seen.looks = self._recorder.step, seen.looks + 1
        if seen.step and (_is_average(module) or _sizes(module) != seen.sizes):
            root, seen.model = self._cast.names.of_model(module, frame)
            path = next((path for path, part in named_modules_of(root) if part is module), "")
            seen.module, seen.site = ".".join(filter(None, (seen.model, path))), site_of(frame)

    def _tell(self, recorder: Recorder, seen: _Seen) -> None:
        norms = [path for path, ref in seen.norms if _is_untouched(ref())]
        if norms:
            recorder.add(
                FirstStatisticsRecord(
                    model=seen.model,
                    module=".".join(filter(None, (seen.module, norms[0]))),
                    count=len(norms),
                    step=seen.step,
                    place=place_of(seen.site),
                )
            )


def _is_untouched(part: Any) -> bool:
    """Whether a module is a batch norm with a mean of 0 and a variance of 1, as before the first batch."""
    if not isinstance(part, _BatchNorm):
        return False
    mean, variance = part._buffers.get("running_mean"), part._buffers.get("running_var")
    if mean is None or variance is None or not (readable(mean) and readable(variance)):
        return False
    return not (mean.any() or (variance != 1).any())


def _sizes(module: nn.Module) -> list[float]:
    """Return the sums of the first weights of a model; the same ones while the same bits are in them."""
    weights = itertools.islice((each for each in parameters_of(module) if readable(each)), MOST_WEIGHTS)
    return [float(each.detach().double().sum()) for each in weights]


def _is_average(module: nn.Module) -> bool:
    """Whether all weights of a model have been written to again and again."""
    weights = [each for each in parameters_of(module) if not each.is_inference()]
    return bool(weights) and min(each._version for each in weights) >= MANY_WRITES
