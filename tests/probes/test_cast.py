"""This file tests the cast: which models and optimizers are discovered, and what they are called."""

import weakref

import pytest
from torch import nn

from torchmagic.probes.members import Model
from torchmagic.records.model import ModelRecord, OptimizerRecord, ParameterRecord
from torchmagic.records.note import NoteRecord

LOOP = """
for step in range(3):
    {opt}.zero_grad()
    {call}.sum().backward()
    {opt}.step()
"""


def models(run):
    return [record.name for record in run.of(ModelRecord)]


def optimizers(run):
    return [record.name for record in run.of(OptimizerRecord)]


def test_a_model_and_an_optimizer_bear_the_names_of_their_variables(run_cell):
    run, _ = run_cell(
        "classifier = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\n"
        "adam = torch.optim.Adam(classifier.parameters())\n"
        + LOOP.format(opt="adam", call="classifier(torch.randn(4, 2))")
    )
    assert models(run) == ["classifier"]
    assert optimizers(run) == ["adam"]
    record = run.of(ModelRecord)[0]
    assert (record.class_name, record.num_parameters, record.num_trainable, record.num_bytes) == (
        "Sequential",
        13,
        13,
        52,
    )
    names = [record.name for record in run.of(ParameterRecord)]
    assert names == ["classifier.0.weight", "classifier.0.bias", "classifier.1.weight", "classifier.1.bias"]
    assert run.of(OptimizerRecord)[0].parameters == tuple(names)


def test_an_optimizer_is_placed_where_it_first_stepped(run_cell):
    run, _ = run_cell(
        "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.25)\n"
        + LOOP.format(opt="opt", call="net(torch.randn(4, 2))")
    )
    (record,) = run.of(OptimizerRecord)
    assert (record.class_name, record.lr, record.place.source) == ("SGD", (0.25,), "opt.step()")


def test_parts_of_a_trainer_are_named_by_their_attributes(run_cell):
    run, _ = run_cell(
        """
        class Trainer:
            def __init__(self):
                self.model = nn.Linear(2, 1)
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            def fit(self):
                for step in range(3):
                    self.optimizer.zero_grad()
                    self.model(torch.randn(4, 2)).sum().backward()
                    self.optimizer.step()
        trainer = Trainer()
        trainer.fit()
        """
    )
    assert models(run) == ["trainer.model"]
    assert optimizers(run) == ["trainer.optimizer"]


def test_a_trainer_that_no_variable_holds_is_known_from_inside(run_cell):
    run, _ = run_cell(
        """
        class Trainer:
            def __init__(self):
                self.model = nn.Linear(2, 1)
            def fit(self):
                opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
                for step in range(3):
                    self.model(torch.randn(4, 2)).sum().backward()
                    opt.step()
                    opt.zero_grad()
        Trainer().fit()
        """
    )
    assert models(run) == ["model"]
    assert optimizers(run) == ["opt"]


def test_local_variables_of_a_function_are_names_too(run_cell):
    run, _ = run_cell(
        "def train():\n    encoder = nn.Linear(2, 1)\n    sgd = torch.optim.SGD(encoder.parameters(), lr=0.1)\n"
        "    for step in range(3):\n        encoder(torch.randn(4, 2)).sum().backward()\n        sgd.step()\n"
        "        sgd.zero_grad()\ntrain()\n"
    )
    assert models(run) == ["encoder"]
    assert optimizers(run) == ["sgd"]


def test_models_of_one_class_keep_their_own_names(run_cell):
    run, _ = run_cell(
        "student, teacher = nn.Linear(2, 1), nn.Linear(2, 1)\n"
        "opt = torch.optim.SGD([*student.parameters(), *teacher.parameters()], lr=0.1)\n"
        + LOOP.format(opt="opt", call="(student(torch.randn(4, 2)) + teacher(torch.randn(4, 2)))")
    )
    assert models(run) == ["student", "teacher"]
    assert run.of(OptimizerRecord)[0].parameters == ("student.weight", "student.bias", "teacher.weight", "teacher.bias")


def test_models_in_a_list_or_dict_are_named_by_their_place(run_cell):
    run, _ = run_cell(
        "nets = [nn.Linear(2, 1), nn.Linear(2, 1)]\nparts = {'head': nn.Linear(1, 1)}\n"
        "opt = torch.optim.SGD([p for n in nets for p in n.parameters()], lr=0.1)\n"
        + LOOP.format(opt="opt", call="parts['head'](nets[0](torch.randn(4, 2)) + nets[1](torch.randn(4, 2)))")
    )
    assert models(run) == ["nets[0]", "nets[1]", "parts['head']"]


