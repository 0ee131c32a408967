"""This file is the births: where a non-finite value came from, found by running a sick step again from what it left."""

import dataclasses
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.probes.cast import Cast
from torchmagic.probes.graph import forward_suspect, gradient_suspect
from torchmagic.probes.operands import bad_parts, operands, where_bad
from torchmagic.probes.origin_causes import cause_of
from torchmagic.probes.origin_lines import line_changing
from torchmagic.probes.origin_memory import Backward, Call, Instruction, Loss, StepMemory
from torchmagic.probes.origin_trace import Event
from torchmagic.probes.origin_weights import Sick, Weights, buffer_facts
from torchmagic.probes.replay import Outcome
from torchmagic.probes.second_runs import SecondRuns
from torchmagic.probes.sites import Site, place_of, user_frame
from torchmagic.probes.taps import Taps
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord
from torchmagic.records.place import Place
from torchmagic.tensors.finite import is_finite

# Passes, and calls of models, that are run again: each takes about as long as it took the first time, traced.
MOST_REPLAYS = 8


class Births:
    """Searches a sick step for the origin: its parameters first, then its statements, then its models, then its graph.

    Args:
        cast: Models and optimizers that take part.
        taps: Through which a replay sees.
        memory: What the step was given.
        weights: Knows what made a parameter non-finite.
        answers: Whether what is remembered as a backward is a call whose own answer is looked into, as that of a loss
            which nobody goes backward from.

    Attributes:
        again: Runs it again.
        meant: Whether the origin found last was an infinity written on purpose.
    """

    def __init__(self, cast: Cast, taps: Taps, memory: StepMemory, weights: Weights, *, answers: bool = False) -> None:
        self._cast, self._taps, self._memory, self._weights = cast, taps, memory, weights
        self.again = SecondRuns(cast, taps, memory, answers=answers)
        self.step = 0
        self.meant = False
        self.site: Site | None = None
        self.stepped: Instruction | None = None

    def stand_at(self, frame: FrameType | None) -> None:
        """Take the user's line at a frame, or above it, for the one at which something was seen."""
        user = user_frame(frame)
        self.site = Site(user.f_code, user.f_lineno) if user is not None else None

    def in_forward(self, loss: torch.Tensor, frame: FrameType | None) -> NonfiniteRecord:
        """Return where a non-finite loss began."""
        record = self._bad_parameter(before=not self.step)
        if record is not None:
            return record
        for backward in reversed(self._memory.backwards[-MOST_REPLAYS:]):
            outcome = self.again.statements(backward, frame, None)
            if outcome is not None and outcome.event is not None:
                return self._made(self._told(outcome, outcome.event), backward, frame)
        for call in self._memory.calls[:MOST_REPLAYS]:
            outcome = self.again.model(call, None)
            if outcome is not None and outcome.event is not None:
                return self._told(outcome, outcome.event, call=call)
        for each in self._memory.losses:
            record = self._bad_loss(each)
            if record is not None:
                return record
        record = self._bad_parameter(before=True)
        if record is not None:
            return record
        op, site, words, cause = forward_suspect(loss, self.site, self._cast.names, frame)
        place = place_of(site or self.site)
        return self._record(Birth.FORWARD, loss, place=place, op=op, operands=words, cause=cause)

    def in_backward(
        self,
        bad: list[tuple[str, torch.Tensor]],
        loss: torch.Tensor | None,
        frame: FrameType | None,
        *,
        scaled: bool = False,
    ) -> NonfiniteRecord:
        """Return where the gradient of a finite loss broke: operator, line, and the parameter nearest to the loss.

        Args:
            bad: Names and gradients that are not finite.
            loss: What the backward started from; None where it is not known.
            frame: Where they were seen.
            scaled: Whether a scaler multiplied losses, which no backward that is run again goes through.
        """
        wanted, backwards = self._learning(), self._memory.backwards
        ran_again = 0
        for backward in reversed(backwards[-MOST_REPLAYS:]):
            outcome = self.again.statements(backward, frame, wanted)
            if outcome is not None and outcome.event is not None:
                return self._told(outcome, outcome.event, bad=bad)
            ran_again += outcome is not None
        changed = None
        if ran_again == len(backwards) > 0 and not scaled:
            changed = line_changing(backwards[-1].line(), self.site)
        if changed is not None:
            return self._gradient(bad, place=place_of(changed), cause=Cause.CHANGED_GRADIENT, proven=True)
        for call in reversed(self._memory.calls[-MOST_REPLAYS:]):
            outcome = self.again.model(call, wanted)
            if outcome is not None and outcome.event is not None:
                return self._told(outcome, outcome.event, call=call, bad=bad)
        op, site = gradient_suspect(loss, self.site, self._cast.names)
        return self._gradient(bad, op=op, place=place_of(site or self.site))

    def is_scalers(self, frame: FrameType | None) -> bool:
        """Whether the gradients of the last backward are finite as long as no scaler multiplies them."""
        wanted = self._learning()
        for backward in self._memory.backwards[-1:]:
            outcome = self.again.statements(backward, frame, wanted)
            return outcome is None or outcome.event is None
        return True

    def _told(
        self,
        outcome: Outcome,
        event: Event,
        *,
        call: Call | None = None,
        bad: list[tuple[str, torch.Tensor]] | None = None,
    ) -> NonfiniteRecord:
        self.meant = event.mask
        if event.outside:
            return self._outside(event)
        module = outcome.trace.module_of(event)
        path = self._cast.path_of(module) if module is not None else None
        site = call.line() if call is not None else self.site
        facts: dict[str, Any] = {
            "place": event.place or place_of(site),
            "module": path,
            "operands": operands(event.call),
            "cause": cause_of(event, outcome.trace, outcome.loss),
            "proven": True,
        }
        if outcome.backward:
            return self._gradient(bad or [], op=event.op if event.own else event.node, **facts)
        grows = facts["cause"] in (Cause.OVERFLOW, Cause.EXP_OVERFLOW, Cause.POWER)
        began = self._weights.explosions.began(self.step) if grows else None
        if began is not None and self._weights.explosions.large(self._learning()):
            facts |= {"cause": Cause.EXPLODED_WEIGHTS, "began": began}
        model = path.partition(".")[0] if path else None
        op = event.node if event.backward and not event.own else event.op
        return self._record(Birth.FORWARD, event.output, op=op, model=model, **facts)

    def _made(self, record: NonfiniteRecord, backward: Backward, frame: FrameType | None) -> NonfiniteRecord:
        """Return the record of bad data with the operator that made them, where the code around a backward did."""
        if record.birth is not Birth.INPUT:
            return record
        outcome = self.again.statements(backward, frame, None, whole=True)
        event = outcome.event if outcome is not None else None
        if (
            outcome is None
            or event is None
            or event.outside
            or event.mask
            or outcome.trace.module_of(event) is not None
        ):
            return record
        cause = cause_of(event, outcome.trace, outcome.loss)
        place, given = event.place or record.place, operands(event.call)
        return dataclasses.replace(record, op=event.op, place=place, operands=given, cause=cause)

    def _outside(self, event: Event) -> NonfiniteRecord:
        """Return the record of a tensor that came with non-finite values into the step."""
        value, argument = event.output, event.argument[0]
        kept = buffer_facts(self._memory.calls, value, self._cast)
        if kept is not None:
            return self._record(Birth.BUFFER, value, **kept)
        name = self._weights.named(value)
        if name is not None:
            return self._spoiled(Sick(name, value, next(iter(self._memory.calls), None)))
        for call in self._memory.calls:
            if any(each is value for each in tree_leaves((call.given, call.args, call.kwargs))):
                return self._input(value, where_bad(value), place_of(call.line()), model=call.model.name)
        words = f"`{event.node}`: " if event.node else ""
        role = "the loss's target: " if argument == "target" else ""
        place = event.place or (self.site and place_of(self.site))
        return self._input(value, f"{role}{words}{where_bad(value)}", place)

    def _input(self, value: torch.Tensor, where: str, place: Place | None, **facts: Any) -> NonfiniteRecord:
        facts |= {**bad_parts(value), "cause": Cause.BAD_DATA}
        return self._record(Birth.INPUT, value, place=place, where=where, proven=True, **facts)

    def _bad_parameter(self, *, before: bool) -> NonfiniteRecord | None:
        """Return the first parameter that was not finite before the forward, and what made it so."""
        sick = self._weights.sick(self._memory.calls, before=before)
        return None if sick is None else self._spoiled(sick)

    def _spoiled(self, sick: Sick) -> NonfiniteRecord:
        birth, facts = self._weights.broken_by(sick.value, self.step, self.site)
        made = sick.call.line() if sick.call is not None else self.site
        site = made if birth is Birth.PARAMETER else self.stepped and self.stepped.site()
        facts["place"] = facts.get("place") or place_of(site)
        model = sick.call.model.name if sick.call is not None else None
        module = sick.name.rpartition(".")[0] or None
        return self._record(birth, sick.value, model=model, module=module, parameter=sick.name, **facts)

    def _bad_loss(self, each: Loss) -> NonfiniteRecord | None:
        output, given = each.output(), each.given()
        target = each.target() if each.target is not None else None
        if output is None or is_finite(output) or (given is not None and not is_finite(given)):
            return None
        place = place_of(each.line())
        if target is not None and not is_finite(target):
            return self._input(target, "the loss's target: " + where_bad(target), place)
        return self._record(Birth.FORWARD, output, place=place, op=each.name)

    def _gradient(self, bad: list[tuple[str, torch.Tensor]], **facts: Any) -> NonfiniteRecord:
        name, gradient = bad[-1] if bad else (None, torch.empty(0))
        model = next((model.name for model in self._cast.models if name in model.parameters), None)
        if name and not facts.get("proven"):  # a proven origin may lie outside any module
            facts["module"] = facts.get("module") or name.rpartition(".")[0] or None
        return self._record(Birth.GRADIENT, gradient, model=model, parameter=name, num_parameters=len(bad), **facts)

    def _learning(self) -> list[torch.Tensor]:
        """Return the tensors whose gradients are asked for: those that are stepped, and those of called models."""
        steps = [ref() for entry in self._cast.at_work.steppers for ref in entry.refs]
        found = {each: None for each in (*steps, *self._parameters()) if each is not None and each.requires_grad}
        return list(found)

    def _parameters(self) -> list[nn.Parameter]:
        refs = [ref for call in self._memory.calls for ref in call.model.parameters.values()]
        return [value for ref in refs if (value := ref()) is not None]

    def _record(self, birth: Birth, value: torch.Tensor, **facts: Any) -> NonfiniteRecord:
        dense = value.detach()
        dense = dense.coalesce().values() if dense.layout is torch.sparse_coo else dense
        return NonfiniteRecord(
            birth=birth,
            step=self.step,
            num_nan=int(torch.isnan(dense).sum()),
            num_inf=int(torch.isinf(dense).sum()),
            num_elements=dense.numel(),
            **facts,
        )
