"""This file tests which trainable tensors are said to belong to no model although a loss reaches them."""

from torchmagic.records.connection import MadeInForwardRecord, UnregisteredRecord

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        {init}
    def forward(self, x):
        return {forward}
net = Net()
opt = torch.optim.SGD({parameters}, lr=0.01)
for step in range(5):
    opt.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
"""


def watched(run_cell, *, init="pass", forward="self.first(x)", parameters="net.parameters()", more=""):
    return run_cell(NET.format(init=init, forward=forward, parameters=parameters) + more)[0]


def test_a_model_that_registers_all_leaves_no_record(run_cell):
    run = watched(run_cell, init="self.sizes = [3, 3]; self.note = {'a': torch.ones(2)}")
    assert run.of(UnregisteredRecord) == []
    assert run.of(MadeInForwardRecord) == []


def test_a_layer_in_a_list_is_named_by_its_attribute_and_line(run_cell):
    run = watched(run_cell, init="self.more = [nn.Linear(3, 1)]", forward="self.more[0](self.first(x))")
    (record,) = run.of(UnregisteredRecord)
    assert (record.module, record.attribute, record.container) == ("net", "more", "list")
    assert (record.class_name, record.num_parameters, record.owned, record.changed) == ("Linear", 2, 0, False)
    assert record.place.source == "self.more = [nn.Linear(3, 1)]"


def test_a_tensor_in_an_object_in_a_dict_is_found(run_cell):
    init = "self.more = {'a': type('Box', (), {})()}; self.more['a'].w = torch.ones(3, requires_grad=True)"
    run = watched(run_cell, init=init, forward="self.first(x) * self.more['a'].w")
    (record,) = run.of(UnregisteredRecord)
    assert (record.attribute, record.container, record.class_name) == ("more", "dict", "Tensor")


def test_what_an_optimizer_holds_is_said_to_be_owned(run_cell):
    run = watched(
        run_cell,
        init="self.more = [nn.Linear(3, 1)]",
        forward="self.more[0](self.first(x))",
        parameters="[*net.parameters(), *net.more[0].parameters()]",
    )
    assert run.of(UnregisteredRecord)[0].owned == 2


def test_what_is_changed_by_hand_is_said_to_change(run_cell):
    run = watched(
        run_cell,
        init="self.more = [nn.Linear(3, 1)]",
        forward="self.more[0](self.first(x))",
        more="    net.more[0].weight.data -= 0.01\n",
    )
    assert run.of(UnregisteredRecord)[0].changed


def test_what_is_held_and_not_used_is_silent(run_cell):
    assert watched(run_cell, init="self.more = [nn.Linear(3, 1)]").of(UnregisteredRecord) == []


def test_a_model_with_nothing_registered_is_told_when_no_optimizer_can_be_built(run_cell):
    run, _ = run_cell(
        """
        class Bare(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(3, 1)]
        net = Bare()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        """,
        raises=ValueError,
    )
    (record,) = run.of(UnregisteredRecord)
    assert (record.attribute, record.looks, record.num_parameters) == ("layers", 0, 2)


def test_a_layer_made_in_the_forward_is_counted_by_steps(run_cell):
    run = watched(run_cell, forward="nn.Sequential(nn.ReLU(), nn.Linear(3, 1))(self.first(x))")
    (record,) = run.of(MadeInForwardRecord)
    assert (record.model, record.num_calls, record.step) == ("net", 5, 0)
    assert record.place.function == "forward"
    assert run.of(UnregisteredRecord) == []


def test_modules_without_weights_and_frozen_ones_are_silent(run_cell):
    run = watched(run_cell, forward="nn.Linear(3, 1).requires_grad_(False)(nn.ReLU()(self.first(x)))")
    assert run.of(MadeInForwardRecord) == []


def test_a_layer_that_the_class_holds_is_found(run_cell):
    run, _ = run_cell(
        """
        class Net(nn.Module):
            shared = [nn.Linear(4, 4)]

            def __init__(self):
                super().__init__()
                self.head = nn.Linear(4, 1)

            def forward(self, x):
                return self.head(torch.tanh(self.shared[0](x)))

        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(6):
            opt.zero_grad()
            net(torch.randn(8, 4)).pow(2).mean().backward()
            opt.step()
        """
    )
    assert [record.attribute for record in run.of(UnregisteredRecord)] == ["shared"]