def test_a_part_that_is_called_by_itself_belongs_to_its_model(run_cell):
    run, _ = run_cell(
        "class Auto(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.encoder, self.decoder = nn.Linear(4, 2), nn.Linear(2, 4)\n"
        "auto = Auto()\nopt = torch.optim.SGD(auto.parameters(), lr=0.1)\n"
        + LOOP.format(opt="opt", call="auto.decoder(auto.encoder(torch.randn(4, 4)))")
    )
    assert models(run) == ["auto"]
    assert run.subjects("grad_norm") == (
        "auto.encoder.weight",
        "auto.encoder.bias",
        "auto.decoder.weight",
        "auto.decoder.bias",
    )


def test_two_models_of_one_name_are_told_apart(run_cell):
    run, _ = run_cell(
        """
        kept = []
        def train():
            net = nn.Linear(2, 1)
            opt = torch.optim.SGD(net.parameters(), lr=0.1)
            for step in range(2):
                net(torch.randn(4, 2)).sum().backward()
                opt.step()
                opt.zero_grad()
            return net
        first = train()
        second = train()
        """
    )
    assert models(run) == ["net", "net#2"]


def test_a_nameless_model_is_called_by_its_class(run_cell):
    run, _ = run_cell(
        "opt = torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1)\n"
        "nn.Linear(2, 1)(torch.randn(4, 2)).sum().backward()\n"
    )
    assert models(run) == ["Linear"]


def test_a_head_that_is_replaced_later_is_found(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(8):
            if step == 3:
                net[1] = nn.Linear(3, 2)
                opt = torch.optim.SGD(net.parameters(), lr=0.1)
            opt.zero_grad()
            net(torch.randn(4, 2)).sum().backward()
            opt.step()
        """
    )
    shapes = [record.shape for record in run.of(ParameterRecord) if record.name == "net.1.weight"]
    assert shapes == [(1, 3), (2, 3)]
    assert models(run) == ["net"]
    assert [record.name for record in run.of(OptimizerRecord)] == ["opt", "opt"]


def test_frozen_parameters_are_counted_apart(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.Linear(2, 3).requires_grad_(False), nn.Linear(3, 1))\n"
        "opt = torch.optim.SGD(net[1].parameters(), lr=0.1)\n" + LOOP.format(opt="opt", call="net(torch.randn(4, 2))")
    )
    record = run.of(ModelRecord)[0]
    assert (record.num_parameters, record.num_trainable) == (13, 4)
    assert [each.trainable for each in run.of(ParameterRecord)] == [False, False, True, True]


def test_a_module_without_parameters_is_no_model(run_cell):
    run, _ = run_cell("x = nn.Softmax(-1)(torch.randn(4, 2, requires_grad=True))\nx.sum().backward()\n")
    assert models(run) == []


def test_a_loose_tensor_is_called_by_its_variable(run_cell):
    run, _ = run_cell(
        "w = torch.ones(3, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        + LOOP.format(opt="opt", call="(w ** 2)")
    )
    assert run.of(OptimizerRecord)[0].parameters == ("w",)
    assert run.series("grad_norm", parameter="w")[1][0] == pytest.approx(12**0.5)


def test_a_loose_tensor_without_a_variable_is_called_by_its_optimizer(run_cell):
    run, _ = run_cell(
        "ws = [torch.ones(3, requires_grad=True)]\nopt = torch.optim.SGD(ws, lr=0.1)\n"
        + LOOP.format(opt="opt", call="(ws[0] ** 2)")
    )
    assert run.of(OptimizerRecord)[0].parameters == ("opt[0]",)
    assert run.series("grad_norm", parameter="opt[0]")[1][0] == pytest.approx(12**0.5)


def test_only_the_model_that_was_asked_for_is_watched(run_cell):
    run, _ = run_cell(
        "student, teacher = nn.Linear(2, 1), nn.Linear(2, 1)\n"
        "opt = torch.optim.SGD([*student.parameters(), *teacher.parameters()], lr=0.1)\n"
        + LOOP.format(opt="opt", call="(student(torch.randn(4, 2)) + teacher(torch.randn(4, 2)))"),
        model="teacher",
    )
    assert models(run) == ["teacher"]


def test_a_lazy_model_is_known_once_its_shapes_are(run_cell):
    run, _ = run_cell(
        "net = nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(1))\nnet(torch.randn(2, 5))\n"
        "opt = torch.optim.SGD(net.parameters(), lr=0.1)\n" + LOOP.format(opt="opt", call="net(torch.randn(4, 5))")
    )
    assert [record.shape for record in run.of(ParameterRecord)] == [(3, 5), (3,), (1, 3), (1,)]


def test_a_compiled_model_keeps_its_own_names_and_what_is_not_seen_of_it_is_said(run_cell):
    run, _ = run_cell(
        """
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        fast = torch.compile(net, backend="eager")
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            F.cross_entropy(fast(torch.randn(16, 4)), torch.randint(0, 2, (16,))).backward()
            opt.step()
        """
    )
    assert [model.compiled for model in run.of(ModelRecord)] == [True]
    assert {record.name.partition(".")[2] for record in run.of(ParameterRecord)} == {
        "0.weight", "0.bias", "2.weight", "2.bias",
    }  # fmt: skip
    assert "compiled" in run.of(NoteRecord)[0].text
    assert run.steps == 3
    assert len(run.series("grad_norm")[0]) == 3


def test_a_module_with_the_identity_of_one_that_is_gone_is_none_of_the_model():
    net, other, gone = nn.Sequential(nn.Tanh()), nn.ReLU(), nn.Tanh()
    model = Model(net, "net")
    model.read()
    model.paths[id(other)], model._parts[id(other)] = "net.1", weakref.ref(gone)
    assert model.path_of(net[0]) == "net.0"
    assert model.path_of(other) is None
    del gone
    assert model.path_of(other) is None


def test_an_optimizer_that_steps_by_a_closure_first_of_all_knows_its_parameters(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        def closure():
            opt.zero_grad()
            loss = net(torch.randn(4, 2)).pow(2).mean()
            loss.backward()
            return loss
        for step in range(3):
            opt.step(closure)
        """
    )
    (record,) = run.of(OptimizerRecord)
    assert (record.name, record.parameters) == ("opt", ("net.weight", "net.bias"))


