"""This file tests which forwards are known for evaluations, in which mode they ran, and their losses."""

import pytest
import torch
from torch import nn

from torchmagic.analyses.early_stopping import early_stopping
from torchmagic.probes.modes import is_alone
from torchmagic.records.evaluation import EvaluationRecord

ONLY = {"only": ("data", "validation", "backward")}
SETUP = """
net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader, tensors = torch.utils.data.DataLoader, torch.utils.data.TensorDataset
x, y, xv, yv = torch.randn(32, 3), torch.arange(32) % 2, torch.randn(24, 3), torch.arange(24) % 2
train, test = loader(tensors(x, y), batch_size=8), loader(tensors(xv, yv), batch_size=8)
criterion = nn.CrossEntropyLoss()
def fit():
    for a, b in train:
        opt.zero_grad()
        loss = criterion(net(a), b)
        loss.backward()
        opt.step()
"""
EVALUATION = """
for _ in range(3):
    net.train()
    fit()
    net.eval()
    with torch.no_grad():
        for a, b in test:
            loss = criterion(net(a), b)
"""


def passes(run):
    return run.of(EvaluationRecord)


def test_evaluations_after_each_epoch_are_told_apart_from_training(run_cell):
    run, _ = run_cell(SETUP + EVALUATION, **ONLY)
    assert [each.step for each in passes(run)] == [4, 8, 12]
    for each in passes(run):
        assert (each.model, each.loader, each.num_batches, each.num_losses) == ("net", "test", 3, 3)
        assert (each.training, each.grad_enabled, each.recorded_graph, each.awake) == (False, False, False, ())
        assert (each.also_trained, each.trained_on) == (True, False)
        assert each.loss_names == ("cross_entropy(test)",)
        assert each.place.source == "loss = criterion(net(a), b)"
    assert len(run.series("loss", name="loss")[0]) == 12
    assert run.series("eval_batches", name="net") == ([4, 8, 12], [3.0, 3.0, 3.0])


def test_the_loss_of_an_evaluation_is_the_mean_over_its_batches(run_cell):
    source = SETUP + EVALUATION + "expected = [criterion(net(a), b).item() for a, b in test]"
    run, names = run_cell(source.replace("expected", "with torch.no_grad(): expected"), **ONLY)
    steps, losses = run.series("eval_loss", name="cross_entropy(test)")
    assert steps == [4, 8, 12]
    assert losses[-1] == pytest.approx(sum(names["expected"]) / 3, rel=1e-5)


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("inside", [False, True])
def test_a_last_batch_of_few_samples_counts_as_many_as_it_has(run_cell, kind, inside):
    number = str(kind)
    call = "criterion(net(a), b)"
    if inside:
        call = "net(a, b)['loss']"
    run, names = run_cell(
        SETUP
        + f"""
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 2)
    def forward(self, a, b=None):
        out = self.body(a)
        return out if b is None else {{"loss": F.cross_entropy(out, b)}}
net = Own()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
fit()
net.to({number})
batches = [(xv[:11], yv[:11]), (xv[11:22], yv[11:22]), (9 * xv[22:], 1 - yv[22:])]
batches = [(a.to({number}), b) for a, b in batches]
with torch.no_grad():
    losses = [{call} for a, b in batches]
""",
        **ONLY,
    )
    (subject,) = run.subjects("eval_loss")
    weighted = sum(n * loss.double() for n, loss in zip((11, 11, 2), names["losses"], strict=True)) / 24
    assert run.series("eval_loss", name=subject)[1] == [pytest.approx(float(weighted), rel=1e-5)]


def test_losses_that_are_added_up_are_added_batch_by_batch(run_cell):
    source = (
        SETUP
        + """
fit()
with torch.no_grad():
    losses = [F.cross_entropy(net(a), b, reduction="sum") for a, b in ((xv[:20], yv[:20]), (xv[20:], yv[20:]))]
"""
    )
    run, names = run_cell(source, **ONLY)
    mean = float(sum(names["losses"]) / 2)
    assert run.series("eval_loss", name="sum of cross_entropy(net)")[1] == [pytest.approx(mean, rel=1e-5)]


def test_training_alone_has_no_evaluation(run_cell):
    run, _ = run_cell(SETUP + "for _ in range(4): fit()", **ONLY)
    assert not passes(run)
    assert not run.subjects("eval_loss")


