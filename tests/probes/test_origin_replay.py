"""This file runs sick cells with and without the search for the origin, and compares everything that is left."""

import gc
import json
import random
import sys
import textwrap
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from torchmagic.probes.nonfinite import Nonfinite, NonFiniteError
from torchmagic.probes.origin_memory import StepMemory
from torchmagic.probes.sites import Site
from torchmagic.records.codec import decode, encode
from torchmagic.records.nonfinite import NonfiniteRecord

NOISY = """
import random
import numpy as np
random.seed(0)
np.random.seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.norm, self.drop, self.b = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 1)
        self.calls, self.seen = 0, []
    def forward(self, x):
        self.calls += 1
        self.seen.append(self.calls)
        print("forward", self.calls)
        return self.b(self.drop(torch.relu(self.norm(self.a(x))))) + random.random() * np.random.rand()
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
kept = []
net.a.register_forward_hook(lambda module, args, output: kept.append(output.shape))
"""
SICK = {
    "forward": """
        for step in range(4):
            opt.zero_grad()
            loss = torch.log(net(torch.randn(16, 4)).abs() * (step != 2)).mean()
            unrelated = torch.randn(7)
            loss.backward()
            opt.step()
        """,
    "backward": """
        for step in range(4):
            opt.zero_grad()
            out = net(torch.randn(16, 4))
            loss = out.mean() if step != 2 else (out - out.detach()).pow(2).sum(1).sqrt().mean()
            loss.backward()
            opt.step()
        """,
    "accumulated, in a function": """
        def accumulate(parts):
            for i, xb in enumerate(parts):
                out = net(xb)
                (out.mean() if i != 1 else (out - out.detach()).pow(2).sum(1).sqrt().mean()).backward()
        for step in range(3):
            opt.zero_grad()
            accumulate(torch.randn(16, 4).split(4))
            opt.step()
        """,
    "closure": """
        opt = torch.optim.LBFGS(net.parameters(), max_iter=3)
        x = torch.randn(16, 4)
        def closure():
            opt.zero_grad()
            out = net(x)
            loss = (out - out.detach()).pow(2).sum(1).sqrt().mean()
            loss.backward()
            return loss
        opt.step(closure)
        """,
    "update": """
        opt = torch.optim.RMSprop(net.parameters(), eps=0.0)
        for step in range(3):
            opt.zero_grad()
            loss = net(torch.randn(16, 4) * torch.tensor([1.0, 0.0, 1.0, 1.0])).pow(2).mean()
            loss.backward()
            opt.step()
        """,
}


def left_by(names):
    """Return everything that a cell leaves, as bits."""
    net, opt = names["net"], names["opt"]
    tensors = [*net.parameters(), *net.buffers(), *(p.grad for p in net.parameters() if p.grad is not None)]
    tensors += [each for state in opt.state.values() for each in state.values() if isinstance(each, torch.Tensor)]
    bits = [each.detach().numpy().tobytes() for each in tensors]
    versions = [each._version for each in (*net.parameters(), *net.buffers())]
    streams = (torch.get_rng_state().numpy().tobytes(), random.getstate(), np.random.get_state()[1].tobytes())  # noqa: NPY002
    others = (net.calls, net.seen, sorted(vars(net)), names["kept"], torch.is_grad_enabled())
    return bits, versions, streams, others


@pytest.mark.parametrize("sick", SICK)
def test_a_search_leaves_everything_as_it_was(run_cell, capsys, sick):
    source = NOISY + textwrap.dedent(SICK[sick])
    left, said = [], []
    for anomaly in ("off", "auto"):
        run, names = run_cell(source, anomaly=anomaly)
        assert bool(run.of(NonfiniteRecord)) == (anomaly == "auto")
        left.append(left_by(names))
        said.append(capsys.readouterr())
    for without, with_search in zip(*left, strict=True):
        assert without == with_search
    assert said[0] == said[1]


