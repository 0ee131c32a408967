"""This file plants NaN where only an evaluation meets it, and tests that it is told with its origin, or kept quiet."""

import pytest
import torch

from torchmagic.debuggers import open_watches
from torchmagic.probes import evaluation_sentinel
from torchmagic.probes.nonfinite import NonFiniteError
from torchmagic.records.nonfinite import Birth, Cause, NonfiniteRecord

SETUP = """
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)
def fit():
    net.train()
    for i in range(0, 64, 16):
        opt.zero_grad()
        F.mse_loss(net(x[i:i + 16]), y[i:i + 16]).backward()
        opt.step()
"""
EPOCHS = """
for epoch in range(5):
    fit()
    if epoch == 2:
        SPOIL
    net.eval()
    with torch.no_grad():
        LOSS
"""
SPOIL = "net[1].running_var.fill_(float('nan'))"
LOSS = "loss = F.mse_loss(net(x), y)"


def epochs(spoil=SPOIL, loss=LOSS):
    return SETUP + EPOCHS.replace("SPOIL", spoil).replace("LOSS", loss)


def own(forward, *, setup=""):
    """Return source in which a layer of the user's own does something in evaluation mode alone."""
    return (
        "class Own(nn.Module):\n    def forward(self, x):\n        if not self.training:\n            "
        + forward
        + "\n        return x\n\n"
        + SETUP.replace("nn.ReLU()", "nn.ReLU(), Own()")
        + setup
        + EPOCHS.replace("SPOIL", "pass").replace("LOSS", LOSS)
    )


def origin(run):
    (record,) = run.of(NonfiniteRecord)
    return record


@pytest.mark.parametrize("level", ["basic", "advanced", "expert"])
def test_a_running_variance_that_became_nan_is_named_at_the_first_evaluation(run_cell, level):
    run, _ = run_cell(epochs(), level=level, every=None)
    record = origin(run)
    assert (record.birth, record.module, record.parameter) == (Birth.BUFFER, "net.1", "net.1.running_var")
    assert (record.step, record.evaluation, record.num_nan, record.num_elements) == (12, 3, 8, 8)
    assert record.place.source == LOSS
    (finding,) = (each for each in run.findings if each.rule == "nonfinite-forward")
    assert finding.title == "net.1: running_var is non-finite at step 12, evaluation 3"
    assert "reset_running_stats" in finding.fix


def test_a_loss_of_an_evaluation_that_keeps_its_graph_is_told_as_training_goes_on(run_cell):
    loss = "out = net(x)\n        loss = F.mse_loss((out - 100).log(), y)"
    run, _ = run_cell(epochs("pass", loss).replace("torch.no_grad()", "torch.enable_grad()"))
    assert (origin(run).op, origin(run).step, origin(run).evaluation) == ("log", 4, 1)


def test_a_loss_that_a_teacher_was_asked_for_is_training(run_cell):
    source = "teacher = nn.Linear(4, 1).requires_grad_(False).eval()\n" + SETUP + "out = net(x)\n"
    source += "with torch.no_grad():\n    wanted = teacher(x)\nloss = F.mse_loss((out - 100).log(), wanted)\n"
    run, _ = run_cell(source + "loss.backward()\nopt.step()\n")
    assert (origin(run).op, origin(run).evaluation) == ("log", None)


@pytest.mark.parametrize("loss", ["loss = (net(x) - y).pow(2).mean()", "best = net(x).argmax(1)", "net(x)"])
def test_an_output_is_looked_at_where_no_loss_is_known(run_cell, loss):
    run, _ = run_cell(epochs(loss=loss))
    assert (origin(run).parameter, origin(run).evaluation) == ("net.1.running_var", 3)


@pytest.mark.parametrize("context", ["torch.no_grad()", "torch.inference_mode()", "torch.enable_grad()"])
def test_a_model_that_only_predicts_is_looked_at(run_cell, context):
    source = SETUP + "net[1].running_mean[2] = float('nan')\nnet.eval()\n" + f"with {context}:\n    out = net(x)\n"
    run, _ = run_cell(source)
    record = origin(run)
    assert (record.birth, record.parameter, record.step, record.evaluation) == (
        Birth.BUFFER,
        "net.1.running_mean",
        0,
        1,
    )
    assert record.place.source == "out = net(x)"


def test_an_operator_that_only_runs_in_evaluation_mode_is_found_with_its_line(run_cell):
    run, _ = run_cell(own("return (x - 100).sqrt()"))
    record = origin(run)
    assert (record.birth, record.op, record.module, record.evaluation) == (Birth.FORWARD, "sqrt", "net.3", 1)
    assert (record.cause, record.proven) == (Cause.SQRT_OF_NEGATIVE, True)
    assert record.place.source == "return (x - 100).sqrt()"


