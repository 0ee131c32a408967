"""This file is the benchmark of a cell: its step found, each mode run on it in turn, and what they are worth told."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torchmagic.records.benchmark import BenchmarkRecord, ModeFailure, ModeResult
from torchmagic.tuning.benchmark import Benchmark, rows
from torchmagic.tuning.comparison import Failure, Plan, Result, coarsest, in_rivalry
from torchmagic.tuning.measure import Spread
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.own_loop.definition import call_of_definition
from torchmagic.tuning.own_loop.first_step import CellCode, FirstStep, first_step
from torchmagic.tuning.own_loop.loop_contender import LoopContender
from torchmagic.tuning.own_loop.no_step import NoStepError
from torchmagic.tuning.own_loop.paste import called, code_for
from torchmagic.tuning.own_loop.start import Start, start_of
from torchmagic.tuning.recipes.threads import physical_cores
from torchmagic.tuning.setup import Notes

NO_STEP = (
    "no optimizer stepped in the cell; write a training step, such as: "
    "for x, y in loader: optimizer.zero_grad(); criterion(model(x), y).backward(); optimizer.step()"
)


class Bench:
    """A benchmark of a cell's step.

    Args:
        cell: The cell; it runs once, on copies, up to its first optimizer step.
        options: Choices of the recipes.
        clock: Tells seconds.

    Raises:
        NoStepError: If no step is found in it, or it cannot be run on copies; one line.
    """

    def __init__(
        self,
        cell: CellCode,
        *,
        options: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._options, self._clock, self._begin = options or {}, clock, clock()
        self._cell, self._start, self._called = _found(cell)
        self._notes: dict[OptimizationMode, Notes] = {}
        self._rows: list[Result | Failure] = []
        self._is_complete = False

    def rows(
        self, modes: Sequence[OptimizationMode], *, num_steps: int, seconds: float | None = None
    ) -> Iterator[OptimizationMode]:
        """Measure modes one after another; yield each that is done.

        Args:
            modes: The modes.
            num_steps: Steps to time of each; at least 24 are.
            seconds: What all together may take.
        """
        plan = Plan(groups=[()] * num_steps, num_steps=num_steps, options=self._options, clock=self._clock)
        for row in rows(self._compared, modes, plan, seconds=seconds):
            self._rows.append(row)
            yield row.mode
        self._is_complete = True

    @property
    def record(self) -> BenchmarkRecord:
        """What was found so far."""
        found = Benchmark(rows=tuple(self._rows), seconds=self._clock() - self._begin)
        measured = next((row for row in self._rows if isinstance(row, Result)), None)
        recommended = found.recommended
        return BenchmarkRecord(
            place=self._place,
            before=self._before,
            reference_step=None if measured is None else _quartiles(measured.reference),
            reference_memory=None if measured is None else measured.reference_memory,
            reference_losses=() if measured is None else measured.reference_losses,
            modes=tuple(self._told(row) for row in self._rows),
            recommended=recommended.mode.value if recommended else "",
            seconds=found.seconds,
            is_complete=self._is_complete,
        )

    def _compared(self, mode: OptimizationMode, plan: Plan) -> Result | Failure:
        def rival(each: OptimizationMode) -> LoopContender:
            made = LoopContender(self._start, each, self._cell, options=self._options, clock=self._clock)
            self._notes[each] = made.setup.notes
            return made

        return in_rivalry(rival, mode, plan, dtype=coarsest(self._start.models))

    def _told(self, row: Result | Failure) -> ModeResult | ModeFailure:
        if isinstance(row, Failure):
            return ModeFailure(mode=row.mode.value, reason=row.reason)
        step, low, high = _quartiles(row.step)
        return ModeResult(
            mode=row.mode.value,
            step=step,
            step_low=low,
            step_high=high,
            num_timed=row.step.number,
            speedup=row.speedup.factor,
            speedup_low=row.speedup.low,
            speedup_high=row.speedup.high,
            verdict=row.speedup.verdict,
            memory=row.memory,
            reference_memory=row.reference_memory,
            first_step=row.first_step,
            agreement=row.agreement.verdict,
            output_difference=row.agreement.outputs.largest,
            gradient_difference=row.agreement.gradients.largest,
            loss_difference=row.agreement.losses.largest,
            losses=row.losses,
            notes=row.notes,
            code=self._code(row.mode),
        )

    def _code(self, mode: OptimizationMode) -> str:
        start = self._start
        names = {**start.globals, **start.world.names, **start.world.local}
        models = [called(model, names, "model") for model in start.models]
        number = int(self._options.get("num_threads") or physical_cores())
        return code_for(mode, models, called(start.optimizer, names, "optimizer"), self._notes[mode], number)

    @property
    def _where(self) -> str:
        loop, start = self._start.loop, self._start
        if start.is_whole_cell:
            return ""
        if self._called and loop.file == self._cell.file and not loop.function:
            return f"the loop that calls {self._called}()"
        if loop.file != self._cell.file:
            return f"the loop in {loop.function}()" if loop.function else "the loop"
        return f"the loop at line {loop.line}" + (f", in {loop.function}()" if loop.function else "")

    @property
    def _place(self) -> str:
        if self._where:
            return f"one pass of {self._where}"
        return f"one call of {self._called}()" if self._called else "the cell without what defines and makes things"

    @property
    def _before(self) -> str:
        return f"before {self._where}" if self._where else "before the step"


def _quartiles(spread: Spread) -> tuple[float, float, float]:
    return spread.median, spread.low, spread.high


def _found(cell: CellCode) -> tuple[CellCode, Start, str]:
    """Return the cell, or the cell with a call of what it defines; where a loop begins; and what is called."""
    found, called = first_step(cell), ""
    if not isinstance(found, FirstStep):
        call = call_of_definition(cell.tree, {**cell.namespace, **found.names})
        if call is None:
            raise NoStepError(NO_STEP)
        tree, called = call
        cell = replace(cell, tree=tree)
        found = first_step(cell)
    if not isinstance(found, FirstStep):
        raise NoStepError(NO_STEP)
    return cell, start_of(found, cell), called
