"""This file tests what is said of runs in which no backward reaches anything."""

import pytest

from torchmagic.records.connection import DetachedLossRecord

LOOP = """
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    opt.zero_grad()
    loss = {loss}
    loss.backward()
    opt.step()
"""


def test_a_connected_loss_leaves_no_record(run_cell):
    run, _ = run_cell(LOOP.format(loss="net(torch.randn(8, 3)).pow(2).mean()"))
    assert run.of(DetachedLossRecord) == []


def test_a_wrapped_loss_is_recorded_with_its_cut(run_cell):
    run, _ = run_cell(LOOP.format(loss="torch.tensor(net(torch.randn(8, 3)).mean().item(), requires_grad=True)"))
    (record,) = run.of(DetachedLossRecord)
    assert (record.loss, record.num_backwards, record.raised, record.owned) == ("loss", 4, False, 4)
    assert (record.connected, record.ran) == (("net",), ("net",))
    assert record.how == "torch.tensor()"
    assert record.cut.source == record.made.source
    assert record.backward.source == "loss.backward()"


def test_a_loss_without_a_graph_raises_and_is_recorded(run_cell):
    run, _ = run_cell(LOOP.format(loss="net(torch.randn(8, 3)).detach().mean()"), raises=RuntimeError)
    (record,) = run.of(DetachedLossRecord)
    assert (record.raised, record.num_backwards, record.owned, record.how) == (True, 0, 4, ".detach()")


def test_a_forward_without_gradients_has_no_connected_model(run_cell):
    run, _ = run_cell(LOOP.format(loss="torch.no_grad()(net)(torch.randn(8, 3)).mean()"), raises=RuntimeError)
    (record,) = run.of(DetachedLossRecord)
    assert (record.connected, record.ran) == ((), ())


def test_an_optimizer_that_stepped_is_not_beside(run_cell):
    run, _ = run_cell(LOOP.format(loss="net(torch.randn(8, 3)).mean().detach().requires_grad_()"))
    assert run.of(DetachedLossRecord)[0].beside == ()


def test_another_error_of_backward_is_none_of_its_business(run_cell):
    run, _ = run_cell(LOOP.format(loss="net(torch.randn(8, 3))"), raises=RuntimeError)
    assert run.of(DetachedLossRecord) == []


def test_gradients_of_any_later_backward_end_the_watch(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(3, 4)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(3):
            x = torch.randn(8, 3)
            held = net(x).detach().requires_grad_()
            held.pow(2).mean().backward()
            net(x).backward(held.grad)
            opt.step()
        """
    )
    assert run.of(DetachedLossRecord) == []


def test_a_cut_inside_the_forward_of_the_users_class_is_found(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(3, 1)

            def forward(self, x):
                h = self.body(x)
                return torch.sigmoid(h.detach())

        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        net(torch.randn(8, 3)).mean().backward()
        """,
        raises=RuntimeError,
    )
    (record,) = run.of(DetachedLossRecord)
    assert (record.how, record.cut.source) == (".detach()", "return torch.sigmoid(h.detach())")


def test_frozen_parameters_are_nothing_that_could_be_trained(run_cell):
    run, _ = run_cell(
        LOOP.format(loss="net(torch.randn(8, 3)).detach().mean()").replace(
            "opt =", "net[0].requires_grad_(False)\nopt ="
        ),
        raises=RuntimeError,
    )
    assert run.of(DetachedLossRecord)[0].owned == 2


def test_gradients_that_an_earlier_cell_left_are_none_of_this_loss(run_cell):
    sound = LOOP.format(loss="net(torch.randn(8, 3)).pow(2).mean()")
    _, names = run_cell(sound + "other, old = net, opt\n")
    assert names["other"][0].weight.grad is not None
    detached = LOOP.format(loss="net(torch.randn(8, 3)).mean().detach().requires_grad_()")
    kept = {key: names[key] for key in ("other", "old")}
    run, _ = run_cell(detached, names=kept)
    assert len(run.of(DetachedLossRecord)) == 1
    run, _ = run_cell(sound, names=kept)
    assert run.of(DetachedLossRecord) == []


def test_gradients_that_are_zeroed_in_place_and_clipped_are_no_new_ones(run_cell):
    loop = LOOP.partition("for")[1] + LOOP.partition("for")[2].replace("zero_grad()", "zero_grad(set_to_none=False)")
    clipped = loop.replace("    opt.step()", "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    opt.step()")
    _, names = run_cell(LOOP.format(loss="net(torch.randn(8, 3)).pow(2).mean()"))
    kept = {key: names[key] for key in ("net", "opt")}
    run, _ = run_cell(clipped.format(loss="net(torch.randn(8, 3)).mean().detach().requires_grad_()"), names=kept)
    assert len(run.of(DetachedLossRecord)) == 1
    run, _ = run_cell(clipped.format(loss="net(torch.randn(8, 3)).pow(2).mean()"), names=kept)
    assert run.of(DetachedLossRecord) == []


def test_a_gradient_that_is_assigned_after_a_backward_connects(run_cell):
    given = LOOP.replace("    loss.backward()", "    loss.backward()\n    net[0].weight.grad = torch.ones(4, 3)")
    run, _ = run_cell(given.format(loss="net(torch.randn(8, 3)).mean().detach().requires_grad_()"))
    assert run.of(DetachedLossRecord) == []


@pytest.mark.parametrize(("net", "owned"), [("net.requires_grad_(False)", 1), ("net", 2)])
def test_optimizers_that_did_not_step_are_named_and_count_where_nothing_else_is_trained(run_cell, net, owned):
    cell = f"""
prompt = torch.zeros(4, requires_grad=True)
other = torch.optim.SGD([prompt], lr=0.1)
net = nn.Linear(3, 1)
{net}(torch.ones(2, 3)).sum().detach().backward()
"""
    (record,) = run_cell(cell, raises=RuntimeError)[0].of(DetachedLossRecord)
    assert (record.raised, record.owned, record.beside, record.ran) == (True, owned, ("other",), ("net",))
