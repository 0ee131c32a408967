"""This file tests the losses of an evaluation that are computed within a model."""

import pytest

from torchmagic.probes import model_losses
from torchmagic.probes.sites import site_of
from torchmagic.records.evaluation import EvaluationRecord

ONLY = {"only": ("data", "validation", "backward")}
SETUP = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
    def forward(self, x, y):
        logits = self.layer(x)
        {losses}
        return {returned}
net, seen = Net(), []
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader, tensors = torch.utils.data.DataLoader, torch.utils.data.TensorDataset
x, y = torch.randn(32, 3), torch.arange(32) % 2
train, test = loader(tensors(x, y), batch_size=8), loader(tensors(x[:24] + 1, y[:24]), batch_size=8)
for _ in range(2):
    net.train()
    for a, b in train:
        opt.zero_grad()
        {call}.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        seen.append(sum({call}.item() for a, b in test) / 3)
"""
SUM = "loss = F.cross_entropy(logits, y, reduction='sum') / len(y)"


def evaluated(run):
    """Return the only subject's losses, which each pass has from all of its batches."""
    assert [each.num_losses for each in run.of(EvaluationRecord)] == [3, 3]
    (name,) = run.subjects("eval_loss")
    return name, run.series("eval_loss", name=name)[1]


@pytest.mark.parametrize(
    ("losses", "returned", "call", "name"),
    [
        (SUM, "{'loss': loss, 'logits': logits}", "net(a, b)['loss']", "cross_entropy(test)"),
        (
            "loss = F.cross_entropy(logits, y) + F.mse_loss(logits, logits * 0)",
            "{'loss': loss}",
            "net(a, b)['loss']",
            "loss(test)",
        ),
        ("loss = F.cross_entropy(logits, y)", "loss, logits", "net(a, b)[0]", "cross_entropy(test)"),
        ("loss = None", "logits", "nn.CrossEntropyLoss()(net(a, b), b)", "cross_entropy(test)"),
        ("loss = None", "logits", "F.cross_entropy(net(a, b), b)", "cross_entropy(test)"),
    ],
)
def test_a_loss_that_a_model_returns_is_the_loss_of_its_evaluation(run_cell, losses, returned, call, name):
    run, names = run_cell(SETUP.format(losses=losses, returned=returned, call=call), **ONLY)
    assert evaluated(run) == (name, pytest.approx(names["seen"], rel=1e-5))


def test_a_forward_that_fails_leaves_no_loss_to_the_next_one(run_cell):
    source = SETUP.format(
        losses=SUM + "\n        assert x[0, 0] < 50", returned="{'loss': loss}", call="net(a, b)['loss']"
    )
    trial = "    try:\n        net(x + 100, y)\n    except AssertionError:\n        pass\n"
    run, names = run_cell(source.replace("    with", trial + "    with", 1), **ONLY)
    (name,) = run.subjects("eval_loss")
    assert (name, run.series("eval_loss", name=name)[1]) == (
        "cross_entropy(test)",
        pytest.approx(names["seen"], rel=1e-5),
    )


def test_in_a_plain_loop_nobody_asks_which_line_computed_the_loss(run_cell, monkeypatch):
    asked = []
    monkeypatch.setattr(model_losses, "site_of", lambda frame: asked.append(site_of(frame)) or asked[-1])
    loop = """
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(8, 3), torch.arange(8) % 2
for _ in range(30):
    opt.zero_grad()
    F.cross_entropy(net(x), y).backward()
    opt.step()
"""
    run_cell(loop, **ONLY)
    assert not asked
    run_cell(loop + "for _ in range(2):\n    F.cross_entropy(net(x), y)\n    F.cross_entropy(net(x), y)\n", **ONLY)
    assert asked
