"""This file tests which parameters are said never to have had a gradient."""

import pytest

from torchmagic.records.connection import DROPPED, GradientFlowRecord, UnreachedRecord

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.side, self.head = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(4, 1)
    def forward(self, x):
        {forward}
        return self.head(h)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
"""
LOOP = """
for step in range({steps}):
    opt.zero_grad()
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
"""


def cell(forward, *, steps=6):
    return NET.format(forward=forward) + LOOP.format(steps=steps)


def test_a_model_that_is_trained_whole_has_a_flow_and_no_part_without_gradient(run_cell):
    run, _ = run_cell(cell("h = self.body(x) + self.side(x)"))
    (flow,) = run.of(GradientFlowRecord)
    assert (flow.optimizer, flow.num_trainable, flow.num_received, flow.num_frozen) == ("opt", 6, 6, 0)
    assert run.of(UnreachedRecord) == []


def test_parameters_that_are_passed_by_for_a_moment_are_not_frozen(run_cell):
    cell = """
one, two = nn.Linear(3, 3), nn.Linear(3, 1)
first, second = (torch.optim.Adam(net.parameters(), lr=0.01) for net in (one, two))
for step in range(6):
    two.requires_grad_(False)
    first.zero_grad()
    two(one(torch.randn(8, 3))).pow(2).mean().backward()
    first.step()
    two.requires_grad_(True)
    second.zero_grad()
    two(one(torch.randn(8, 3)).detach()).pow(2).mean().backward()
    second.step()
two.requires_grad_(False)
first.zero_grad()
two(one(torch.randn(8, 3))).pow(2).mean().backward()
first.step()
"""
    run, _ = run_cell(cell)
    assert {flow.optimizer: flow.num_frozen for flow in run.of(GradientFlowRecord)} == {"first": 0, "second": 0}


def test_a_part_that_never_runs_is_one_record_with_its_path(run_cell):
    run, _ = run_cell(cell("h = self.body(x)"))
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.whole, record.num_parameters, record.executed) == ("net.side", True, 2, 0)
    assert record.cut is None
    assert record.steps == 6


def test_a_part_that_runs_in_vain_is_said_to_run(run_cell):
    run, _ = run_cell(cell("self.side(x); h = self.body(x)"))
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.executed, record.cut) == ("net.side", 5, None)


def test_a_part_behind_a_cut_is_given_the_line_of_the_cut(run_cell):
    run, _ = run_cell(cell("h = self.body(x) + self.side(x).detach()"))
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.how) == ("net.side", ".detach()")
    assert record.cut.source == "h = self.body(x) + self.side(x).detach()"


def test_a_variable_around_what_was_cut_before_is_not_blamed(run_cell):
    run, _ = run_cell(
        "from torch.autograd import Variable"
        + cell("s = self.side(x).data\n        s = Variable(s)\n        h = self.body(x) + s")
    )
    (record,) = run.of(UnreachedRecord)
    assert (record.how, record.cut.source) == (".data", "s = self.side(x).data")
    run, _ = run_cell("from torch.autograd import Variable" + cell("h = self.body(x) + Variable(self.side(x))"))
    assert run.of(UnreachedRecord)[0].how == "Variable()"


def test_gradients_that_are_cleared_before_the_step_count_as_received(run_cell):
    loop = LOOP.format(steps=6).replace("    opt.step()", "    opt.zero_grad()\n    opt.step()")
    run, _ = run_cell(NET.format(forward="h = self.body(x) + self.side(x)") + loop)
    assert run.of(GradientFlowRecord)[0].num_received == 6
    assert run.of(UnreachedRecord) == []


def test_a_part_that_gets_its_first_gradient_late_is_no_longer_told(run_cell):
    forward = "seen.append(1)\n        h = self.body(x) + (self.side(x) if len(seen) > 40 else 0)"
    run, _ = run_cell("seen = []\n" + cell(forward, steps=60))
    assert run.of(UnreachedRecord) == []


def test_values_that_change_by_hand_are_said_to_change(run_cell):
    run, _ = run_cell(cell("h = self.body(x)") + "    net.side.weight.data.mul_(0.9)\n")
    (record,) = run.of(UnreachedRecord)
    assert record.changed


def test_an_optimizers_state_of_an_earlier_cell_is_noticed(run_cell):
    _, names = run_cell(cell("h = self.body(x) + self.side(x)").replace("SGD", "Adam"))
    names = {key: names[key] for key in ("net", "opt")}
    loop = LOOP.format(steps=6).replace("net(torch.randn(8, 3))", "net.head(net.body(torch.randn(8, 3)))")
    run, _ = run_cell(loop, names=names)
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.stepped_before) == ("net.side", True)


def test_an_optimizer_that_prepares_its_state_has_not_stepped(run_cell):
    run, _ = run_cell(cell("h = self.body(x)").replace("SGD", "Adagrad"))
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.stepped_before) == ("net.side", False)
    frozen = (
        cell("h = self.body(x)").replace("SGD", "Adagrad").replace("for ", "net.side.requires_grad_(False)\nfor ", 1)
    )
    run, _ = run_cell(frozen)
    assert run.of(GradientFlowRecord)[0].frozen == ("net.side.weight", "net.side.bias")


def test_frozen_parameters_are_named_with_their_groups(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(3, 4).requires_grad_(False), nn.Linear(4, 1))\n"
        "opt = torch.optim.SGD([{'params': net[1].parameters()}, {'params': net[0].parameters()}], lr=0.01)\n"
        + LOOP.format(steps=3)
    )
    (flow,) = run.of(GradientFlowRecord)
    assert (flow.frozen, flow.num_frozen, flow.groups) == (("net.0.weight", "net.0.bias"), 2, (1,))


def test_a_model_of_the_same_shapes_that_trains_in_vain_is_the_twin(run_cell):
    source = "opt = torch.optim.SGD(nn.Linear(3, {width}).parameters(), lr=0.01)\nnet = nn.Linear(3, 1)\n"
    loop = LOOP.format(steps=5).replace("opt.zero_grad()", "net.zero_grad()")
    run, _ = run_cell(source.format(width=1) + loop)
    assert run.of(GradientFlowRecord)[0].twin == "net"
    run, _ = run_cell(source.format(width=7) + loop)
    assert run.of(GradientFlowRecord)[0].twin == ""


TENSOR = """
image = torch.rand(3, 4, requires_grad=True)
opt = torch.optim.SGD([image], lr=0.1)
for step in range({steps}):
    opt.zero_grad()
    (image - 1).square().sum().backward()
    opt.step()
    {after}
