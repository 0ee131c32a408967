"""This file is the look at optimizers' states: those that are not finite, as records, each kind once."""

from collections.abc import Callable, Iterator
from types import FrameType

import torch

from torchmagic.probes.cast import Cast
from torchmagic.probes.operands import described
from torchmagic.probes.optimizer_state import State, bad_states
from torchmagic.probes.sites import Site, place_of
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder


class StateLook:
    """Tells of states that are not finite while their parameters still are: each kind once.

    Args:
        cast: Whose optimizers are looked at.
        tell: Told the first state that is about to break weights.
    """

    def __init__(self, cast: Cast, tell: Callable[[NonfiniteRecord], None]) -> None:
        self._cast, self._tell = cast, tell
        self._told: set[bool] = set()

    def before_step(self, step: int, frame: FrameType | None, recorder: Recorder | None) -> None:
        """Look at what lies on the CPU, before it is used; for what lies on a device the host would have to wait.

        Args:
            step: Optimizer steps made so far.
            frame: Who steps.
            recorder: Takes states that make updates zero: they break nothing.
        """
        place = place_of(Site(frame.f_code, frame.f_lineno)) if frame is not None else None
        for record in self._look(step, place, on_cpu=True):
            if not record.silences:
                self._tell(record)
                return
            if recorder is not None:
                recorder.add(record)

    def at_end(self, step: int, recorder: Recorder, *, found: bool) -> None:
        """Look at all as a run ends; where an origin was found, only at those that make updates zero."""
        for record in self._look(step, None, on_cpu=False):
            if record.silences or not found:
                recorder.add(record)

    def _look(self, step: int, place: Place | None, *, on_cpu: bool) -> Iterator[NonfiniteRecord]:
        for state in bad_states(self._cast, on_cpu=on_cpu):
            if state.silences not in self._told:
                self._told.add(state.silences)
                yield self._record(state, step, place)

    def _record(self, state: State, step: int, place: Place | None) -> NonfiniteRecord:
        models = (each.name for each in self._cast.models if state.parameter in each.parameters)
        return NonfiniteRecord(
            birth=Birth.UPDATE,
            step=step,
            model=next(models, None),
            module=state.parameter.rpartition(".")[0] or None,
            parameter=state.parameter,
            place=place,
            num_nan=int(torch.isnan(state.value).sum()),
            num_inf=int(torch.isinf(state.value).sum()),
            num_elements=state.value.numel(),
            operands=f"{state.optimizer} with {state.key} of {described(state.value)}",
            cause=Cause.BAD_STATE,
            proven=True,
            state=state.key,
            optimizer=state.optimizer,
            silences=state.silences,
        )
