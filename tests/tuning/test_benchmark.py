"""What a benchmark recommends."""

import math
from dataclasses import replace

import pytest

from torchmagic.tuning.agreement import Agreement, Difference
from torchmagic.tuning.benchmark import Benchmark, benchmark
from torchmagic.tuning.comparison import Failure, Result
from torchmagic.tuning.measure import Speedup, Spread
from torchmagic.tuning.modes import OptimizationMode

NOTHING = Difference(largest=0.0, relative=0.0)


def row(mode, step, verdict="faster", agreement="same", high=2.0):
    return Result(
        mode=OptimizationMode(mode),
        step=Spread(median=step, low=step, high=step, number=30),
        reference=Spread(median=1.0, low=1.0, high=1.0, number=30),
        speedup=Speedup(factor=1 / step, low=1.1, high=high, verdict=verdict),
        first_step=step + 3,
        num_steps=10,
        total_time=10 * step,
        agreement=Agreement(outputs=NOTHING, gradients=NOTHING, losses=NOTHING, verdict=agreement),
        losses=(),
        reference_losses=(),
        memory=50.0,
        reference_memory=200.0,
    )


def recommended(*rows):
    found = Benchmark(rows=rows, seconds=1.0).recommended
    return found and found.mode.value


def test_the_fastest_that_agrees_is_recommended():
    assert recommended(row("amp", 0.5, agreement="same within bf16 rounding"), row("threads", 0.8)) == "amp"


@pytest.mark.parametrize(
    "unfit",
    [
        row("amp", 0.5, verdict="no difference"),
        row("amp", 0.5, agreement="differs"),
        Failure(mode=OptimizationMode.AMP, reason="no"),
    ],
    ids=["within the noise", "differs", "failed"],
)
def test_nothing_is_recommended_that_is_noise_or_differs_or_failed(unfit):
    assert recommended(unfit) is None
    assert recommended(unfit, row("threads", 0.8)) == "threads"


def test_savings_and_the_cost_of_compiling_are_told():
    found = row("compilation", 0.5)
    assert found.memory_savings == 0.75
    assert found.compile_time == 3.0
    assert replace(found, memory=None).memory_savings is None
    assert replace(found, reference_memory=0.0).memory_savings is None


def test_rows_come_in_the_order_that_was_asked_for_and_time_is_shared(case):
    one = case("mlp")
    ticks = iter(range(10**6))
    plan = one.plan(seconds=None, clock=lambda: next(ticks) * 1.0)
    modes = [OptimizationMode.AMP, OptimizationMode.NONE, OptimizationMode.FUSED_OPTIMIZER]
    found = benchmark(one.training, modes, plan, seconds=60.0)
    assert [each.mode for each in found.rows] == modes
    assert isinstance(found.rows[0], Result)
    assert found.rows[0].step.number < found.rows[0].num_steps + 24
    assert math.isfinite(found.seconds)
