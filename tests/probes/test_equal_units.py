"""This file tests what is told of weights whose units begin alike."""

from torchmagic.records.structure import EqualUnitsRecord

LOOP = """
{fill}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range({steps}):
    opt.zero_grad()
    F.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 3, (16,))).backward()
    opt.step()
"""
NET = "net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))\n"


def records(run_cell, fill, steps=7, net=NET):
    run, _ = run_cell(net + LOOP.format(fill=fill, steps=steps))
    return run.of(EqualUnitsRecord)


def test_weights_drawn_at_random_are_not_told(run_cell):
    assert records(run_cell, "") == []


def test_a_constant_is_told_with_its_line_at_the_first_steps_and_at_the_end(run_cell):
    found = records(run_cell, "nn.init.constant_(net[0].weight, 0.5)")
    assert [each.step for each in found] == [0, 1, 2, 3, 4, 7]
    first = found[0]
    assert (first.parameter, first.module, first.class_name) == ("net.0.weight", "net.0", "Linear")
    assert (first.num_units, first.weight_deviation) == (6, 0.0)
    assert first.gradient_deviation > 0.01
    assert first.place.source == "nn.init.constant_(net[0].weight, 0.5)"
    assert found[-1].weight_deviation > 0


def test_a_model_filled_with_one_number_stays_alike(run_cell):
    found = records(run_cell, "for p in net.parameters():\n    p.data.fill_(0.1)")
    assert all(each.gradient_deviation < 1e-5 for each in found if each.module == "net.0")
    assert {each.module for each in found} == {"net.0", "net.2"}


def test_zeros_that_no_gradient_reaches_are_told_as_that(run_cell):
    found = records(run_cell, "for p in net.parameters():\n    p.data.zero_()")
    assert all(each.is_zero and each.has_gradient and each.gradient_is_zero for each in found)


def test_rows_of_an_embedding_are_no_units(run_cell):
    net = "net = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 3))\ntable = nn.Embedding(5, 3)\n"
    fill = (
        "table.weight.data.fill_(1.0)\nnet.table = table\nnet.forward = lambda x: net[1](net[0](x)) + table.weight[0]"
    )
    assert records(run_cell, fill, net=net) == []


def test_columns_are_the_units_of_a_matrix_by_hand(run_cell):
    run, _ = run_cell(
        """
        first, second = torch.full((4, 6), 0.1, requires_grad=True), torch.full((6, 3), 0.1, requires_grad=True)
        opt = torch.optim.SGD([first, second], lr=0.1)
        for step in range(3):
            opt.zero_grad()
            F.cross_entropy(torch.tanh(torch.randn(16, 4) @ first) @ second, torch.randint(0, 3, (16,))).backward()
            opt.step()
        """
    )
    first = run.of(EqualUnitsRecord)[0]
    assert (first.num_units, first.class_name) == (6, "")
    assert first.gradient_deviation < 1e-5


def test_weights_that_do_not_train_are_not_told(run_cell):
    assert records(run_cell, "net[0].weight.data.fill_(0.5)\nnet[0].requires_grad_(False)") == []
