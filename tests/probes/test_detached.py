"""This file tests what is said of runs in which no backward reaches anything."""

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
