"""This file plants values that are not finite, and tests whether their origin is found and nothing else disturbed."""

import random

import numpy as np
import pytest
import torch

from torchmagic.probes.nonfinite import NonFiniteError
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord

SETUP = """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randn(16, 1)
"""
LOOP = """
for step in range(4):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
"""


def origin(run):
    """Return the one origin of a run."""
    (record,) = run.of(NonfiniteRecord)
    return record


def layer(forward):
    """Return source in which a layer of the user's own stands between two of torch's."""
    return (
        "class Own(nn.Module):\n    def forward(self, x):\n        " + forward + "\n\n"
        "net = nn.Sequential(nn.Linear(4, 8), Own(), nn.Linear(8, 1))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.01)\nx, y = torch.randn(16, 4), torch.randn(16, 1)\n"
    )


@pytest.mark.parametrize(
    ("forward", "op"),
    [
        ("return torch.log(torch.relu(x))", "log"),
        ("return (x - 5).sqrt()", "sqrt"),
        ("return x / torch.zeros_like(x)", "div"),
        ("return torch.exp(1000 * x.abs() + 100)", "exp"),
        ("return x.abs().add(9).pow(200)", "pow"),
        ("return 1 / (x * 0)", "reciprocal"),
        ("return x.abs().add(9).mul(1e38)", "mul"),
        ("return torch.acos(x.abs() + 2)", "acos"),
        ("return (x - x.mean()) / (0 * x).std()", "div"),
    ],
)
def test_an_operator_inside_a_layer_is_found_with_its_line(run_cell, forward, op):
    run, _ = run_cell(layer(forward) + LOOP)
    record = origin(run)
    assert (record.birth, record.step, record.module, record.op) == (Birth.FORWARD, 0, "net.1", op)
    assert record.place.source == forward
    assert record.num_nan + record.num_inf > 0
    assert record.operands


@pytest.mark.parametrize(
    ("loss", "op"),
    [
        ("torch.log(net(x).relu()).mean()", "log"),
        ("(net(x) / (y * 0)).mean()", "div"),
        ("net(x).sub(50).sqrt().sum()", "sqrt"),
        ("(1e4 * net(x).abs().add(1)).exp().mean()", "exp"),
    ],
)
def test_an_operator_between_model_and_loss_is_found_with_its_line(run_cell, loss, op):
    run, _ = run_cell(SETUP + LOOP.replace("F.mse_loss(net(x), y)", loss))
    record = origin(run)
    assert (record.birth, record.op) == (Birth.FORWARD, op)
    assert record.place.source == f"loss = {loss}"


def test_a_loss_function_that_overflows_is_found(run_cell):
    run, _ = run_cell(SETUP + "y = y * 1e30\n" + LOOP)
    record = origin(run)
    assert (record.birth, record.op) == (Birth.FORWARD, "mse_loss")
    assert record.place.source == "loss = F.mse_loss(net(x), y)"


def test_a_bad_batch_is_found_with_its_columns(run_cell):
    run, _ = run_cell(SETUP + "x[3, 1] = float('nan')\nx[5, 2] = float('inf')\n" + LOOP)
    record = origin(run)
    assert (record.birth, record.model, record.num_nan, record.num_inf, record.num_elements) == (
        Birth.INPUT,
        "net",
        1,
        1,
        64,
    )
    assert record.where == "columns 1, 2 of 4"


def test_minus_infinities_that_a_layer_multiplies_are_bad_data_and_no_mask(run_cell):
    run, _ = run_cell(SETUP + "x[3, 1] = -float('inf')\n" + LOOP.replace("net(x)", "net(x.view(-1, 4))"))
    record = origin(run)
    assert (record.birth, record.num_inf) == (Birth.INPUT, 1)


def test_a_bad_batch_is_found_by_its_step_when_inputs_are_not_looked_at(run_cell):
    run, _ = run_cell(
        SETUP + "bad = x.clone()\nbad[0, 0] = float('nan')\n" + LOOP.replace("net(x)", "net(bad if step == 2 else x)"),
        every=10_000,
    )
    assert (origin(run).birth, origin(run).step) == (Birth.INPUT, 2)


def test_a_bad_target_is_no_fault_of_the_model(run_cell):
    run, _ = run_cell(SETUP + "y[7] = float('nan')\n" + LOOP)
    record = origin(run)
    assert record.birth is Birth.INPUT
    assert "target" in record.where


