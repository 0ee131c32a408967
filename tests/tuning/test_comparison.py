"""A mode against the plain loop: what agrees, what differs, and that nothing of the user's is changed."""

import math
import random

import pytest
import torch
from torch import nn

from torchmagic.tuning.batches import batch_of
from torchmagic.tuning.comparison import FEWEST_STEPS, Failure, Plan, Result, compare, is_worth_it
from torchmagic.tuning.copies import Training
from torchmagic.tuning.modes import OptimizationMode

PLAIN = ["mlp", "cnn without norm", "transformer", "rnn", "tied"]
ALL = [*PLAIN, "cnn", "dropout", "transformer with dropout"]


class Clock:
    """A clock that goes on by what it is told at each look, with noise: each step lasts one look."""

    def __init__(self, seed, seconds=1.0):
        self._chance, self._seconds, self.now = random.Random(seed), seconds, 0.0  # noqa: S311 - no secret

    def __call__(self):
        self.now += self._seconds * self._chance.lognormvariate(0, 0.2)
        return self.now


class Broken(nn.Module):
    """Computes what torch has in no lower precision."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 16)

    def forward(self, x):
        return torch.linalg.det(self.layer(x).view(-1, 4, 4))


class Careless(nn.Module):
    """Switches what is global, and fails, where it is run in lower precision."""

    def __init__(self):
        super().__init__()
        self.layer, self.norm = nn.Linear(6, 6), nn.BatchNorm1d(6)

    def forward(self, x):
        x = self.layer(x)
        torch.manual_seed(99)
        if x.dtype is torch.bfloat16:
            torch.set_default_dtype(torch.float64)
            torch.set_autocast_enabled("cpu", True)
            raise KeyError("not in bfloat16")
        return self.norm(x)


def compared(one, mode, **fields):
    found = compare(one.training, OptimizationMode(mode), one.plan(**fields))
    assert isinstance(found, Result), found
    return found


@pytest.mark.parametrize("name", ALL)
def test_the_plain_loop_against_itself_is_the_same_bits(case, name):
    found = compared(case(name), "none").agreement
    assert [each.largest for each in (found.outputs, found.gradients, found.losses)] == [0, 0, 0]
    assert found.verdict == "same"


@pytest.mark.parametrize("name", ALL)
def test_blocks_run_again_are_the_same_bits(case, name):
    one = case(name)
    if name == "rnn":
        pytest.skip("it has no blocks")
    found = compared(one, "memory_efficient", options={"micro_batches": 1}).agreement
    assert [each.largest for each in (found.outputs, found.gradients, found.losses)] == [0, 0, 0]


@pytest.mark.parametrize("name", ALL)
def test_lower_precision_is_the_same_within_its_rounding(case, name):
    found = compared(case(name), "amp").agreement
    assert found.verdict == "same within bf16 rounding"
    assert found.outputs.largest > 1e-5


@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_float16_is_scaled_and_the_same_within_its_rounding(case, name):
    found = compared(case(name, torch.optim.SGD), "amp", options={"dtype": torch.float16})
    assert found.agreement.verdict == "same within fp16 rounding"
    assert found.agreement.gradients.largest > 0


@pytest.mark.parametrize("optimizer", [torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.Adagrad])
@pytest.mark.parametrize("name", ["mlp", "cnn", "tied", "dropout"])
def test_a_fused_optimizer_is_the_same(case, name, optimizer):
    assert compared(case(name, optimizer), "fused_optimizer").agreement.verdict == "same"


@pytest.mark.parametrize("name", PLAIN)
def test_batches_in_pieces_are_the_same(case, name):
    found = compared(case(name), "gradient_accumulation")
    assert found.agreement.verdict == "same"
    assert found.notes == ()


def test_batches_in_pieces_are_told_to_differ_with_norm_and_with_dropout(case):
    found = compared(case("cnn"), "gradient_accumulation")
    assert found.agreement.verdict == "differs"
    assert found.notes == ("batch norm sees pieces instead of whole batches, so results differ",)
    assert compared(case("transformer with dropout"), "gradient_accumulation").agreement.verdict == "differs"


@pytest.mark.parametrize("name", ["cnn", "cnn without norm"])
def test_channels_last_is_the_same(case, name):
    assert compared(case(name), "channels_last").agreement.verdict == "same"


def test_threads_are_the_same_and_are_put_back(case):
    before = torch.get_num_threads()
    found = compared(case("mlp"), "threads", options={"num_threads": before + 1})
    assert found.agreement.verdict == "same"
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("mode", ["none", "amp", "memory_efficient", "channels_last", "fused_optimizer", "threads"])
@pytest.mark.parametrize("name", ["cnn", "dropout"])
def test_nothing_of_the_users_is_changed(case, name, mode, state_of, are_equal):
    one = case(name)
    before = state_of(one.training)
    compare(one.training, OptimizationMode(mode), one.plan(options={"num_threads": torch.get_num_threads() + 1}))
    assert are_equal(state_of(one.training), before)


def test_nothing_of_the_users_is_changed_by_a_mode_that_fails(state_of, are_equal):
    torch.manual_seed(0)
    model = Careless()
    training = Training(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1e-3), criterion=nn.MSELoss())
    batch = batch_of((torch.randn(4, 6), torch.randn(4, 6)), torch.device("cpu"), has_criterion=True)
    before = state_of(training)
    found = compare(training, OptimizationMode.AMP, Plan(groups=[[batch]], num_steps=1, seconds=0.0))
    assert found == Failure(mode=OptimizationMode.AMP, reason="KeyError: 'not in bfloat16'")
    assert are_equal(state_of(training), before)


def test_what_a_hook_of_the_users_writes_is_not_written_by_a_trial(case):
    one, calls = case("mlp"), []
    one.training.model.register_forward_hook(lambda *_: calls.append(1))
    found = compared(one, "none")
    assert calls == []
    assert found.notes == ("hooks of the model, 1 of them, did not run on copies",)


def test_a_dtype_that_is_not_supported_is_a_row():
    torch.manual_seed(0)
    model = Broken()
    training = Training(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=1e-3), criterion=nn.MSELoss())
    batch = batch_of((torch.randn(4, 6), torch.randn(4)), torch.device("cpu"), has_criterion=True)
    plan = Plan(groups=[[batch]], num_steps=1, seconds=0.0)
    assert isinstance(compare(training, OptimizationMode.NONE, plan), Result)
    found = compare(training, OptimizationMode.AMP, plan)
    assert isinstance(found, Failure)
    assert found.reason == """NotImplementedError: "lu_cpu" not implemented for 'BFloat16'"""


@pytest.mark.parametrize(
    ("name", "mode", "reason"),
    [
        ("mlp", "channels_last", "the model has no convolution over images"),
        ("mlp", "inference", "it trains nothing: use optimize_model for a model that is only asked"),
        ("rnn", "memory_efficient", "the model has no row of blocks, and one micro-batch saves nothing"),
    ],
)
def test_a_mode_that_does_not_apply_is_a_row(case, name, mode, reason):
    one = case(name)
    found = compare(one.training, OptimizationMode(mode), one.plan(options={"micro_batches": 1}))
    assert found == Failure(mode=OptimizationMode(mode), reason=reason)


def test_a_model_that_cannot_be_copied_is_a_row(case):
    one = case("mlp")
    one.training.model.lines = (line for line in "ab")
    found = compare(one.training, OptimizationMode.NONE, one.plan())
    assert isinstance(found, Failure)
    assert "the model cannot be copied" in found.reason


def test_a_mode_against_itself_is_no_difference(case):
    one = case("mlp")
    verdicts = [compared(one, "none", seconds=None, clock=Clock(seed)).speedup.verdict for seed in range(20)]
    assert verdicts.count("no difference") >= 19


def test_a_slower_mode_is_told(case):
    one = case("mlp")
    found = compared(one, "memory_efficient", seconds=None, num_steps=40, groups=one.plan().groups * 14)
    assert found.speedup.verdict == "slower"
    assert found.speedup.high < 1
    assert not is_worth_it(found)


def test_times_are_those_of_the_clock(case):
    found = compared(case("mlp"), "none", seconds=None, num_steps=50, clock=Clock(0, seconds=0.01))
    assert found.step.number == FEWEST_STEPS
    assert found.total_time == pytest.approx(50 * found.step.median)
    assert 0.005 < found.step.low < found.step.median < found.step.high < 0.02
    assert len(found.losses) == len(found.reference_losses) == FEWEST_STEPS + 3


def test_with_no_time_left_it_says_that_too_little_was_seen(case):
    found = compared(case("mlp"), "none", seconds=0.0)
    assert found.step.number == 1
    assert found.speedup.high == math.inf


def test_the_losses_are_those_of_the_users_own_loop(case):
    one = case("dropout")
    torch.manual_seed(9)
    found = compared(one, "none")
    torch.manual_seed(9)
    losses = []
    for x, y in (*one.batches, *one.batches[:1]):
        one.training.optimizer.zero_grad()
        loss = one.training.criterion(one.training.model(x), y)
        loss.backward()
        one.training.optimizer.step()
        losses.append(loss.item())
    assert list(found.losses) == losses


def test_memory_of_a_step_is_measured_for_both(case):
    for name in ("transformer", "mlp", "mlp"):
        found = compared(case(name), "none")
        assert found.memory == pytest.approx(found.reference_memory, rel=0.01)
        assert found.memory > 0
        assert found.memory_savings == pytest.approx(0, abs=0.01)
