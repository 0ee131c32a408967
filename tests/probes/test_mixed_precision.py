"""This file tests what is told of autocast and of half numbers, from small models that train on the CPU."""

import math

import pytest
import torch
from torch import nn

from torchmagic.debuggers.watching import watch
from torchmagic.records.note import FailureRecord
from torchmagic.records.precision import AutocastBackwardRecord, AutocastRecord, HalfWeightsRecord

NET = "net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))\n"
LOOP = """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range({steps}):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.{dtype}):
        loss = net(torch.randn(4, 8)).float().pow(2).mean()
    loss.backward()
    opt.step()
"""
INSIDE = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 1)
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.b(self.a(x)).float()
net = Net()
"""
PLAIN = """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range({steps}):
    opt.zero_grad()
    {loss}.sum().backward()
    opt.step()
"""
METRICS = ("activation_headroom", "activation_subnormal_share", "grad_headroom", "weight_headroom")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_healthy_autocast_training_is_told_once(run_cell, dtype):
    run, _ = run_cell(NET + LOOP.format(steps=6, dtype=dtype))
    (record,) = run.of(AutocastRecord)
    assert record == AutocastRecord(model="net", step=0, enabled=True, device_type="cpu", dtype=dtype, inside=False)
    assert not run.of(AutocastBackwardRecord)
    assert not run.of(HalfWeightsRecord)


def test_a_model_that_later_runs_without_autocast_is_told_too(run_cell):
    run, _ = run_cell(NET + LOOP.format(steps=6, dtype="bfloat16") + "net(torch.randn(4, 8))\n" * 3)
    with_autocast, without = run.of(AutocastRecord)
    assert (with_autocast.enabled, without.enabled, without.step) == (True, False, 6)
    assert (without.device_type, without.dtype) == ("", "")


def test_a_region_inside_a_model_is_seen(run_cell):
    run, _ = run_cell(INSIDE + PLAIN.format(steps=6, loss="net(torch.randn(4, 8))"))
    (record,) = run.of(AutocastRecord)
    assert (record.inside, record.dtype) == (True, "bfloat16")


def test_a_loop_without_autocast_tells_nothing_and_looks_for_nothing(run_cell):
    run, _ = run_cell(NET + PLAIN.format(steps=6, loss="net(torch.randn(4, 8))"))
    assert not run.of(AutocastRecord)
    assert all(run.subjects(metric) == () for metric in METRICS)


def test_a_backward_under_autocast_is_told_with_its_line(run_cell):
    run, _ = run_cell(
        NET
        + """
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(torch.randn(4, 8)).float().mean()
        loss.backward()
    opt.step()
"""
    )
    (record,) = run.of(AutocastBackwardRecord)
    assert (record.step, record.dtype, record.place.source) == (0, "bfloat16", "loss.backward()")


@pytest.mark.parametrize(("half", "count"), [("net.bfloat16()", 4), ("net[0].bfloat16()", 2)])
def test_half_weights_are_told(run_cell, half, count):
    data = "net[0](torch.randn(4, 8).bfloat16()).float()"
    run, _ = run_cell(
        NET + half + "\nnet.half_of = nn.Identity()\n" + PLAIN.format(steps=6, loss=data),
        only=("mixed-precision",),
    )
    (record,) = run.of(HalfWeightsRecord)
    assert (record.model, record.dtype, record.num_half, record.num_parameters) == ("net", "bfloat16", count, 4)


def test_the_headroom_of_weights_gradients_and_activations_is_known(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(2, 1, bias=False), nn.Identity()).half()
        with torch.no_grad():
            net[0].weight.copy_(torch.tensor([[8.0, -2.0]]))
        opt = torch.optim.SGD(net.parameters(), lr=0.0)
        for step in range(4):
            opt.zero_grad()
            net(torch.tensor([[1024.0, 0.00001]], dtype=torch.float16)).sum().backward()
            opt.step()
        """,
        only=("mixed-precision",),
    )
    most = torch.finfo(torch.float16).max
    assert run.series("weight_headroom", parameter="net.0.weight")[1][-1] == pytest.approx(math.log2(most / 8))
    assert run.series("grad_headroom", parameter="net.0.weight")[1][-1] == pytest.approx(math.log2(most / 1024))
    assert run.series("grad_subnormal_share", parameter="net.0.weight")[1][-1] == 0.5
    assert run.series("activation_headroom", module="net.1")[1][-1] == pytest.approx(math.log2(most / 8192))


def test_gradients_that_came_through_float16_are_measured_by_it(run_cell):
    run, _ = run_cell(
        NET + LOOP.replace("pow(2).mean()", "mul(1e-6).mean()").format(steps=4, dtype="float16"),
    )
    name = "net.0.weight"
    assert run.series("grad_underflow_share", parameter=name)[1][-1] == 1.0
    assert run.series("grad_subnormal_share", parameter=name)[1][-1] > 0.0
    assert run.subjects("weight_headroom") == ()


def test_an_overflow_leaves_no_headroom_and_an_all_zero_output_says_nothing(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU()).half()
        with torch.no_grad():
            net[0].weight.fill_(-60000.0)
        opt = torch.optim.SGD(net.parameters(), lr=0.0)
        for step in range(4):
            net(torch.tensor([[10.0, 10.0]], dtype=torch.float16)).sum().backward()
            opt.step()
        """,
        only=("mixed-precision",),
    )
    assert run.series("activation_headroom", module="net.0")[1][-1] == 0.0
    assert math.isnan(run.series("activation_headroom", module="net.1")[1][-1])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_watched_loop_with_autocast_and_scaler_computes_the_same_bits(dtype):
    def outcome():
        torch.manual_seed(3)
        net = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(144, 3)
        )
        opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
        scaler = torch.amp.GradScaler("cpu", growth_interval=2)
        losses = []
        for _ in range(12):
            opt.zero_grad()
            with torch.autocast("cpu", dtype=dtype):
                losses.append(net(torch.randn(8, 1, 8, 8)).float().pow(2).mean())
            scaler.scale(losses[-1]).backward()
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
        state = {name: value.clone() for name, value in net.state_dict().items()}
        return torch.stack(losses).detach(), state, scaler.state_dict(), torch.get_rng_state()

    losses, weights, scaling, stream = outcome()
    with watch(save=False, level="expert", anomaly="off") as run:
        watched = outcome()
    assert run.steps > 4
    assert not run.of(FailureRecord)
    assert run.subjects("activation_headroom")
    assert torch.equal(losses, watched[0])
    assert all(torch.equal(weights[name], watched[1][name]) for name in weights)
    assert scaling == watched[2]
    assert torch.equal(stream, watched[3])


def test_mixed_precision_can_be_left_out(run_cell):
    run, _ = run_cell(NET + LOOP.format(steps=6, dtype="bfloat16"), without=("mixed-precision",))
    assert not run.of(AutocastRecord)
    assert all(run.subjects(metric) == () for metric in METRICS)
