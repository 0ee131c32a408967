"""This file tests the statistics of activations against what numpy says of the same tensors, and who is left out."""

import gc
import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.checkpoint import checkpoint

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.rectifiers import looks_at
from torchmagic.records.activation import ActivationRecord, TensorFacts
from torchmagic.session.session import Session
from torchmagic.tensors.glance import MOST_VALUES, _on_device, glance, pooled, readable, sample, tensors_in

STEP = """
opt = torch.optim.SGD(net.parameters(), lr=0.0)
for step in range({steps}):
    opt.zero_grad()
    net({x}).sum().backward()
    opt.step()
"""
NAMES = ("mean", "std", "abs_max", "zero_share", "nonfinite")


class Fixed(nn.Module):
    """Gives what it holds, so that its statistics are known."""

    def __init__(self, value):
        super().__init__()
        self.register_buffer("value", value)

    def forward(self, x):
        return self.value + 0 * x.sum()


def last(run, metric, module):
    return run.series(f"activation_{metric}", module=module)[1][-1]


def run_fixed(run_cell, value, **settings):
    net = nn.Sequential(nn.Linear(2, 2), Fixed(value))
    run, _ = run_cell(STEP.format(steps=2, x="torch.ones(1, 2)"), names={"net": net}, **settings)
    return {name: last(run, name, "net.1") for name in NAMES}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_the_statistics_are_those_of_numpy(run_cell, dtype):
    value = torch.randn(40, 30).mul(3).add(50).to(dtype)
    value[:10] = 0
    found, want = run_fixed(run_cell, value), value.double().numpy()
    assert found["mean"] == pytest.approx(want.mean(), rel=1e-6)
    assert found["std"] == pytest.approx(want.std(), rel=1e-6)
    assert found["abs_max"] == np.abs(want).max()
    assert found["zero_share"] == 0.25
    assert found["nonfinite"] == 0


def test_numbers_that_are_not_finite_are_counted(run_cell):
    value = torch.ones(10, 10)
    value[0, :3] = torch.tensor([math.nan, math.inf, -math.inf])
    found = run_fixed(run_cell, value, anomaly="off")
    assert found["nonfinite"] == 3
    assert math.isnan(found["abs_max"])
    assert math.isnan(found["std"])


def test_each_module_is_told_once_with_what_it_takes_and_gives(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Embedding(5, 3), nn.LSTM(3, 4, batch_first=True))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(3):\n"
        "    opt.zero_grad()\n"
        "    net(torch.zeros(2, 6, dtype=torch.int64))[0].sum().backward()\n"
        "    opt.step()\n"
    )
    embedding, lstm = run.of(ActivationRecord)
    assert (embedding.module, embedding.class_name) == ("net.0", "Embedding")
    assert embedding.inputs == (TensorFacts(shape=(2, 6), dtype="int64", device="cpu"),)
    assert [facts.shape for facts in lstm.outputs] == [(2, 6, 4), (1, 2, 4), (1, 2, 4)]
    assert len(run.series("activation_mean", module="net.1")[1]) == 3


@pytest.mark.parametrize(
    ("module", "outputs", "share"),
    [
        (nn.Sigmoid(), [0.5, 0.03, 0.97, 0.99, 0.01], 0.4),
        (nn.Tanh(), [0.0, 0.9, -0.97, 0.99, -0.99], 0.4),
        (nn.Hardsigmoid(), [0.5, 0.1, 0.0, 1.0, 1.0], 0.6),
        (nn.Hardtanh(-2.0, 2.0), [2.0, -2.0, 1.9, 0.0, 0.0], 0.4),
        (nn.ReLU6(), [6.0, 0.0, 3.0, 5.9, 0.0], 0.2),
        (nn.Softsign(), [0.99, -0.99, 0.5, 0.0, 0.1], 0.4),
    ],
    ids=lambda value: type(value).__name__,
)
def test_saturation_is_the_share_of_outputs_in_the_flat_part(run_cell, module, outputs, share):
    module.forward = lambda x: torch.tensor([outputs]) + 0 * x.sum()
    net = nn.Sequential(nn.Linear(2, 2), module)
    run, _ = run_cell(STEP.format(steps=2, x="torch.ones(1, 2)"), names={"net": net})
    assert last(run, "saturation", "net.1") == pytest.approx(share)
    assert run.subjects("activation_saturation") == ("net.1",)


