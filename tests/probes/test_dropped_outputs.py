"""This file tests which dropouts are seen to be the last before a loss."""

import pytest

from torchmagic.records.structure import DroppedOutputRecord

CELL = """
net = nn.Sequential(nn.Linear(4, 6), nn.Dropout({p}))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(8):
    x, y = torch.randn(5, 4), torch.randint(0, 6, (5,))
    loss = {loss}
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize(
    "loss", ["F.cross_entropy(net(x), y)", "nn.CrossEntropyLoss()(input=net(x).reshape(5, 6), target=y)"]
)
def test_the_very_output_or_a_view_of_it_is_told_with_the_line(run_cell, loss):
    (record,) = run_cell(CELL.format(p=0.5, loss=loss))[0].of(DroppedOutputRecord)
    assert (record.module, record.probability, record.loss, record.step) == ("net.1", 0.5, "cross_entropy", 0)
    assert record.count >= 3
    assert record.place.source == f"loss = {loss}"


@pytest.mark.parametrize(
    ("p", "loss"),
    [
        (0.0, "F.cross_entropy(net(x), y)"),
        (1.0, "F.cross_entropy(net(x), y)"),
        (0.5, "F.cross_entropy(net(x) * 2, y)"),
        (0.5, "F.cross_entropy(net(x).add_(1), y)"),
        (0.5, "F.cross_entropy(net[0](net[1](x)), y)"),
        (0.5, "F.cross_entropy(net.eval()(x), y)"),
    ],
)
def test_one_that_does_nothing_or_is_not_the_last_is_not(run_cell, p, loss):
    assert run_cell(CELL.format(p=p, loss=loss))[0].of(DroppedOutputRecord) == []


def test_losses_without_gradients_are_not_looked_at(run_cell):
    cell = CELL.format(p=0.5, loss="net[0](x).sum()") + "    with torch.no_grad(): F.cross_entropy(net(x), y)\n"
    assert run_cell(cell)[0].of(DroppedOutputRecord) == []
