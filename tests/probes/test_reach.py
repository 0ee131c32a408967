"""This file tests which parameters a loss is said to touch."""

from torchmagic.probes.reach import MOST_OPTIMIZERS, Reach
from torchmagic.records.reach import ReachRecord

STEP = """
for step in range({steps}):
    opt.zero_grad()
    loss = {loss}
    loss.backward()
    opt.step()
"""


def reach(run):
    return run.of(ReachRecord)


def loop(loss, *, steps=4):
    return STEP.format(loss=loss, steps=steps)


def test_a_model_that_is_reached_whole_is_recorded_once(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.01)\n" + loop("net(torch.randn(8, 3)).pow(2).mean()", steps=9)
    )
    (record,) = reach(run)
    assert (record.loss, record.step, record.models) == ("loss", 0, ("net",))
    assert (record.num_reached, record.unreached, record.frozen, record.untouched) == (4, (), (), ())
    assert record.has_graph
    assert record.num_other_leaves == 0
    assert record.place.source == "loss.backward()"


def test_a_branch_that_no_loss_uses_is_named(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.unused = nn.Linear(3, 1), nn.Linear(3, 1)
            def forward(self, x):
                return self.body(x)
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        """
        + loop("net(torch.randn(8, 3)).pow(2).mean()").replace("\n", "\n        ")
    )
    (record,) = reach(run)
    assert record.unreached == ("net.unused.weight", "net.unused.bias")
    assert (record.num_unreached, record.num_reached) == (2, 2)


def test_what_stands_below_a_detach_is_not_reached(run_cell):
    run, _ = run_cell(
        "net = nn.ModuleDict({'a': nn.Linear(3, 4), 'b': nn.Linear(4, 1)})\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
        + loop("net['b'](net['a'](torch.randn(8, 3)).detach()).pow(2).mean()")
    )
    assert reach(run)[0].unreached == ("net.a.weight", "net.a.bias")


def test_frozen_parameters_are_told_apart(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 4).requires_grad_(False), nn.Linear(4, 1))\n"
        "opt = torch.optim.SGD(net[1].parameters(), lr=0.01)\n" + loop("net(torch.randn(8, 3)).pow(2).mean()")
    )
    (record,) = reach(run)
    assert record.frozen == ("net.0.weight", "net.0.bias")
    assert (record.num_frozen, record.unreached) == (2, ())


def test_a_model_that_runs_and_is_not_touched_is_named_and_one_without_gradients_is_not(run_cell):
    source = """
        net, other = nn.Linear(3, 1), nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(3):
            x = torch.randn(8, 3)
            hint = {hint}
            loss = (net(x) - hint).pow(2).mean()
            loss.backward()
            opt.step()
    """
    run, _ = run_cell(source.format(hint="other(x).detach()"))
    assert reach(run)[0].untouched == ("other",)
    run, _ = run_cell(source.format(hint="torch.no_grad()(other)(x)"))
    assert reach(run)[0].untouched == ()


def test_weight_norm_is_reached_through_its_parts(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 1)))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.01)\n" + loop("net(torch.randn(8, 3)).pow(2).mean()")
    )
    (record,) = reach(run)
    assert (record.num_reached, record.unreached) == (3, ())


def test_tied_weights_are_one_parameter(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))\nnet[1].weight = net[0].weight\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.01)\n" + loop("net(torch.randn(8, 3)).pow(2).mean()")
    )
    assert (reach(run)[0].num_reached, reach(run)[0].unreached) == (3, ())


def test_a_scaled_loss_reaches_what_the_loss_reaches(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        scaler = torch.amp.GradScaler("cpu")
        for step in range(3):
            loss = net(torch.randn(8, 3)).pow(2).mean()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
        """
    )
    (record,) = reach(run)
    assert (record.num_reached, record.unreached) == (2, ())


def test_an_input_that_requires_a_gradient_is_another_leaf(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
        + loop("net(torch.randn(8, 3, requires_grad=True)).pow(2).mean()")
    )
    assert (reach(run)[0].num_other_leaves, reach(run)[0].num_reached) == (1, 2)


def test_a_loss_without_a_graph_is_said_to_have_none(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(3, 1)\nloss = net(torch.randn(8, 3)).detach().sum()\nloss.backward()", raises=RuntimeError
    )
    (record,) = reach(run)
    assert not record.has_graph
    assert (record.num_reached, record.num_nodes, record.untouched) == (0, 0, ("net",))