def test_a_module_used_twice_is_measured_over_both_uses(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin, self.same = nn.Linear(1, 1), nn.Identity()
            def forward(self, x):
                self.same(torch.full((2, 3), 5.0))
                self.same(torch.full((1, 3), -1.0))
                return self.lin(x)
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.0)
        for step in range(2):
            net(torch.ones(1, 1)).sum().backward()
            opt.step()
        """
    )
    assert last(run, "mean", "net.same") == 3.0
    assert last(run, "std", "net.same") == pytest.approx(math.sqrt(8))
    assert last(run, "abs_max", "net.same") == 5.0


@pytest.mark.parametrize(
    ("guard", "mode"), [("torch.no_grad()", "eval"), ("torch.enable_grad()", "eval"), ("torch.no_grad()", "train")]
)
def test_an_evaluation_is_not_mixed_in(run_cell, guard, mode):
    run, _ = run_cell(
        f"""
        net = nn.Sequential(nn.Linear(1, 1), nn.Identity())
        with torch.no_grad():
            net[0].weight.fill_(1.0)
            net[0].bias.fill_(0.0)
        opt = torch.optim.SGD(net.parameters(), lr=0.0)
        for step in range(4):
            net.train()
            net(torch.full((1, 1), 1.0)).sum().backward()
            net.{mode}()
            with {guard}:
                for _ in range(3):
                    net(torch.full((1, 1), 100.0))
            opt.step()
        """
    )
    assert run.series("activation_mean", module="net.1") == ([0, 1, 2, 3], [1.0] * 4)


def test_a_training_in_evaluation_mode_is_measured(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(1, 1), nn.Dropout())\nnet.eval()\n" + STEP.format(steps=3, x="torch.ones(1, 1)")
    )
    assert run.series("activation_mean", module="net.1")[0] == [0, 1, 2]


def test_what_checkpointing_computes_again_is_not_counted_again(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 1)
                self.calls = []
            def forward(self, x):
                return self.b(checkpoint(self.a, x, use_reentrant=False))
        net = Net()
        """
        + STEP.format(steps=3, x="torch.full((1, 3), float(step))").replace("\n", "\n        "),
        names={"checkpoint": checkpoint},
    )
    assert len(run.series("activation_mean", module="net.a")[1]) == 3
    assert len(run.of(ActivationRecord)) == 2


def test_an_output_that_is_changed_in_place_and_one_that_is_a_view_are_measured(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(inplace=True), nn.Unflatten(1, (2, 3)), nn.Flatten())\n"
        "with torch.no_grad():\n    net[0].weight.fill_(0.0)\n"
        "    net[0].bias.copy_(torch.tensor([-1.0, -1, -1, 2, 2, 2]))\n" + STEP.format(steps=2, x="torch.randn(8, 4)")
    )
    assert last(run, "mean", "net.0") == 0.5
    assert [last(run, "zero_share", f"net.{i}") for i in (0, 1, 2, 3)] == [0.0, 0.5, 0.5, 0.5]


def test_under_autocast_the_half_outputs_are_measured(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(2):
            opt.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = net(torch.randn(4, 8)).float().mean()
            loss.backward()
            opt.step()
        """
    )
    first = next(record for record in run.of(ActivationRecord) if record.module == "net.0")
    assert (first.inputs[0].dtype, first.outputs[0].dtype) == ("float32", "bfloat16")
    assert last(run, "std", "net.0") > 0


def test_a_criterion_is_no_activation_and_functional_code_has_none(run_cell):
    run, _ = run_cell(
        """
        w = torch.ones(3, requires_grad=True)
        opt = torch.optim.SGD([w], lr=0.1)
        criterion = nn.MSELoss()
        for step in range(3):
            opt.zero_grad()
            criterion(w * torch.tanh(w), torch.zeros(3)).backward()
            opt.step()
        """
    )
    assert not run.of(ActivationRecord)
    assert run.subjects("activation_mean") == ()


def test_vmap_and_meta_and_complex_and_sparse_are_left_alone(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
        torch.vmap(net)(torch.randn(4, 3))
        nn.Linear(3, 2, device="meta")(torch.randn(4, 3, device="meta"))
        wave = nn.Linear(3, 2, dtype=torch.complex64)
        opt = torch.optim.SGD(wave.parameters(), lr=0.1)
        wave(torch.randn(4, 3, dtype=torch.complex64)).abs().sum().backward()
        opt.step()
        """,
        only=("activations",),
    )
    assert {record.outputs[0].dtype for record in run.of(ActivationRecord)} == {"float32", "complex64"}
    assert run.subjects("activation_mean") == ()


def test_the_looks_at_rectifiers_never_lie_far_apart_and_see_every_batch_of_a_short_epoch():
    looks = [step for step in range(2000) if looks_at(step)]
    gaps = {before: after - before for before, after in itertools.pairwise(looks)}
    assert max(gap for before, gap in gaps.items() if before < 240) < 16
    assert max(gap for before, gap in gaps.items() if before < 1000) < 32
    assert max(gaps.values()) < 64
    for epoch in (4, 7, 8, 16, 28):
        assert {step % epoch for step in looks} == set(range(epoch))