def test_a_model_that_lends_its_forward_first_keeps_its_own_parameters(run_cell, recwarn):
    run, _ = run_cell(
        """
        net = nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.25)
        for step in range(3):
            opt.zero_grad()
            copies = {name: 2 * each for name, each in net.named_parameters()}
            torch.func.functional_call(net, copies, (torch.randn(4, 2),)).sum().backward()
            opt.step()
        """
    )
    assert [record.name for record in run.of(ParameterRecord)] == ["net.weight", "net.bias"]
    assert run.of(OptimizerRecord)[0].parameters == ("net.weight", "net.bias")
    assert not recwarn  # nobody asks copies that are no leaves for their gradients


def test_parameters_that_lie_idle_while_a_function_runs_are_counted(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(2, 3)
        params = {name: each.detach() for name, each in net.named_parameters()}
        torch.func.functional_call(net, params, (torch.randn(4, 2),))
        """
    )
    (record,) = run.of(ModelRecord)
    assert (record.num_trainable, record.num_parameters) == (9, 9)


@pytest.mark.parametrize("trained", ["net[1].parameters()", "net.parameters()"])
def test_layers_that_a_model_got_before_a_later_optimizer_have_their_names(run_cell, trained):
    run, _ = run_cell(
        f"""
net = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
def train(opt, steps):
    for _ in range(steps):
        opt.zero_grad()
        net(torch.randn(5, 3)).sum().backward()
        opt.step()
train(torch.optim.SGD(net.parameters(), lr=0.1), 20)
net[1] = nn.Linear(4, 3)
train(torch.optim.SGD({trained}, lr=0.1), 3)
"""
    )
    assert run.of(OptimizerRecord)[-1].parameters[-2:] == ("net.1.weight", "net.1.bias")


TWO_MODELS = """
    net, other = nn.Linear(2, 1), nn.Linear(2, 1)
    opt = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.25)
    for step in range(3):
        opt.zero_grad()
        (net(torch.randn(4, 2)) + other(torch.randn(4, 2))).sum().backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("nett", ["No model called 'nett' ran, so none was watched; those that ran: net, other."]),
        ("net", []),
        ("", []),
    ],
)
def test_that_the_only_model_to_watch_never_ran_is_told(run_cell, model, said):
    run, _ = run_cell(TWO_MODELS, model=model)
    assert [note.text for note in run.of(NoteRecord)] == said
