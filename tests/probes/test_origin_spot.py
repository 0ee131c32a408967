"""This file tests what is told of a loss that a function was handed by a call that cannot be followed."""

import pytest

from torchmagic.records.nonfinite import Birth, NonfiniteRecord

SETUP = """
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)

def learn(answer, weight=1.0, *rest):
    (answer.mean() * weight).backward()

def passing(*args):
    learn(*args, 2.0)

kept = []

def learn_all():
    sum(each.mean() for each in kept).backward()

for step in range(2):
    opt.zero_grad()
    answer = torch.log(net(torch.randn(8, 3)) * 0)
    {call}
    opt.step()
"""
CALLS = {
    "by a library": "list(map(learn, [answer]))",
    "with what a list holds": "held = [answer, 1.0]; learn(*held)",
    "by a function that adds to it": "passing(answer)",
    "through a list that lives on": "kept.append(answer); learn_all(); kept.clear()",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_a_function_is_handed_with_a_graph_is_no_data(run_cell, call):
    run, _ = run_cell(SETUP.format(call=call))
    (record,) = run.of(NonfiniteRecord)
    assert (record.birth, record.op, record.step) == (Birth.FORWARD, "log", 0)
    assert record.place.source == "answer = torch.log(net(torch.randn(8, 3)) * 0)"


def test_an_argument_that_the_function_deleted_is_no_hindrance(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)

        def learn(answer):
            loss = torch.log(answer * 0).mean()
            del answer
            loss.backward()

        learn(net(torch.randn(8, 3)))
        opt.step()
        """
    )
    (record,) = run.of(NonfiniteRecord)
    assert (record.op, record.proven) == ("log", True)


def test_a_decorated_method_is_looked_through(run_cell):
    run, _ = run_cell(
        """
        net = nn.Linear(3, 2)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)

        def counted(function):
            def inner(self, *args, **kwargs):
                self.calls += 1
                return function(self, *args, **kwargs)
            return inner

        class Training:
            calls = 0

            @counted
            def learn(self, answer, weight=1):
                loss = answer.pow(2).sum(1).sqrt().mean() * weight
                loss.backward()

        training = Training()
        for step in range(3):
            answer = net(torch.randn(8, 3))
            opt.zero_grad()
            training.learn(answer - answer.detach() * (step == 1), weight=2)
            opt.step()
        """
    )
    (record,) = run.of(NonfiniteRecord)
    assert (record.op, record.proven, record.step) == ("SqrtBackward0", True, 1)