def test_the_looks_at_rectifiers_do_not_depend_on_the_machine(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))\n"
        + STEP.format(steps=400, x="torch.randn(64, 4)"),
        every=None,
        budget=0.0,
    )
    steps, _ = run.series("dead_share", module="net.1")
    assert steps == [step for step in range(4, 400) if looks_at(step)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=60),
    st.sampled_from([torch.float64, torch.float32]),
)
def test_a_glance_agrees_with_numpy(numbers, dtype):
    values = torch.tensor(numbers, dtype=dtype)
    want = values.double().numpy()
    total, length, low, high, zeros, finite = glance(values)
    mean, deviation = pooled([len(numbers)], [total], [length])
    scale, accuracy = np.abs(want).max(), 4 * torch.finfo(dtype).eps
    assert mean == pytest.approx(want.mean(), rel=accuracy, abs=accuracy * scale)
    assert deviation == pytest.approx(want.std(), rel=1e3 * accuracy, abs=accuracy * scale)
    assert (low, high, zeros, finite) == (want.min(), want.max(), (want == 0).sum(), len(numbers))


@pytest.mark.parametrize("value", [1e30, 3e38])
def test_numbers_whose_squares_or_sums_float32_cannot_hold_are_measured_all_the_same(value):
    values = torch.tensor([value, -value, value, value])
    total, length, *_, finite = glance(values)
    mean, deviation = pooled([4], [total], [length])
    assert mean == pytest.approx(values.double().mean().item())
    assert deviation == pytest.approx(values.double().std(correction=0).item())
    assert finite == 4


@pytest.mark.parametrize("numbers", [[1.0, 0.0, -3.0, 8.0], [math.inf, 1.0], [math.nan, 0.0, 2.0]])
def test_a_glance_on_a_device_says_what_a_glance_on_the_host_says(numbers):
    values = torch.tensor(numbers)
    assert [each.item() for each in _on_device(values)] == pytest.approx(list(glance(values)), nan_ok=True)


@given(st.lists(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=9), min_size=1, max_size=5))
def test_groups_pool_to_the_statistics_of_all_values(groups):
    mean, deviation = pooled(
        [len(each) for each in groups],
        [np.sum(each) for each in groups],
        [np.std(each) * math.sqrt(len(each)) for each in groups],
    )
    everything = np.concatenate(groups)
    assert mean == pytest.approx(everything.mean(), abs=1e-9)
    assert deviation == pytest.approx(everything.std(), abs=1e-6)


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t,
        lambda t: t.permute(0, 2, 3, 1),
        lambda t: t.to(memory_format=torch.channels_last),
        lambda t: t[:, :, ::2],
        lambda t: t[:1].expand(8, -1, -1, -1),
    ],
)
def test_a_sample_is_bounded_repeatable_and_spread(view):
    values = view(torch.arange(8 * 16 * 64 * 64, dtype=torch.float32).view(8, 16, 64, 64))
    found = sample(values)
    assert found.numel() <= MOST_VALUES
    assert found.numel() >= 8192
    assert torch.equal(found, sample(values))
    assert found.double().mean().item() == pytest.approx(values.double().mean().item(), rel=0.05)


def test_what_cannot_be_read_is_known_before_it_is_tried():
    plain = torch.zeros(2, 2)
    assert readable(plain)
    assert not readable(plain.to("meta"))
    assert not readable(plain.to_sparse())
    assert not readable(plain.long())
    assert not readable(plain.to(torch.complex64))
    assert not readable(torch.zeros(0))
    assert not readable(torch.nested.nested_tensor([plain, plain], layout=torch.jagged))
    assert not readable(None)


def test_tensors_are_found_in_nests():
    a, b = torch.zeros(1), torch.ones(1)
    assert tensors_in(({"x": [a, 3]}, b)) == [a, b]
    assert len(tensors_in([a] * 100)) == 8


def test_copies_of_outputs_that_no_step_followed_are_let_go_as_the_watch_ends():
    net, watching = nn.Linear(5, 13), Watch(Settings(save=False, level="expert"), session=Session())
    watching.start()
    output = net(torch.randn(7, 5))
    watching.stop()
    gc.collect()
    held = [each for each in gc.get_objects() if type(each) is torch.Tensor and each.shape == (7, 13)]
    assert [id(each) for each in held] == [id(output)]


def test_after_the_first_broken_step_the_modules_are_looked_at_whatever_the_budget(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(80):\n    opt.zero_grad()\n"
        "    (net(torch.randn(8, 4)) * (float('nan') if step == 70 else 1.0)).sum().backward()\n    opt.step()\n",
        every=None,
        budget=0.0,
    )
    found = dict(zip(*run.series("activation_nonfinite", module="net.2"), strict=True))
    assert [step for step, count in found.items() if count] == [72]


def test_the_greatest_magnitude_is_that_of_either_sign(run_cell):
    run, names = run_cell(
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.LogSoftmax(1))
        opt = torch.optim.SGD(net.parameters(), lr=0.0)
        for _ in range(2):
            opt.zero_grad()
            outputs = net(torch.randn(16, 4))
            outputs.sum().backward()
            opt.step()
        least = outputs.min().item()
        """
    )
    assert last(run, "abs_max", "net.2") == pytest.approx(-names["least"])