def test_functional_code_reaches_the_optimizers_own_tensors_from_the_second_look_on(run_cell):
    run, _ = run_cell(
        "w = torch.randn(3, 1, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.01)\n"
        + loop("(torch.randn(8, 3) @ w).pow(2).mean()")
    )
    assert [(record.num_reached, record.num_other_leaves) for record in reach(run)] == [(0, 1), (1, 0)]


def test_a_model_that_runs_with_other_parameters_is_not_called_untouched(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(3, 1)
        params = {name: torch.randn_like(p, requires_grad=True) for name, p in net.named_parameters()}
        opt = torch.optim.SGD(params.values(), lr=0.01)
        for step in range(4):
            loss = torch.func.functional_call(net, params, torch.randn(8, 3)).mean()
            loss.backward()
            opt.step()
        """
    )
    assert all(record.untouched == () for record in reach(run))
    assert reach(run)[-1].num_reached == 2


def test_two_losses_are_told_apart_by_their_lines(run_cell):
    run, _ = run_cell(
        """
        g, d = nn.Linear(2, 3), nn.Linear(3, 1)
        opt_d, opt_g = torch.optim.SGD(d.parameters(), lr=0.01), torch.optim.SGD(g.parameters(), lr=0.01)
        for step in range(4):
            fake = g(torch.randn(8, 2))
            d_loss = d(fake.detach()).mean()
            d_loss.backward()
            opt_d.step()
            g_loss = -d(fake).mean()
            torch.autograd.backward([g_loss])
            opt_g.step()
        """
    )
    first, second = reach(run)[:2]
    assert (first.loss, first.models, first.untouched) == ("d_loss", ("d",), ("g",))
    assert second.models == ("g", "d")


def test_a_part_that_is_switched_off_later_is_seen_at_a_later_look(run_cell):
    run, _ = run_cell(
        """
        net = nn.ModuleDict({'a': nn.Linear(3, 1), 'b': nn.Linear(3, 1)})
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(9):
            x = torch.randn(8, 3)
            out = net['a'](x) + net['b'](x) if step < 3 else net['a'](x)
            out.pow(2).mean().backward()
            opt.step()
        """
    )
    assert [(record.step, record.num_unreached) for record in reach(run)] == [(0, 0), (4, 2)]


def test_what_checkpointing_hides_is_not_called_unreached(run_cell):
    run, _ = run_cell(
        """
        from torch.utils.checkpoint import checkpoint
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body, self.head = nn.Linear(3, 3), nn.Linear(3, 1)
            def forward(self, x):
                return self.head(checkpoint(self.body, x, use_reentrant=True))
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(3):
            net(torch.randn(8, 3, requires_grad=True)).sum().backward()
            opt.step()
        """
    )
    (record,) = reach(run)
    assert record.opaque == ("CheckpointFunctionBackward",)
    assert (record.unreached, record.num_reached) == ((), 2)


def test_reach_is_left_out_with_backward(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(3, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.01)\n"
        + loop("net(torch.randn(8, 3)).mean()"),
        without="backward",
    )
    assert reach(run) == []


def test_a_new_optimizer_has_the_graph_looked_at_again_with_the_layers_the_model_has_by_then(run_cell):
    run, _ = run_cell(
        """
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
def train(steps):
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
    for _ in range(steps):
        opt.zero_grad()
        net(torch.randn(5, 3)).sum().backward()
        opt.step()
train(20)
net[1] = nn.Linear(4, 3).requires_grad_(False)
train(8)
"""
    )
    first, second = run.of(ReachRecord)
    assert (first.frozen, second.frozen) == ((), ("net.1.weight", "net.1.bias"))
    assert 20 < second.step <= 23


def test_a_search_is_no_training_of_many_phases(run_cell, monkeypatch):
    walks, measure = [], Reach._measure
    monkeypatch.setattr(Reach, "_measure", lambda *given: (walks.append(given), measure(*given))[1])
    cell = """
for _ in range({count}):
    net = nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(9):
        opt.zero_grad()
        net(torch.randn(5, 3)).sum().backward()
        opt.step()
"""
    run_cell(cell.format(count=MOST_OPTIMIZERS + 20))
    many = len(walks)
    walks.clear()
    run_cell(cell.format(count=MOST_OPTIMIZERS))
    assert many <= len(walks) + 2