def test_an_evaluation_in_training_mode_names_the_layers_that_are_awake(run_cell):
    run, _ = run_cell(SETUP + EVALUATION.replace("net.eval()", "pass"), **ONLY)
    assert {(each.training, each.grad_enabled, each.awake) for each in passes(run)} == {(True, False, ("net.1",))}


def test_an_evaluation_without_no_grad_is_known(run_cell):
    run, _ = run_cell(SETUP + EVALUATION.replace("with torch.no_grad():", "if True:"), **ONLY)
    assert [each.num_batches for each in passes(run)] == [3, 3, 3]
    assert {(each.training, each.grad_enabled, each.recorded_graph) for each in passes(run)} == {(False, True, True)}
    assert run.series("eval_loss", name="cross_entropy(test)")[0] == [4, 8, 12]


def test_an_evaluation_that_differentiates_its_input_needs_its_graph(run_cell):
    cell = """
def residual(x):
    u = net(x)
    slope, = torch.autograd.grad(u.sum(), x, create_graph=True)
    return (slope - u).pow(2).mean()
x = torch.rand(16, 3, requires_grad=True)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    opt.zero_grad()
    residual(x).backward()
    opt.step()
points = torch.rand(8, 3).requires_grad_()
for _ in range(3):
    print(residual(points).item())
"""
    run, _ = run_cell(cell, only=("data", "validation", "backward"))
    assert [each.recorded_graph for each in passes(run)] == [False]


@pytest.mark.parametrize("call", ["net(a)", "net(x=a)", "net((a, a * 2))"], ids=["alone", "by name", "in a tuple"])
def test_a_gradient_of_the_input_is_no_evaluation(run_cell, call):
    cell = f"""
class Net(nn.Sequential):
    def forward(self, x):
        return super().forward(x[0] if isinstance(x, tuple) else x)
net = Net(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
slopes = torch.autograd.grad
for _ in range(2):
    fit()
net.eval()
for _ in range(3):
    a = torch.rand(8, 3, requires_grad=True)
    print(slopes({call}.sum(), a)[0].norm().item())
"""
    run, _ = run_cell(SETUP + cell, **ONLY)
    assert not passes(run)


def test_an_evaluation_with_neither_eval_nor_no_grad_is_known_by_its_loader(run_cell):
    source = EVALUATION.replace("with torch.no_grad():", "if True:").replace("net.eval()", "pass")
    run, _ = run_cell(SETUP + source, **ONLY)
    assert [(each.loader, each.num_batches, each.training) for each in passes(run)] == [("test", 3, True)] * 3
    assert not any(each.loader == "train" for each in passes(run))


def test_an_evaluation_by_hand_with_neither_eval_nor_no_grad_is_known_by_its_losses(run_cell):
    source = """
    for _ in range(3):
        for i in range(0, 32, 8):
            opt.zero_grad()
            loss = criterion(net(x[i : i + 8]), y[i : i + 8])
            loss.backward()
            opt.step()
        values = [criterion(net(xv[i : i + 4]), yv[i : i + 4]).item() for i in range(0, 24, 4)]
    """
    run, _ = run_cell(SETUP + "if True:" + source, **ONLY)
    assert [each.num_batches for each in passes(run)] == [6, 6, 6]
    assert [each.num_losses for each in passes(run)] == [6, 6, 6]
    assert len(run.series("eval_loss", name="cross_entropy(net)")[0]) == 3