@pytest.mark.parametrize("sick", SICK)
def test_a_search_keeps_nothing_alive(run_cell, sick):
    def tensors_left(anomaly):
        run, names = run_cell(NOISY + textwrap.dedent(SICK[sick]), anomaly=anomaly)
        gc.collect()
        count = sum(1 for each in gc.get_objects() if type(each) is torch.Tensor)
        del names
        return count, run

    tensors_left("auto")  # what is made once only
    assert tensors_left("auto")[0] == tensors_left("off")[0]


@pytest.mark.parametrize("hook", ["pass", "out.register_hook(lambda gradient: 2 * gradient)"])
def test_a_functions_names_are_its_own_again_after_a_search(run_cell, hook):
    refs = []
    gc.disable()
    run, names = run_cell(
        f"""
        def train(model, optimizer):
            x = torch.randn(8, 4)
            refs.append(weakref.ref(x))
            out = model(x)
            {hook}
            loss = torch.log(out - 99).mean()
            loss.backward()
            del x, out, loss
            optimizer.zero_grad()
            optimizer.step()
            return refs[0]() is None
        net = nn.Linear(4, 1)
        dead = train(net, torch.optim.SGD(net.parameters(), lr=0.1))
        """,
        names={"weakref": weakref, "refs": refs},
    )
    gc.enable()
    assert run.of(NonfiniteRecord)[0].proven
    assert names["dead"]


def test_a_function_that_calls_locals_is_not_read(run_cell):
    run, names = run_cell(
        """
        def train(model):
            config = locals()
            x = torch.randn(8, 4)
            loss = torch.log(model(x) - 99).mean()
            loss.backward()
            return sorted(config)
        net = nn.Linear(4, 1)
        config = train(net)
        """
    )
    assert names["config"] == ["model"]
    assert run.of(NonfiniteRecord)[0].op == "log"


def test_statements_that_do_more_than_compute_are_not_run_again(run_cell):
    run, names = run_cell(
        """
        net = nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        calls = []
        def noted(value):
            calls.append(1)
            return value
        class Meter:
            def update(self, value):
                calls.append(2)
                return value
        meter = Meter()
        out = net(torch.randn(8, 4))
        loss = noted(torch.log(meter.update(out) - 99)).mean()
        loss.backward()
        """
    )
    assert names["calls"] == [2, 1]
    assert run.of(NonfiniteRecord)[0].op == "log"


@pytest.mark.parametrize("sick", ["forward", "backward", "accumulated, in a function", "closure"])
def test_raise_stops_before_the_step_is_applied(run_cell, sick):
    _, names = run_cell(NOISY + textwrap.dedent(SICK[sick]), anomaly="raise", raises=NonFiniteError)
    assert all(torch.isfinite(each).all() for each in names["net"].parameters())


def test_the_sentence_names_operator_module_parameter_line_and_cause(run_cell):
    with pytest.warns(
        RuntimeWarning, match=r"step 2: the gradient of net.b.bias is made non-finite by SqrtBackward0"
    ) as caught:
        run_cell(NOISY + textwrap.dedent(SICK["backward"]), anomaly="warn")
    said = str(caught[0].message)
    assert "slope of the square root at zero" in said
    assert "loss = out.mean() if step != 2 else" in said


def test_detect_joins_torchs_error_with_the_origin(run_cell):
    run, _ = run_cell(NOISY + textwrap.dedent(SICK["backward"]), anomaly="detect", raises=RuntimeError)
    (record,) = run.of(NonfiniteRecord)
    assert (record.op, record.step, record.proven) == ("SqrtBackward0", 2, True)
    assert not torch.is_anomaly_enabled()


def test_detect_leaves_what_the_user_chose(run_cell):
    with torch.autograd.set_detect_anomaly(True):
        run_cell(NOISY, anomaly="detect")
        assert torch.is_anomaly_enabled()
    run_cell(NOISY, anomaly="detect")
    assert not torch.is_anomaly_enabled()


def test_the_error_of_detect_says_the_origin(run_cell):
    source = (
        NOISY
        + "try:\n"
        + textwrap.indent(textwrap.dedent(SICK["backward"]), "    ")
        + ("except RuntimeError as error:\n    notes = error.__notes__\n")
    )
    _, names = run_cell(source, anomaly="detect")
    assert "SqrtBackward0" in names["notes"][0]