def test_what_happens_between_output_and_loss_is_found(run_cell):
    run, _ = run_cell(epochs("pass", "out = net(x)\n        loss = F.mse_loss((out - 100).log(), y)"))
    record = origin(run)
    assert (record.op, record.module) == ("log", None)
    assert record.place.source == "loss = F.mse_loss((out - 100).log(), y)"


def test_a_loss_of_nothing_is_the_losss_own(run_cell):
    source = SETUP.replace("nn.Linear(8, 1)", "nn.Linear(8, 3)").replace("F.mse_loss", "F.cross_entropy")
    source = source.replace("torch.randn(64, 1)", "torch.arange(64) % 3")
    loop = EPOCHS.replace("SPOIL", "pass").replace("LOSS", "loss = F.cross_entropy(net(x), y * 0 - 100)")
    run, _ = run_cell(source + loop)
    assert (origin(run).op, origin(run).cause) == ("nll_loss_forward", Cause.NO_TARGETS)
    assert {each.rule for each in run.findings if each.severity == "error"} >= {"all-targets-ignored"}


def test_a_loss_of_no_rows_is_a_reduction_of_nothing(run_cell):
    source = SETUP.replace("nn.Linear(8, 1)", "nn.Linear(8, 3)").replace("F.mse_loss", "F.cross_entropy")
    source = source.replace("torch.randn(64, 1)", "torch.arange(64) % 3")
    loop = EPOCHS.replace("SPOIL", "pass").replace("LOSS", "loss = F.cross_entropy(net(x)[y > 5], y[y > 5])")
    run, _ = run_cell(source + loop)
    assert (origin(run).op, origin(run).cause) == ("nll_loss_forward", Cause.EMPTY_REDUCTION)
    rules = {each.rule for each in run.findings if each.severity == "error"}
    assert "nonfinite-forward" in rules
    assert "all-targets-ignored" not in rules


def test_a_criterion_of_torchs_own_is_looked_into_too(run_cell):
    run, _ = run_cell(epochs("y[3] = float('nan')", "loss = nn.MSELoss()(net(x), y)").replace("range(5)", "range(3)"))
    record = origin(run)
    assert (record.birth, record.evaluation) == (Birth.INPUT, 3)
    assert "target" in record.where


def test_a_bad_row_came_in_with_the_input(run_cell):
    run, _ = run_cell(
        epochs("bad = x.clone(); bad[5, 2] = float('nan')", "loss = F.mse_loss(net(bad if epoch == 2 else x), y)")
    )
    record = origin(run)
    assert (record.birth, record.model, record.rows, record.where) == (Birth.INPUT, "net", (5,), "columns 2 of 4")


def test_a_bad_row_that_no_loss_was_computed_on_is_told_as_the_next_forward_begins(run_cell):
    source = SETUP + "fit()\nbad = x.clone(); bad[5, 2] = float('nan')\nnet.eval()\nwith torch.no_grad():\n"
    run, _ = run_cell(source + "    out = net(bad)\n    loss = F.mse_loss(net(x), y)\n")
    assert (origin(run).birth, origin(run).place.source) == (Birth.INPUT, "out = net(bad)")


def test_a_weight_that_no_optimizer_steps_was_made_so(run_cell):
    source = "teacher = nn.Linear(4, 1).requires_grad_(False)\nteacher.weight[0, 1] = float('nan')\n" + SETUP
    run, _ = run_cell(source + "fit()\nteacher.eval()\nout = teacher(x)\n")
    assert (origin(run).birth, origin(run).parameter) == (Birth.PARAMETER, "teacher.weight")


def test_a_weight_that_the_last_update_broke_is_found_by_the_evaluation_behind_it(run_cell):
    source = SETUP + "fit()\nopt.param_groups[0]['lr'] = float('inf')\nfit_one = x[:16]\n"
    source += (
        "opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()\nnet.eval()\nwith torch.no_grad():\n    net(x)\n"
    )
    run, _ = run_cell(source)
    assert (origin(run).birth, origin(run).cause) == (Birth.UPDATE, Cause.BAD_CONSTANT)


def test_an_evaluation_that_keeps_its_graph_is_looked_at(run_cell):
    run, _ = run_cell(epochs().replace("torch.no_grad()", "torch.enable_grad()"))
    assert (origin(run).parameter, origin(run).evaluation) == ("net.1.running_var", 3)


