"""This file is the second runs: the statements of a sick step, or one of its models, run again under a trace."""

from types import FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from torchmagic.probes.cast import Cast
from torchmagic.probes.origin_memory import Backward, Call, StepMemory
from torchmagic.probes.origin_slice import cut
from torchmagic.probes.replay import Outcome, Replay
from torchmagic.probes.taps import Taps
from torchmagic.session.interrupts import pass_on


class SecondRuns:
    """Runs what a step remembers again, and leaves everything as it was.

    Args:
        cast: Models that may run in it.
        taps: Through which it sees.
        memory: What the step was given.
        answers: Whether what is remembered as a backward is a call whose own answer is looked into.

    Attributes:
        graph: Whether the forward recorded a graph.
    """

    def __init__(self, cast: Cast, taps: Taps, memory: StepMemory, *, answers: bool) -> None:
        self._cast, self._taps, self._memory, self._answers = cast, taps, memory, answers
        self.graph = True

    def statements(
        self, backward: Backward, frame: FrameType | None, wanted: list[torch.Tensor] | None, *, whole: bool = False
    ) -> Outcome | None:
        """Run the statements of a backward again; None where they cannot be.

        Args:
            backward: The backward.
            frame: The frame that asked for it, or one below.
            wanted: Tensors whose gradients are asked for; None for the forward alone.
            whole: Whether what models were given is made again too, where it is not finite.
        """
        while frame is not None and frame.f_code is not backward.code:
            frame = frame.f_back
        if frame is None:
            return None
        calls = self._memory.of(backward)
        models = [module for model in self._cast.models if (module := model.ref()) is not None]
        replay = Replay(calls, self._taps, models, graph=self.graph)
        piece = None
        try:
            piece = cut(frame, backward.lasti, calls, replay.serve, answer=self._answers, whole=whole)
            if piece is None:
                return None
            outcome = replay.run(piece.run, None if wanted is None else piece.with_leaves(wanted))
            replay.name_outside(outcome, piece.names)
        except Exception as error:  # noqa: BLE001 - statements that cannot run twice tell nothing; the search goes on without them
            pass_on(error)
            return None
        finally:
            if piece is not None:
                piece.forget()
        made = outcome.event is not None and outcome.event.outside and outcome.event.output.grad_fn is not None
        return None if made else outcome  # what was made outside the slice is no data: it is looked for elsewhere

    def model(self, call: Call, wanted: list[torch.Tensor] | None) -> Outcome | None:
        """Run a model again by itself, with a gradient of ones where its backward is asked for."""
        replay = Replay([call], self._taps, (), graph=self.graph)
        serve = replay.serve([call])

        def deed() -> tuple[Any, Any]:
            outputs = [each for each in tree_leaves(serve()) if isinstance(each, torch.Tensor)]
            floats = [each for each in outputs if each.is_floating_point()]
            return floats, [torch.ones_like(each) for each in floats if each.requires_grad]

        try:
            outcome = replay.run(deed, wanted)
        except Exception as error:  # noqa: BLE001 - a forward that cannot run twice tells nothing
            pass_on(error)
            return None
        replay.name_outside(outcome, {})
        return outcome