def test_a_bad_parameter_is_found_by_name(run_cell):
    run, _ = run_cell(SETUP + "with torch.no_grad():\n    net[2].weight[0, 3] = float('inf')\n" + LOOP)
    record = origin(run)
    assert (record.birth, record.parameter, record.module) == (Birth.PARAMETER, "net.2.weight", "net.2")


def test_the_slope_of_the_square_root_at_zero_is_found(run_cell):
    loss = "torch.sqrt((net(x) - net(x)).pow(2).sum(1)).mean()"
    run, _ = run_cell(SETUP + LOOP.replace("F.mse_loss(net(x), y)", loss))
    record = origin(run)
    assert (record.birth, record.op) == (Birth.GRADIENT, "SqrtBackward0")
    assert record.place.source == f"loss = {loss}"
    assert record.num_parameters == 4
    assert record.parameter.startswith("net.")


def test_a_function_of_the_users_own_that_breaks_in_its_backward_is_a_gradient(run_cell):
    run, _ = run_cell(
        """
        class Breaks(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1.0
            @staticmethod
            def backward(ctx, gradient):
                return gradient / 0.0
        net = nn.Linear(4, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        loss = Breaks.apply(net(torch.randn(8, 4))).sum()
        loss.backward()
        opt.step()
        """
    )
    assert origin(run).birth is Birth.GRADIENT
    assert (origin(run).module, origin(run).parameter) == (None, "net.bias")  # it stands outside the module


def test_a_function_of_the_users_own_that_breaks_in_its_forward_is_found(run_cell):
    run, _ = run_cell(
        """
        class Breaks(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x / 0.0
            @staticmethod
            def backward(ctx, gradient):
                return gradient
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 1)
            def forward(self, x):
                return Breaks.apply(self.linear(x))
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        loss = net(torch.randn(8, 4)).sum()
        loss.backward()
        opt.step()
        """
    )
    record = origin(run)
    assert (record.birth, record.op, record.place.source) == (Birth.FORWARD, "div", "return x / 0.0")


@pytest.mark.parametrize(
    "scores",
    [
        "scores.masked_fill(future, float('-inf'))",
        "scores + torch.full((5, 5), float('-inf')).triu(1)",
        "torch.where(future, torch.tensor(float('-inf')), scores)",
    ],
)
def test_a_mask_of_minus_infinity_is_silent(run_cell, scores):
    run, _ = run_cell(
        f"""
        class Attention(nn.Module):
            def __init__(self):
                super().__init__()
                self.q, self.k, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 1)
            def forward(self, x):
                scores = self.q(x) @ self.k(x).transpose(1, 2)
                future = torch.ones(5, 5, dtype=torch.bool).triu(1)
                return self.out(({scores}).softmax(-1) @ x)
        net = Attention()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(3):
            opt.zero_grad()
            net(torch.randn(4, 5, 8)).pow(2).mean().backward()
            opt.step()
        """
    )
    assert run.of(NonfiniteRecord) == []