def test_one_bad_batch_late_in_a_long_evaluation_shows_in_its_loss(run_cell):
    source = SETUP + "fit()\nnet.eval()\nwith torch.no_grad():\n    for i in range(200):\n"
    source += "        batch = x * (float('nan') if i == 150 else 1)\n        loss = F.mse_loss(net(batch), y)\n"
    run, _ = run_cell(source)
    assert origin(run).birth is Birth.INPUT


HARMLESS = {
    "masked logits": own("x = x.masked_fill(x > 1, float('-inf'))\n            return x.clamp_min(-1e9)"),
    "outputs of minus infinity": epochs("pass", "out = net(x).masked_fill(y > 0, float('-inf')).log_softmax(0)"),
    "a model that gives out minus infinity": SETUP.replace("nn.Linear(8, 1))", "nn.Linear(8, 1), nn.Identity())")
    + "net[4].register_forward_hook(lambda m, a, o: o if m.training else o.masked_fill(o < 0, float('-inf')))\n"
    + EPOCHS.replace("SPOIL", "pass").replace("LOSS", "out = net(x)"),
    "a masked class that is a target": SETUP.replace("nn.Linear(8, 1)", "nn.Linear(8, 3)")
    .replace("F.mse_loss", "F.cross_entropy")
    .replace("torch.randn(64, 1)", "torch.arange(64) % 3")
    + EPOCHS.replace("SPOIL", "pass").replace(
        "LOSS", "loss = F.cross_entropy(net(x).masked_fill(torch.arange(3) == 2, float('-inf')), y)"
    ),
    "padding of labels that is left out": epochs(
        "y[3:6] = float('nan')", "loss = F.mse_loss(net(x)[~y.isnan()], y[~y.isnan()])"
    ).replace("range(5)", "range(3)"),
    "NaN that the loss leaves out": epochs(
        "bad = x.clone(); bad[5, 2] = float('nan')",
        "keep = torch.arange(64) != 5\n        out = net(bad if epoch > 1 else x)\n"
        "        loss = F.mse_loss(out[keep], y[keep])",
    ),
    "a metric on nothing": epochs("pass", "loss = F.mse_loss(net(x), y)\n        other = x[:0].mean()"),
    "a module without weights between model and reader": """
class Away(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Identity()
    def forward(self, x):
        return self.inner(x) * float("nan")
net, away = nn.Linear(4, 1), Away()
net.eval()
with torch.no_grad():
    away(net(torch.randn(3, 4)))
""",
    "a target of the model's own whose bad rows are left out": """
net, x = nn.Linear(4, 1), torch.randn(64, 4)
opt, bad = torch.optim.SGD(net.parameters(), lr=0.01), x.clone()
bad[5, 2] = float("nan")
for _ in range(6):
    opt.zero_grad()
    out = net(x)
    with torch.no_grad():
        wanted = net(bad)
    (out - wanted)[~wanted.isnan()].pow(2).mean().backward()
    opt.step()
""",
    "padding of sequences": """
net = nn.Linear(4, 2)
x = torch.randn(8, 5, 4)
x[2, 3:] = float("nan")
net.eval()
with torch.no_grad():
    out = net(x)
    out = net(x)
""",
    "rows of attention that are closed": """
net = nn.MultiheadAttention(8, 2, batch_first=True)
x, closed = torch.randn(4, 5, 8), torch.zeros(4, 5, dtype=torch.bool)
closed[2] = True
net.eval()
with torch.no_grad():
    for _ in range(3):
        out, _ = net(x, x, x, key_padding_mask=closed, need_weights=False)
""",
    "a teacher whose bad rows are left out": "teacher = nn.Linear(4, 1).requires_grad_(False).eval()\n"
    + SETUP
    + """
net.train()
bad = x.clone()
bad[5] = float("nan")
for _ in range(6):
    with torch.no_grad():
        wanted = teacher(bad)
    opt.zero_grad()
    F.mse_loss(net(x)[~wanted.isnan()], wanted[~wanted.isnan()]).backward()
    opt.step()
""",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_infinities_and_nan_are_silent(run_cell, name):
    run, _ = run_cell(HARMLESS[name])
    assert run.of(NonfiniteRecord) == []


def test_what_may_be_left_out_is_told_once_the_loss_is_bad_too(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(4, 2)\nx, y = torch.randn(8, 5, 4), torch.randn(8, 5, 2)\nx[2, 3:] = float('nan')\n"
        "net.eval()\nwith torch.no_grad():\n    loss = F.mse_loss(net(x), y)\n"
    )
    assert (origin(run).birth, origin(run).num_nan) == (Birth.INPUT, 8)


def test_a_fine_tuning_in_evaluation_mode_counts_as_training(run_cell):
    source = SETUP.replace("net.train()", "net.eval()") + "for epoch in range(3):\n    fit()\n"
    run, _ = run_cell(source + "net[3].weight.data.fill_(float('nan'))\nfit()\n", anomaly="auto")
    assert (origin(run).birth, origin(run).evaluation) == (Birth.UPDATE, None)


def test_raise_stops_at_the_evaluation_and_warn_warns_at_its_line(run_cell):
    run, _ = run_cell(epochs(), anomaly="raise", raises=NonFiniteError)
    assert run.steps == 12
    with pytest.warns(RuntimeWarning, match="step 12, evaluation 3: the buffer net.1.running_var is non-finite"):
        run_cell(epochs(), anomaly="warn")


def test_an_output_on_a_device_is_read_later(run_cell, monkeypatch):
    monkeypatch.setattr(evaluation_sentinel, "is_near", lambda _: False)
    run, _ = run_cell(epochs())
    assert (origin(run).parameter, origin(run).evaluation) == ("net.1.running_var", 4)
    run, _ = run_cell(
        epochs("net[1].running_var.fill_(float('nan') if epoch == 4 else 1)").replace("epoch == 2", "epoch > 2")
    )
    assert (origin(run).parameter, origin(run).evaluation) == ("net.1.running_var", 5)


def test_weights_buffers_and_random_numbers_stay_the_same_bits(run_cell):
    source = SETUP.replace("nn.ReLU()", "nn.Dropout(0.5)") + EPOCHS.replace("SPOIL", SPOIL).replace("LOSS", LOSS)
    source = source.replace("net.eval()", "net.eval(); net[2].train()") + "after = torch.rand(3)\n"
    left = [run_cell(source, anomaly=anomaly) for anomaly in ("off", "auto")]
    (_, off), (run, on) = left
    assert run.of(NonfiniteRecord)
    assert torch.equal(off["after"], on["after"])
    for name, value in off["net"].state_dict().items():
        assert torch.equal(value.nan_to_num(7.0), on["net"].state_dict()[name].nan_to_num(7.0)), name


def ears():
    """Return who listens to outputs of evaluations at present."""
    return [each for each in open_watches.WATCHING[-1]._taps.heard["root_end"] if "_Ear" in each.__qualname__]


def test_outputs_are_listened_to_in_evaluations_alone(run_cell):
    source = SETUP + "fit()\nnet.register_forward_hook(lambda *_: heard.append(len(ears())))\n"
    heard = []
    run_cell(source + "net.eval()\nwith torch.no_grad():\n    net(x)\nfit()\n", names={"heard": heard, "ears": ears})
    assert heard == [1, 0, 0, 0, 0]


def test_a_teacher_and_a_long_prediction_are_looked_at_seldom(run_cell):
    teacher = "teacher = nn.Linear(4, 1).requires_grad_(False).eval()\n" + SETUP
    teacher += "teacher.register_forward_hook(lambda *_: heard.append(len(ears())))\nnet.train()\n"
    steps = """
for _ in range(300):
    with torch.no_grad():
        wanted = teacher(x)
    opt.zero_grad()
    F.mse_loss(net(x), wanted).backward()
    opt.step()
"""
    heard = []
    run_cell(teacher + steps, names={"heard": heard, "ears": ears}, level="basic")
    assert sum(heard[:65]) == 65
    assert 0 < sum(heard[100:]) <= 4
    heard.clear()
    run_cell(teacher + "for _ in range(300):\n    teacher(x)\n", names={"heard": heard, "ears": ears})
    assert sum(heard) == 64 + 4 - 1


def test_an_evaluation_holds_no_batch_once_training_goes_on(run_cell):
    source = (
        SETUP + "import weakref, gc\nnet.eval()\nwith torch.no_grad():\n    batch = x * 1.0\n    out = net(batch)\n"
    )
    source += "held = weakref.ref(batch)\ndel batch, out\nfit()\nleft = held()\n"
    _, names = run_cell(source)
    assert names["left"] is None


def test_an_evaluation_between_backward_and_step_holds_no_batch(run_cell):
    source = SETUP + "import weakref\nF.mse_loss(net(x), y).backward()\nwith torch.no_grad():\n    batch = x * 1.0\n"
    source += "    out = net(batch)\nheld = weakref.ref(batch)\ndel batch, out\nopt.step()\nleft = held()\n"
    _, names = run_cell(source, level="basic", only=("anomaly", "gradients"))
    assert names["left"] is None