@pytest.mark.parametrize(
    "body",
    [
        # gradients accumulate over batches
        "for k, (a, b) in enumerate(train):\n    (criterion(net(a), b) / 4).backward()\nopt.step()",
        # a loss a moment, one backward
        "total = sum(criterion(net(a), b) for a, b in train)\ntotal.backward()\nopt.step()",
        # two calls and one loss
        "loss = criterion(net(x) + net(x.flip(0)), y)\nloss.backward()\nopt.step()",
        # a penalty that needs a second forward
        "criterion(net(x), y).backward()\nF.mse_loss(net(x), net(x).detach() + 1).backward()\nopt.step()",
        # a closure
        (
            "def closure():\n    opt.zero_grad()\n    loss = criterion(net(x), y)\n"
            "    loss.backward()\n    return loss\n"
            "opt = torch.optim.LBFGS(net.parameters(), max_iter=4)\nopt.step(closure)"
        ),
        # an attack in evaluation mode
        (
            "a = x.clone().requires_grad_()\nnet.eval()\n"
            "for _ in range(5): torch.autograd.grad(criterion(net(a), y), a)\n"
            "net.train()\ncriterion(net(x), y).backward()\nopt.step()"
        ),
        # trained in evaluation mode, by mistake or not
        "net.eval()\nfit()",
        # a loop that is left before its last backward
        (
            "for i, (a, b) in enumerate(train):\n    loss = criterion(net(a), b)\n    if i == 3: break\n"
            "    loss.backward()\n    opt.step()"
        ),
    ],
    ids=["accumulation", "sum", "two calls", "two backwards", "closure", "attack", "eval mode", "left"],
)
def test_training_of_another_shape_is_no_evaluation(run_cell, body):
    indented = "".join(f"    {line}\n" for line in body.splitlines())
    run, _ = run_cell(SETUP + "fit()\nfor _ in range(4):\n" + indented, **ONLY)
    assert not passes(run)


def test_two_networks_against_each_other_have_no_evaluation(run_cell):
    source = """
    G, D = nn.Linear(2, 3), nn.Linear(3, 1)
    g, d = torch.optim.SGD(G.parameters(), lr=0.01), torch.optim.SGD(D.parameters(), lr=0.01)
    bce, ones = F.binary_cross_entropy_with_logits, torch.ones(8, 1)
    for _ in range(6):
        fake = G(torch.randn(8, 2))
        d.zero_grad()
        (bce(D(torch.randn(8, 3)), ones) + bce(D(fake.detach()), 0 * ones)).backward()
        d.step()
        g.zero_grad()
        bce(D(fake), ones).backward()
        g.step()
    """
    run, _ = run_cell(source, **ONLY)
    assert not passes(run)


def test_a_teacher_at_every_step_does_not_crowd_out_the_evaluations(run_cell):
    source = """
    teacher = nn.Linear(3, 2)
    for epoch in range(3):
        net.train()
        for i in range(20):
            with torch.no_grad(): soft = teacher(x)
            opt.zero_grad()
            F.mse_loss(net(x), soft).backward()
            opt.step()
        net.eval()
        with torch.no_grad(): criterion(net(xv), yv)
    """
    run, _ = run_cell(SETUP + "if True:" + source, **ONLY)
    assert [(each.step, each.num_losses) for each in passes(run) if each.model == "net"] == [(20, 1), (40, 1), (60, 1)]
    assert not any(each.also_trained or each.num_losses for each in passes(run) if each.model == "teacher")
    assert len(run.series("eval_loss", name="cross_entropy(net)")[0]) == 3


def test_batch_norm_renewed_by_torch_is_no_evaluation(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))\n"
        "data = [torch.randn(8, 3) for _ in range(4)]\ntorch.optim.swa_utils.update_bn(data, net)",
        **ONLY,
    )
    assert not passes(run)


def test_an_evaluation_on_the_training_data_says_so(run_cell):
    source = EVALUATION.replace("in test:", "in check:")
    run, _ = run_cell(SETUP + "check = loader(train.dataset, batch_size=16)\n" + source, **ONLY)
    assert {(each.loader, each.trained_on) for each in passes(run)} == {("check", True)}


def test_two_loaders_evaluated_one_after_the_other_have_a_curve_each(run_cell):
    more = "        for a, b in more:\n            loss = criterion(net(a), b)\n"
    run, _ = run_cell(SETUP + "more = loader(tensors(xv, yv), batch_size=12)\n" + EVALUATION + more, **ONLY)
    assert run.subjects("eval_loss") == ("cross_entropy(test)", "cross_entropy(more)")
    assert [each.num_batches for each in passes(run)] == [3, 2] * 3


def test_two_lines_without_a_loader_have_a_curve_each(run_cell):
    source = """
    for _ in range(3):
        fit()
        net.eval()
        with torch.no_grad():
            a = criterion(net(x), y)
            b = criterion(net(xv), yv)
        net.train()
    """
    run, names = run_cell(SETUP + "if True:" + source, **ONLY)
    assert run.subjects("eval_loss") == ("cross_entropy(net)", "cross_entropy(net)#2")
    assert run.series("eval_loss", name="cross_entropy(net)")[1][-1] == pytest.approx(names["a"].item())
    assert run.series("eval_loss", name="cross_entropy(net)#2")[1][-1] == pytest.approx(names["b"].item())


