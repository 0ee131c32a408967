"""This file tests what is said of the tensors that losses are given."""

import warnings

import pytest

from torchmagic.records.loss import BroadcastRecord, LossRecord, ProbabilityInputRecord

SETUP = """
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, {outputs}))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x = torch.randn(16, 4)
"""
LOOP = """
for step in range(4):
    opt.zero_grad()
    loss = {loss}
    loss.backward()
    opt.step()
"""


@pytest.fixture
def run_loss(run_cell):
    def run(loss, *, outputs=1, names="", **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of stretched shapes itself
            return run_cell(SETUP.format(outputs=outputs) + names + LOOP.format(loss=loss), **settings)[0]

    return run


def test_a_loss_is_recorded_once_a_line(run_loss):
    run = run_loss("F.mse_loss(net(x), x[:, :1]) + F.l1_loss(net(x), x[:, :1], reduction='sum')")
    record = run.of(LossRecord)[0]
    assert (record.name, record.input_shape, record.target_shape) == ("mse_loss", (16, 1), (16, 1))
    assert record.place.source.startswith("loss = F.mse_loss")


def test_two_losses_on_one_line_are_both_recorded(run_loss):
    run = run_loss("F.mse_loss(net(x), x[:, :1]) + F.l1_loss(net(x), x[:, :1], reduction='sum')")
    assert [(record.name, record.reduction) for record in run.of(LossRecord)] == [
        ("mse_loss", "mean"),
        ("l1_loss", "sum"),
    ]


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        ("F.mse_loss(net(x), torch.randn(16))", "mse_loss"),
        ("nn.MSELoss()(net(x), torch.randn(16))", "mse_loss"),
        ("F.l1_loss(input=net(x), target=torch.randn(16))", "l1_loss"),
        ("nn.SmoothL1Loss()(net(x), torch.randn(16))", "smooth_l1_loss"),
        ("nn.HuberLoss()(net(x), torch.randn(16))", "huber_loss"),
    ],
)
def test_a_stretched_loss_is_recorded_with_its_shapes(run_loss, loss, name):
    records = run_loss(loss).of(BroadcastRecord)
    record = records[0]
    assert (record.loss, record.input_shape, record.target_shape, record.output_shape) == (
        name,
        (16, 1),
        (16,),
        (16, 16),
    )
    assert {record.place.source for record in records} == {f"loss = {loss}"}, "and not at backward() once more"


@pytest.mark.parametrize(
    "loss",
    [
        "((net(x) - torch.randn(16)) ** 2).mean()",
        "(torch.randn(16) - net(x)).abs().mean()",
        "(net(x) - torch.randn(16)).pow(2).sum() / 16",
        "torch.sqrt(((net(x) - torch.randn(16)) ** 2).mean())",
    ],
)
def test_a_stretched_subtraction_above_the_loss_is_recorded(run_loss, loss):
    record = run_loss(loss).of(BroadcastRecord)[0]
    assert record.output_shape == (16, 16)
    assert record.place.source == f"loss = {loss}"


@pytest.mark.parametrize(
    "loss",
    [
        "(net(x) - torch.randn(16, 1, 3)).abs().mean()",
        "0.1 * net(x).mean() + (torch.randn(16, 1, 3) - net(x)).pow(2).sum() / 16",
    ],
)
def test_rows_that_meet_all_rows_along_a_dimension_of_one_are_recorded(run_loss, loss):
    record = run_loss(loss, outputs=3).of(BroadcastRecord)[0]
    shapes = record.input_shape, record.target_shape, record.output_shape
    assert shapes == ((16, 3), (16, 1, 3), (16, 16, 3))


def test_a_target_that_was_stretched_itself_is_recorded_with_its_loss(run_loss):
    record = run_loss("F.mse_loss(net(x), torch.rand(16, 1) + torch.rand(16))").of(BroadcastRecord)[0]
    assert (record.loss, record.input_shape, record.target_shape) == ("mse_loss", (16, 1), (16, 16))