"""


@pytest.mark.parametrize(
    ("after", "twin"),
    [
        ("image = image.detach().clamp(0, 1).requires_grad_()", "image"),
        ("image.data.clamp_(0, 1)", ""),
        ("image = image.detach().clamp(0, 1).requires_grad_(); opt = torch.optim.SGD([image], lr=0.1)", ""),
        ("image = image.detach().repeat(2, 1).requires_grad_()", ""),
    ],
)
def test_a_tensor_in_whose_place_its_variable_holds_another_has_that_for_a_twin(run_cell, after, twin):
    run, _ = run_cell(TENSOR.format(steps=16, after=after))
    flow = run.of(GradientFlowRecord)[0]
    assert (flow.twin, flow.twin_is_tensor, flow.idle > 2) == (twin, bool(twin), bool(twin))


def test_a_tensor_that_another_optimizer_owns_by_now_is_no_twin(run_cell):
    after = "image = image.detach().clamp(0, 1).requires_grad_(); then = torch.optim.SGD([image], lr=0.1)"
    run, _ = run_cell(TENSOR.format(steps=16, after=after))
    assert [(flow.twin, flow.idle) for flow in run.of(GradientFlowRecord) if flow.optimizer == "opt"] == [("", 0)]


def test_the_names_of_all_that_happened_in_a_function_are_kept(run_cell):
    run, _ = run_cell(
        """
        def main():
            net = nn.ModuleDict({'a': nn.Linear(3, 1), 'b': nn.Linear(3, 1)})
            opt = torch.optim.SGD(net.parameters(), lr=0.01)
            for step in range(6):
                opt.zero_grad()
                net['a'](torch.randn(8, 3)).pow(2).mean().backward()
                opt.step()
        main()
        """
    )
    (flow,) = run.of(GradientFlowRecord)
    assert (flow.num_trainable, flow.num_received) == (4, 2)
    assert run.of(UnreachedRecord)[0].num_parameters == 2


def test_it_is_left_out_with_gradients(run_cell):
    run, _ = run_cell(cell("h = self.body(x)"), without="gradients")
    assert run.of(GradientFlowRecord) == []


TWO_PLAYERS = """
gen, dis = nn.Linear(2, 3), nn.Linear(3, 1)
opt_g, opt_d = torch.optim.SGD(gen.parameters(), lr=0.01), torch.optim.SGD(dis.parameters(), lr=0.01)
for step in range(6):
{first}
{second}
"""
DISCRIMINATOR = """
    fake = gen(torch.randn(8, 2)).detach()
    opt_d.zero_grad()
    (dis(fake).sigmoid().mean() - dis(torch.randn(8, 3)).sigmoid().mean()).backward()
    opt_d.step()