def test_a_cell_that_only_evaluates_is_told(run_cell):
    _, names = run_cell(SETUP + "fit()")
    run, _ = run_cell("net.eval()\nwith torch.no_grad():\n    for a, b in test: net(a)", names=names, **ONLY)
    (found,) = passes(run)
    assert (found.num_batches, found.num_losses, found.also_trained, found.loader) == (3, 0, False, "test")


def test_an_evaluation_keeps_no_batch_and_no_output(run_cell):
    source = SETUP + (
        "import weakref\nrefs = []\nnet.eval()\nwith torch.no_grad():\n    for a, b in test:\n"
        "        out = net(a)\n        loss = criterion(out, b)\n"
        "        refs += [weakref.ref(a), weakref.ref(out), weakref.ref(loss)]\n"
        "        del a, b, out, loss\n        alive = [each for each in refs if each() is not None]\n"
        "        assert not alive"
    )
    run, _ = run_cell(source, **ONLY, every=1000)
    assert len(passes(run)) == 1


def test_losses_of_many_shapes_are_survived(run_cell):
    source = SETUP + (
        "net.eval()\nwith torch.no_grad():\n    F.cross_entropy(net(xv), yv, reduction='none')\n"
        "    F.mse_loss(net(xv).bfloat16(), net(xv).bfloat16() + 1)\n    F.cross_entropy(net(xv), yv)"
    )
    run, _ = run_cell(source, **ONLY)
    assert run.subjects("eval_loss") == ("mse_loss(net)", "cross_entropy(net)")
    assert run.series("eval_loss", name="mse_loss(net)")[1] == [1.0]
    assert torch.is_grad_enabled()


def test_a_loss_whose_targets_another_network_gives_is_no_evaluations(run_cell):
    source = """
    target = nn.Linear(3, 2)
    for _ in range(6):
        known = net(x)
        with torch.no_grad():
            wanted = target(x)
        loss = F.mse_loss(known, wanted)
        opt.zero_grad()
        loss.backward()
        opt.step()
    """
    run, _ = run_cell(SETUP + "if True:" + source, **ONLY)
    assert {each.model for each in passes(run)} == {"target"}
    assert {each.num_losses for each in passes(run)} == {0}
    assert not run.subjects("eval_loss")


def test_losses_that_add_up_a_batch_are_called_sums(run_cell):
    run, _ = run_cell(SETUP + EVALUATION.replace("criterion(net(a), b)", "F.cross_entropy(net(a), b, reduction='sum')"))
    assert run.subjects("eval_loss") == ("sum of cross_entropy(test)",)
    assert not early_stopping(run)[0].comparable


def test_each_of_two_networks_has_the_losses_of_its_own_outputs(run_cell):
    source = """
    other = nn.Linear(3, 2)
    more = torch.optim.SGD(other.parameters(), lr=0.1)
    for _ in range(3):
        for model, optimizer in ((net, opt), (other, more)):
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        with torch.no_grad():
            one, two = net(xv), other(xv)
            a, b = criterion(one, yv), criterion(two.view(-1, 2), yv)
    """
    run, names = run_cell(SETUP + "if True:" + source, **ONLY)
    assert run.subjects("eval_loss") == ("cross_entropy(net)", "cross_entropy(other)")
    assert run.series("eval_loss", name="cross_entropy(net)")[1][-1] == pytest.approx(names["a"].item())
    assert run.series("eval_loss", name="cross_entropy(other)")[1][-1] == pytest.approx(names["b"].item())


@pytest.mark.parametrize(
    ("evaluates", "trains", "alone"),
    [
        ([""], ["0", "1"], True),
        ([""], ["1"], False),  # dropout alone was woken
        ([], ["0", "1"], False),
        (["", "0"], ["1"], False),
    ],
)
def test_a_model_is_alone_in_evaluation_mode_where_none_of_its_parts_is(evaluates, trains, alone):
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)).eval()
    for path, module in net.named_modules():
        module.training = path in trains or (path == "" and "" not in evaluates)
    assert is_alone(net) is alone


def test_a_model_of_dropout_alone_that_was_woken_is_not_alone():
    net = nn.Sequential(nn.Dropout(0.5)).eval()
    net[0].train()
    assert not is_alone(net)