def test_weights_that_exploded_tell_the_step_at_which_they_began(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        x, y = torch.randn(64, 4), torch.randn(64, 1)
        for step in range(40):
            if step == 10:
                opt.param_groups[0]["lr"] = 30.0
            opt.zero_grad()
            (net(x) - y).pow(2).mean().backward()
            opt.step()
        """
    )
    (record,) = run.of(NonfiniteRecord)
    assert record.cause == "weights exploded"
    assert record.step > 11
    assert 9 <= record.began <= 11


def test_the_rows_of_a_bad_batch_are_told(run_cell):
    run, _ = run_cell(
        """
        net, opt = nn.Linear(4, 1), None
        x = torch.randn(16, 4)
        x[3, 1] = x[9, 0] = float("nan")
        net(x).mean().backward()
        """
    )
    (record,) = run.of(NonfiniteRecord)
    assert (record.direction, record.rows, record.where) == ("input", (3, 9), "columns 0, 1 of 4")


def test_a_search_happens_once_a_run(run_cell):
    run, names = run_cell(
        """
        import itertools
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 1)
            def forward(self, x):
                next(calls)  # an iterator cannot be put back
                return torch.log(self.linear(x) - 99)
        net = Net()
        calls = itertools.count()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(5):
            opt.zero_grad()
            net(torch.randn(8, 4)).mean().backward()
            opt.step()
        """
    )
    assert len(run.of(NonfiniteRecord)) == 1
    assert next(names["calls"]) == 6


@pytest.mark.parametrize("case", ["exponential_overflows", "norm_at_zero_in_a_layer", "dropout_decides"])
def test_a_loss_that_is_not_looked_at_is_found_by_its_gradient(run_cell, monkeypatch, case):
    """On an accelerator a loss is not fetched before its backward."""
    monkeypatch.setattr(Nonfinite, "_look_at", lambda *_: None)
    source = (Path(__file__).parent / "origins" / "harmful" / f"{case}.py").read_text()
    run, _ = run_cell(source)
    (record,) = run.of(NonfiniteRecord)
    assert record.direction == "forward"
    assert record.place.source.endswith("# here")
    assert record.proven


def test_a_model_in_evaluation_mode_that_is_called_twice_is_replayed(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(4, 3)).eval()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        a, b = torch.randn(8, 4), torch.randn(8, 4)
        for batch in [a] * 40:
            net(batch)
        loss = torch.log(net(a) - net(b) - 99).mean()
        loss.backward()
        """
    )
    (record,) = run.of(NonfiniteRecord)
    assert (record.op, record.proven) == ("log", True)


def test_a_record_survives_the_store(run_cell):
    run, _ = run_cell("net = nn.Linear(2, 1)\nx = torch.full((3, 2), float('nan'))\nnet(x).mean().backward()\n")
    (record,) = run.of(NonfiniteRecord)
    assert decode(json.loads(json.dumps(encode(record)))) == record
    assert record.rows == (0, 1, 2)


@pytest.mark.parametrize(
    ("settings", "on", "checks"),
    [
        ({"level": "expert"}, True, False),
        ({"level": "expert", "anomaly": "auto"}, False, True),
        ({"level": "advanced"}, False, True),
        ({"level": "basic", "anomaly": "detect"}, True, True),
    ],
)
def test_expert_has_torchs_detection_on_but_lets_a_harmless_nan_pass(run_cell, settings, on, checks):
    _, names = run_cell("on, checks = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()\n", **settings)
    assert names["on"] is on
    assert not on or names["checks"] is checks
    assert not torch.is_anomaly_enabled()


def test_a_loss_is_remembered_with_the_users_line_that_called_its_module():
    memory, criterion, here = StepMemory(), nn.MSELoss(), sys._getframe()
    criterion.register_forward_hook(
        lambda _, args, output: memory.loss("mse_loss", args, {}, output, sys._getframe(1))  # called by torch
    )
    given = torch.zeros(2, requires_grad=True)
    output, line = criterion(given, torch.ones(2)), here.f_lineno
    (loss,) = memory.losses
    assert loss.line() == Site(here.f_code, line)
    assert (loss.given(), loss.output()) == (given, output)