@pytest.mark.parametrize(
    "loss",
    [
        "F.mse_loss(net(x).squeeze(1), torch.randn(16))",
        "((net(x).squeeze(1) - torch.randn(16)) ** 2).mean()",
        "((net(x) - 0.5) ** 2).mean()",
        "((net(x) - torch.randn(1)) ** 2).mean()",
        "(net(x) - net(x).mean(0)).pow(2).mean()",
        "(net(x).unsqueeze(1) - net(x).unsqueeze(0)).pow(2).mean()",
        "(torch.rand(16, 1) * (net(x) - torch.randn(16, 1)) ** 2).mean()",
        "(net(x) - torch.randn(16, 1).unsqueeze(1)).pow(2).mean()",
        "torch.exp(-(net(x) - torch.randn(16, 1, 1)).pow(2)).mean()",
        "(net(x) - torch.randn(7, 1, 1)).pow(2).mean()",
        "F.mse_loss(net(x), torch.randn(16, 3))",
    ],
)
def test_shapes_that_are_meant_are_silent(run_loss, loss):
    assert run_loss(loss).of(BroadcastRecord) == []


@pytest.mark.parametrize(
    ("loss", "outputs"),
    [
        ("F.cross_entropy(net(x).softmax(1), torch.zeros(16).long())", 3),
        ("F.cross_entropy(torch.softmax(net(x), -1), torch.zeros(16).long())", 3),
        ("nn.CrossEntropyLoss()(F.softmax(net(x), dim=1), torch.zeros(16).long())", 3),
        ("F.cross_entropy(net(x).view(16, 3, 2).softmax(1), torch.zeros(16, 2).long())", 6),
        ("F.cross_entropy(nn.Softmax(1)(net(x)), torch.zeros(16).long())", 3),
        ("F.cross_entropy(net(x).exp() / net(x).exp().sum(1, keepdim=True), torch.zeros(16).long())", 3),
    ],
)
def test_probabilities_in_cross_entropy_are_recorded(run_loss, loss, outputs):
    records = run_loss(loss, outputs=outputs).of(ProbabilityInputRecord)
    assert len(records) == 4
    assert records[0].deviation < 1e-3
    assert records[0].place.source == f"loss = {loss}"


def test_the_softmax_of_a_model_is_named(run_loss):
    names = "net.append(nn.Softmax(dim=1))\n"
    record = run_loss("F.cross_entropy(net(x), torch.zeros(16).long())", outputs=3, names=names).of(
        ProbabilityInputRecord
    )[0]
    assert record.producer == "net.3"


@pytest.mark.parametrize(
    "loss",
    [
        "F.cross_entropy(net(x), torch.zeros(16).long())",
        "F.cross_entropy(net(x), torch.rand(16, 3).softmax(1))",
        "F.cross_entropy(net(x).sigmoid(), torch.zeros(16).long())",
        "F.cross_entropy(net(x).log_softmax(1), torch.zeros(16).long())",
        "F.nll_loss(net(x).log_softmax(1), torch.zeros(16).long())",
        "F.cross_entropy(net(x).softmax(1).detach() + net(x), torch.zeros(16).long())",
    ],
)
def test_logits_are_silent(run_loss, loss):
    assert run_loss(loss, outputs=3).of(ProbabilityInputRecord) == []


def test_an_evaluation_of_probabilities_is_silent(run_loss):
    names = "with torch.no_grad():\n    F.cross_entropy(net(x).softmax(1), torch.zeros(16).long())\n"
    run = run_loss("F.cross_entropy(net(x), torch.zeros(16).long())", outputs=3, names=names)
    assert run.of(ProbabilityInputRecord) == []


def test_a_loss_that_the_user_calls_wrongly_is_the_users_own_error(run_cell):
    run_cell("F.mse_loss(torch.ones(3), torch.ones(2))", raises=(RuntimeError, UserWarning))
    run_cell("F.cross_entropy(torch.ones(3, 2), torch.tensor([0, 1, 9]))", raises=IndexError)