def test_a_gradient_that_a_scaler_made_infinite_is_not_laid_to_the_line_that_divides_it(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(4, 1).half()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
        for step in range(3):
            opt.zero_grad()
            scaler.scale(net(torch.ones(4, 4).half()).float().sum()).backward()
            for p in net.parameters():
                p.grad /= scaler.get_scale()
            opt.step()
        """
    )
    assert origin(run).cause is not Cause.CHANGED_GRADIENT


def test_a_mask_handed_to_the_model_is_silent(run_cell):
    run, _ = run_cell(
        """
        net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        mask = nn.Transformer.generate_square_subsequent_mask(5)
        for step in range(3):
            opt.zero_grad()
            net(torch.randn(4, 5, 8), src_mask=mask).pow(2).mean().backward()
            opt.step()
        """
    )
    assert run.of(NonfiniteRecord) == []


def test_a_row_that_is_masked_whole_is_the_origin(run_cell):
    forward = "return x.masked_fill(x < 1e9, float('-inf')).softmax(-1)"
    run, _ = run_cell(layer(forward) + LOOP)
    record = origin(run)
    assert (record.birth, record.module, record.place.source) == (Birth.FORWARD, "net.1", forward)


def test_a_part_of_a_model_that_overflows_later_in_the_run_is_found_at_its_step(run_cell):
    run, _ = run_cell(SETUP + LOOP.replace("net(x), y", "net(x) * (float('inf') if step == 2 else 1.0), y"))
    assert origin(run).step == 2


def test_only_the_first_origin_is_told(run_cell):
    run, _ = run_cell(layer("return torch.log(torch.relu(x))") + LOOP.replace("range(4)", "range(20)"))
    assert len(run.of(NonfiniteRecord)) == 1


def test_steps_that_a_scaler_skips_are_silent(run_cell):
    run, _ = run_cell(
        SETUP + "scaler = torch.amp.GradScaler('cpu', init_scale=2.0**127, growth_interval=1000)\n"
        "for step in range(6):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n"
        "    scaler.scale(100 * loss).backward()\n    scaler.step(opt)\n    scaler.update()\n"
    )
    assert run.of(NonfiniteRecord) == []


def test_gradients_that_overflow_in_steps_that_a_scaler_skips_are_silent(run_cell):
    run, _ = run_cell(
        SETUP + "scaler = torch.amp.GradScaler('cpu', init_scale=1024.0, growth_interval=1000)\n"
        "net[0].weight.register_hook(lambda g: g * float('inf') if scaler.get_scale() > 200 else g)\n"
        "for step in range(6):\n    opt.zero_grad()\n    loss = F.mse_loss(net(x), y)\n"
        "    scaler.scale(loss).backward()\n    scaler.step(opt)\n    scaler.update()\n"
    )
    assert run.of(NonfiniteRecord) == []
    assert run.steps == 3


def test_raise_stops_before_the_weights_are_touched(run_cell):
    run, names = run_cell(
        SETUP + LOOP.replace("net(x), y", "net(x).sub(50 if step == 2 else -50).sqrt(), y"),
        anomaly="raise",
        raises=NonFiniteError,
    )
    assert run.steps == 2
    assert all(torch.isfinite(p).all() for p in names["net"].parameters())
    assert run.status == "error"


def test_raise_stops_before_a_bad_gradient_is_used(run_cell):
    _, names = run_cell(
        SETUP + LOOP.replace("F.mse_loss(net(x), y)", "torch.sqrt((net(x) - net(x)).pow(2).sum(1)).mean()"),
        anomaly="raise",
        raises=NonFiniteError,
    )
    assert all(torch.isfinite(p).all() for p in names["net"].parameters())


def test_warn_warns_once_at_the_users_line(run_cell):
    with pytest.warns(RuntimeWarning, match="step 0: log made a non-finite value in net.1") as caught:
        run_cell(layer("return torch.log(torch.relu(x))") + LOOP, anomaly="warn")
    assert len(caught) == 1
    assert caught[0].filename.startswith("<cell")


def test_off_looks_for_nothing(run_cell):
    run, _ = run_cell(layer("return torch.log(torch.relu(x))") + LOOP, anomaly="off")
    assert run.of(NonfiniteRecord) == []


def test_the_replay_leaves_random_streams_buffers_and_attributes_as_they_were(run_cell):
    source = """
    import random
    import numpy as np
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.norm, self.drop = nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5)
            self.calls, self.seen = 0, []
        def forward(self, x):
            self.calls += 1
            self.seen.append(self.calls)
            setattr(self, f"call{self.calls}", x)
            x = self.drop(self.norm(self.linear(x))) + random.random() + np.random.rand()
            return torch.log(x - 100)
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    net = Noisy()
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    loss = net(torch.randn(16, 4)).sum()
    loss.backward()
    """
    left = []
    for anomaly in ("off", "auto"):
        run, names = run_cell(source, anomaly=anomaly)
        net = names["net"]
        left.append((torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy(), net))  # noqa: NPY002 - the global stream
        assert bool(run.of(NonfiniteRecord)) == (anomaly == "auto")
    (torch_off, python_off, numpy_off, off), (torch_on, python_on, numpy_on, on) = left
    assert torch.equal(torch_off, torch_on)
    assert python_off == python_on
    assert (numpy_off == numpy_on).all()
    assert (on.calls, on.seen) == (off.calls, off.seen) == (1, [1])
    assert vars(on).keys() == vars(off).keys()
    for name, buffer in off.named_buffers():
        assert torch.equal(buffer, dict(on.named_buffers())[name])


def test_a_forward_that_cannot_run_twice_does_not_disturb(run_cell):
    run, _ = run_cell(
        """
        class Once(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear, self.tickets = nn.Linear(4, 1), iter([1])
            def forward(self, x):
                next(self.tickets)
                return torch.log(self.linear(x).relu() * 0)
        net = Once()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        loss = net(torch.randn(8, 4)).sum()
        loss.backward()
        opt.step()
        """
    )
    assert origin(run).birth is Birth.FORWARD


BY_HAND = """
w, dead = torch.randn(4, 2, requires_grad=True), torch.zeros(3, requires_grad=True)
for i in range(4):
    loss = F.cross_entropy(torch.randn(8, 4) @ w + dead.sum() * 0, torch.randint(0, 2, (8,)))
    loss.backward()
    with torch.no_grad():
        for p in (w, dead):
            p -= 0.1 * p.grad / p.grad.norm()
            p.grad = None
"""


@pytest.mark.parametrize("held", ["w, dead", "w, dead = nn.Parameter(w.detach()), nn.Parameter(dead.detach())"])
def test_a_step_by_hand_that_breaks_a_tensor_is_an_update_at_its_own_line(run_cell, held):
    run, _ = run_cell(BY_HAND.replace("for i", f"{held}\nfor i", 1))
    record = origin(run)
    assert (record.birth, record.parameter, record.step) == (Birth.UPDATE, "dead", 1)
    assert record.place.source == "p -= 0.1 * p.grad / p.grad.norm()"


@pytest.mark.parametrize(
    "groups", ["net.parameters()", "[{'params': [*net[0].parameters()]}, {'params': net[2].parameters()}]"]
)
def test_the_rate_that_broke_a_weight_is_named_though_a_schedule_has_changed_it(run_cell, groups):
    source = (
        SETUP
        + f"""
opt = torch.optim.SGD({groups}, lr=1e-9)
rates = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: 1e47 if step == 2 else 1.0)
for step in range(5):
    opt.zero_grad()
    (1e4 * F.mse_loss(net(x), y)).backward()
    opt.step()
    rates.step()
