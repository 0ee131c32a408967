"""This file tests which parameters are said to get gradients that no optimizer uses."""

import pytest

from torchmagic.records.protocol import UnownedGradientsRecord

LOOP = """
for step in range(4):
    net.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
"""


def unowned(run):
    return [record.parameters for record in run.of(UnownedGradientsRecord)]


def test_a_replaced_head_is_named_at_each_step(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.01)\nnet[1] = nn.Linear(4, 1)\n" + LOOP
    )
    assert unowned(run) == [("net.1.weight", "net.1.bias")] * 4
    record = run.of(UnownedGradientsRecord)[-1]
    assert (record.changed, record.owned, record.training) == ((), 2, True)


def test_a_model_that_is_owned_whole_is_silent(run_cell):
    run, _ = run_cell("net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.01)\n" + LOOP)
    assert unowned(run) == []


def test_frozen_parameters_are_silent(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 4).requires_grad_(False), nn.Linear(4, 1))\n"
        "opt = torch.optim.SGD(net[1].parameters(), lr=0.01)\n" + LOOP
    )
    assert unowned(run) == []


def test_parameters_that_are_changed_by_hand_are_said_to_change(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(3, 1)\nopt = torch.optim.SGD([net.weight], lr=0.01)\n"
        + LOOP
        + "    with torch.no_grad():\n        net.bias -= 0.01 * net.bias.grad\n"
    )
    assert run.of(UnownedGradientsRecord)[-1].changed == ("net.bias",)


def test_what_another_optimizer_owns_that_has_not_stepped_yet_is_silent(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(3, 1)\nopt = torch.optim.SGD([net.weight], lr=0.01)\n"
        "later = torch.optim.SGD([net.bias], lr=0.01)\n" + LOOP
    )
    assert unowned(run) == []


def test_old_gradients_that_nobody_adds_to_are_silent(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
        opt = torch.optim.SGD(net[1].parameters(), lr=0.01)
        net(torch.randn(8, 3)).sum().backward()
        for step in range(6):
            opt.zero_grad()
            net[1](net[0](torch.randn(8, 3)).detach()).pow(2).mean().backward()
            opt.step()
        """
    )
    assert len(unowned(run)) <= 1


def test_a_new_gradient_is_seen_wherever_it_lies_in_memory(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 3), *(nn.Linear(3, 3) for i in range(40)))\n"
        "opt = torch.optim.SGD(net[0].parameters(), lr=0.01)\n" + LOOP.replace("range(4)", "range(8)")
    )
    assert {len(names) for names in unowned(run)} == {80}


def test_what_is_forgotten_late_in_a_run_is_found(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
        net[0].requires_grad_(False)
        opt = torch.optim.SGD(net[1].parameters(), lr=0.01)
        for step in range(260):
            if step == 150:
                net[0].requires_grad_(True)
            net.zero_grad()
            net(torch.randn(8, 3)).pow(2).mean().backward()
            opt.step()
        """
    )
    assert [record.step for record in run.of(UnownedGradientsRecord)] == [192, 256]


TARGET = """
net, target = nn.Linear(3, 2), nn.Linear(3, 2)
{load}
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    wanted = 1 + 0.9 * target(torch.randn(8, 3)).max(1).values
    loss = F.mse_loss(net(torch.randn(8, 3)).max(1).values, wanted)
    opt.zero_grad(); loss.backward(); opt.step()
"""


def test_a_copy_of_what_is_trained_is_silent_also_where_gradients_reach_it(run_cell):
    run, _ = run_cell(TARGET.format(load="target.load_state_dict(net.state_dict())"))
    assert unowned(run) == []


def test_a_second_model_of_the_same_kind_that_no_optimizer_has_is_named(run_cell):
    run, _ = run_cell(TARGET.format(load=""))
    assert unowned(run) == [("target.weight", "target.bias")] * 4


def test_a_copy_that_is_trained_in_the_place_of_the_model_is_named(run_cell):
    run, _ = run_cell(
        "import copy\nold = nn.Linear(3, 1)\nopt = torch.optim.SGD(old.parameters(), lr=0.01)\n"
        "net = copy.deepcopy(old)\n" + LOOP
    )
    assert unowned(run) == [("net.weight", "net.bias")] * 4


@pytest.mark.parametrize(("loss", "scores"), [("-critic(x).mean()", True), ("critic(x).pow(2).mean()", False)])
def test_a_model_is_a_critic_only_while_every_loss_is_nothing_but_its_score(run_cell, loss, scores):
    run, _ = run_cell(f"""
        critic, net = nn.Linear(3, 1), nn.Linear(3, 3)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            x = net(torch.randn(8, 3))
            (-critic(x).mean()).backward()
            x = net(torch.randn(8, 3))
            ({loss}).backward()
            x = net(torch.randn(8, 3))
            (-critic(x).mean()).backward()
            opt.step()
        """)
    assert {record.scores for record in run.of(UnownedGradientsRecord)} == {scores}


LOOSE = "net, gate = nn.Linear(3, 1), nn.Parameter(torch.ones(3))\n"
GATED = LOOP.replace("torch.randn(8, 3)", "torch.randn(8, 3) * gate")


@pytest.mark.parametrize(
    ("made", "names"),
    [
        ("opt = torch.optim.SGD(net.parameters(), lr=0.01)\n", [("gate",)] * 4),
        ("opt = torch.optim.SGD([*net.parameters(), gate], lr=0.01)\n", []),
        ("opt = torch.optim.SGD(net.parameters(), lr=0.01)\nlater = torch.optim.SGD([gate], lr=0.01)\n", []),
        ("opt = torch.optim.SGD(net.parameters(), lr=0.01)\ngate.requires_grad_(False)\n", []),
        ("opt = torch.optim.SGD(net.parameters(), lr=0.01)\nheld = nn.ParameterList([gate])\n", []),
        ("opt = torch.optim.SGD(net.parameters(), lr=0.01)\ngate = torch.ones(3, requires_grad=True)\n", []),
    ],
)
def test_a_parameter_of_no_model_is_named_where_nothing_owns_it(run_cell, made, names):
    run, _ = run_cell(LOOSE + made + GATED)
    assert unowned(run) == names
    assert {(each.model, each.owned, each.changed) for each in run.of(UnownedGradientsRecord)} <= {("", 0, ())}


def test_a_parameter_of_no_model_that_is_stepped_by_hand_is_said_to_change(run_cell):
    by_hand = "    with torch.no_grad():\n        gate -= 0.1 * gate.grad\n"
    run, _ = run_cell(LOOSE + "opt = torch.optim.SGD(net.parameters(), lr=0.01)\n" + GATED + by_hand)
    assert run.of(UnownedGradientsRecord)[-1].changed == ("gate",)


def test_an_optimizer_without_a_name_owns_what_it_was_given(run_cell):
    made = "box = {'a': {'opt': torch.optim.SGD([*net.parameters(), gate], lr=0.01)}}\n"
    run, _ = run_cell(LOOSE + made + GATED.replace("opt.step()", "box['a']['opt'].step()"))
    assert run.steps == 4
    assert unowned(run) == []