"""
GENERATOR = """
    opt_g.zero_grad(); opt_d.zero_grad()
    made = gen(torch.randn(8, 2)).detach()  # the wrong one
    (-dis(made).sigmoid().mean()).backward()
    opt_g.step()
"""


@pytest.mark.parametrize("parts", [(DISCRIMINATOR, GENERATOR), (GENERATOR, DISCRIMINATOR)], ids=["after", "before"])
def test_of_two_cuts_the_one_before_the_parts_own_step_is_told(parts, run_cell):
    run, _ = run_cell(TWO_PLAYERS.format(first=parts[0], second=parts[1]))
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.whole) == ("gen", True)
    assert "the wrong one" in record.cut.source


def test_a_bias_that_a_derivative_loses_is_no_part_without_gradient(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
        opt = torch.optim.Adam(net.parameters(), lr=1e-3)
        for step in range(6):
            x = torch.randn(16, 2).detach().requires_grad_(True)
            (slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
            opt.zero_grad(); (slope - x.detach()).pow(2).mean().backward(); opt.step()
        """
    )
    assert run.of(UnreachedRecord) == []


SCALED = """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.shift = nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3))
    def forward(self, x):
        return self.weight * x
net = nn.Sequential(Scale(), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
"""


def test_a_weight_of_the_users_own_that_is_not_used_is_told_beside_one_that_is(run_cell):
    run, _ = run_cell(SCALED + LOOP.format(steps=6))
    (record,) = run.of(UnreachedRecord)
    assert (record.whole, record.parameters) == (False, ("net.0.shift",))


HOOKED = """
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.fc = nn.Linear(3, 4), nn.Linear(4, 2)
    def forward(self, x):
        return self.fc(self.body(x))
class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.head = Backbone(), nn.Linear(4, 4)
        self.net.body.register_forward_hook(lambda m, i, o: setattr(self, "h", o))
    def features(self, x):
        {kept} = self.net(x)
        return self.h
    def forward(self, x):
        return self.head(self.features(x)) - self.features(x).detach()
learner = Learner()
opt = torch.optim.SGD(learner.parameters(), lr=0.01)
"""


@pytest.mark.parametrize(("kept", "how"), [("_", DROPPED), ("kept", "detach()")])
def test_a_result_that_is_thrown_away_on_purpose_is_cut_by_nobody(run_cell, kept, how):
    run, _ = run_cell(HOOKED.format(kept=kept) + LOOP.format(steps=6).replace("net(", "learner("))
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.how.removeprefix(".")) == ("learner.net.fc", how)


LIBRARY = """
from torch import nn

class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.fc = nn.Linear(3, 4), nn.Linear(4, 2)
        self.heads = nn.ModuleDict({"spare": nn.Linear(4, 2), "used": nn.Linear(4, 2)})
        self.scale = nn.Parameter(nn.Linear(1, 1).weight.detach())

    def forward(self, x):
        return self.heads["used"](self.body(x)), self.fc(self.body(x))
"""
USES = """
from a_library_of_models import Backbone
class Mine(Backbone):
    def forward(self, x):
        return super().forward(x)
net = {made}
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    opt.zero_grad()
    net(torch.randn(8, 3))[0].pow(2).mean().backward()
    opt.step()
"""


IN_A_FUNCTION = "def fit():\n" + "".join(f"    {line}\n" for line in USES.strip().splitlines()) + "fit()\n"


@pytest.mark.parametrize("source", [USES, IN_A_FUNCTION], ids=["at top level", "gone as the run ends"])
@pytest.mark.parametrize(("made", "of_library"), [("Backbone()", True), ("Mine()", False)])
def test_what_a_librarys_forward_leaves_out_is_known_from_what_the_users_does(
    run_cell, installed, source, made, of_library
):
    installed("a_library_of_models", LIBRARY)
    run, _ = run_cell(source.format(made=made))
    found = {record.module: record.of_library for record in run.of(UnreachedRecord)}
    assert found == dict.fromkeys(["net", "net.fc", "net.heads.spare"], of_library)


def test_a_model_of_the_users_own_layers_is_the_users(run_cell):
    run, _ = run_cell(
        """
        net = nn.ModuleDict({"a": nn.Linear(3, 2), "b": nn.Sequential(nn.Linear(3, 2))})
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(6):
            opt.zero_grad()
            net["a"](torch.randn(8, 3)).pow(2).mean().backward()
            opt.step()
        """
    )
    (record,) = run.of(UnreachedRecord)
    assert (record.module, record.of_library) == ("net.b", False)
