"""This file tests the rule on derivatives that are a constant in the loss, on records written by hand."""

import pytest

from torchmagic.records.finding import Severity
from torchmagic.records.note import CrashRecord
from torchmagic.records.place import Place
from torchmagic.records.reach import DerivativeRecord
from torchmagic.rules.training_loop.derivative_without_graph import MIN_STEPS, derivative_without_graph
from torchmagic.session.run import Run

TEXT = """for x in xs:
    slope = torch.autograd.grad(net(x).sum(), x)[0]
    loss = net(x).mean() + slope.norm()
    loss.backward()
"""
LINE = Place(file="<cell>", line=2, source="slope = torch.autograd.grad(net(x).sum(), x)[0]")


def found(source=TEXT, *, place=LINE, count=4, texts=None):
    run = Run(source=source)
    run.texts = texts or {}
    run.records.append(DerivativeRecord(place=place, loss="loss", step=0, count=count))
    return list(derivative_without_graph(run))


def test_a_derivative_that_is_a_term_of_the_loss_is_told_at_its_line():
    (finding,) = found()
    assert (finding.severity, finding.line, finding.source) == (Severity.ERROR, 2, LINE.source)
    assert "create_graph=True" in finding.fix


def test_three_steps_are_enough_and_two_are_not():
    assert MIN_STEPS == 3
    assert len(found(count=3)) == 1
    assert found(count=2) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("net(x).mean() + slope.norm()", "net(x + slope).mean()"),
        ("net(x).mean() + slope.norm()", "net(x).mean() * slope.norm()"),
        ("slope.norm()", "slope.norm().detach()"),
        ("sum(), x)", "sum(), x, create_graph=second)"),
    ],
)
def test_what_is_meant_as_a_constant_or_goes_into_the_model_is_silent(old, new):
    text = TEXT.replace(old, new)
    place = Place(file="<cell>", line=2, source=text.splitlines()[1].strip())
    assert found(text, place=place) == []


def test_it_may_stand_in_another_cell():
    texts = {"<other>": "def size(x):\n    return torch.autograd.grad(net(x).sum(), x)[0].norm()\n"}
    place = Place(file="<other>", line=2, source="return torch.autograd.grad(net(x).sum(), x)[0].norm()")
    loop = "loss = net(x).mean() + size(x)\nloss.backward()\n"
    (finding,) = found(loop, place=place, texts=texts)
    assert finding.line == 2
    assert found("loss = net(x).mean()\nprint(size(x))\nloss.backward()\n", place=place, texts=texts) == []


def test_a_line_that_no_text_has_is_silent():
    assert found(place=Place(file="<cell>", line=2, source="another line")) == []
    assert found(place=None) == []


SECOND = """u = net(t)
du, = torch.autograd.grad(u.sum(), t)
ddu, = torch.autograd.grad(
    outputs=du.sum(), inputs=t, create_graph=True
)
"""
HELPER = "def slope(y, x):\n    return torch.autograd.grad(y.sum(), x)[0]\n"
WITHOUT = "element 0 of tensors does not require grad and does not have a grad_fn"


def crashed(source, line, *, message=WITHOUT, texts=None, file="<cell>"):
    run = Run(source=source)
    run.texts = texts or {}
    text = run.texts.get(file, source).splitlines()[line - 1].strip()
    run.records.append(CrashRecord(error="RuntimeError", message=message, file=file, line=line, source=text))
    return list(derivative_without_graph(run))


def test_a_derivative_of_one_without_a_graph_is_told_at_the_line_of_the_first():
    (finding,) = crashed(SECOND, 3)
    assert (finding.severity, finding.line, finding.source) == (
        Severity.ERROR,
        2,
        "du, = torch.autograd.grad(u.sum(), t)",
    )
    assert finding.title == "line 3 takes a derivative of one that was taken without a graph"


def test_a_helper_that_is_asked_for_both_is_told_at_its_own_line():
    (finding,) = crashed(f"{HELPER}du = slope(net(t), t)\nddu = slope(du, t)\n", 2)
    assert finding.line == 2
    (finding,) = crashed("ddu = slope(slope(net(t), t), t)\n", 2, texts={"<other>": HELPER}, file="<other>")
    assert (finding.line, finding.source) == (2, "return torch.autograd.grad(y.sum(), x)[0]")


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (SECOND.replace("sum(), t)", "sum(), t, create_graph=True)"), 3, WITHOUT),  # what has no graph is the model
        (SECOND, 3, "One of the differentiated Tensors appears to not have been used in the graph."),
        (SECOND, 1, WITHOUT),
        ("u = net(t).detach()\ndu, = torch.autograd.grad(u.sum(), t)\n", 2, WITHOUT),
        (f"{HELPER}du = slope(net(t).detach(), t)\n", 2, WITHOUT),
        ("loss = net(t).detach().mean()\nloss.backward()\n", 2, WITHOUT),
    ],
)
def test_other_crashes_are_silent(source, line, message):
    assert crashed(source, line, message=message) == []