"""
    )
    run, _ = run_cell(source)
    record = origin(run)
    assert (record.birth, record.step) == (Birth.UPDATE, 3)
    assert record.operands.endswith("SGD with lr 1e+38")


def test_a_step_by_hand_that_breaks_a_model_is_not_said_to_be_loaded_so(run_cell):
    source = (
        SETUP + "with torch.no_grad():\n    net[0].weight[:] = net[0].bias[:] = 0\nnet[2].bias.requires_grad_(False)\n"
    )
    source += "opt = None\nfor step in range(4):\n    F.mse_loss(net(x), y).backward()\n    with torch.no_grad():\n"
    source += "        for p in net.parameters():\n            if p.grad is not None:\n"
    source += "                p.sub_(0.1 * p.grad / p.grad.norm())\n                p.grad = None\n"
    run, _ = run_cell(source)
    record = origin(run)
    assert (record.birth, record.optimizer) == (Birth.UPDATE, "the loop")
    assert record.place.source == "p.sub_(0.1 * p.grad / p.grad.norm())"


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_the_buffers_of_scripted_modules_are_the_same_bits_after_a_replay(run_cell):
    source = """
    net = torch.jit.script(nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 3), nn.Softmax(1)))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(4):
        loss = -torch.log(net(torch.randn(8, 4)) * (i != 2)).mean()
        if i == 2:
            loss.backward()
            break
        loss.backward()
        opt.step()
    held = {name: value.clone() for name, value in net.state_dict().items()}
    """
    run, watched = run_cell(source)
    assert origin(run).proven
    torch.manual_seed(0)
    _, bare = run_cell(source, only=frozenset({"memory"}))
    for name, value in bare["held"].items():
        assert torch.equal(watched["held"][name], value), name


def test_what_a_graph_alone_tells_has_a_cause_too(run_cell):
    source = """
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), 0.05)
    def losses(batches):
        for x, m in batches:
            yield ((net(x)[:, 0] - 1) ** 2 * m).sum() / m.sum()
    for loss in losses([(torch.randn(8, 4), torch.ones(8) * (i != 4)) for i in range(6)]):
        opt.zero_grad()
        loss.backward()
        opt.step()
    """
    run, _ = run_cell(source)
    record = origin(run)
    assert (record.op, record.cause, record.operands, record.proven) == (
        "div",
        "division by zero",
        "given 0 to 0",
        False,
    )
    assert "/ m.sum()" in record.place.source
