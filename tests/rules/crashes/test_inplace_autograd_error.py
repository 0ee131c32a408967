"""A change in place is told at the line that makes it."""

import pytest

from torchmagic.records.crash import CrashKind, CrashSiteRecord, InplaceRecord
from torchmagic.records.model import OptimizerRecord
from torchmagic.records.place import Place
from torchmagic.rules.crashes.inplace_autograd_error import inplace_autograd_error
from torchmagic.session.run import Run

BACKWARD = Place(file="<cell>", line=9, source="loss.backward()")
NEEDED = "one of the variables needed for gradient computation has been modified by an inplace operation"


def finding(change, message=NEEDED, *, others=(), source=""):
    run = Run(source=source)
    run.records.append(
        CrashSiteRecord(problem=CrashKind.INPLACE, error="RuntimeError", message=message, place=BACKWARD)
    )
    run.records += [*([change] if change is not None else []), *others]
    (found,) = inplace_autograd_error(run)
    return found


def change(source="gate *= 0.5", *, optimizer="", sure=True):
    place = None if optimizer else Place(file="<cell>", line=5, source=source)
    return InplaceRecord(
        name="D.0.weight" if optimizer else "gate",
        made_by="SigmoidBackward0",
        needed_by="MulBackward0",
        shape=(4, 16),
        optimizer=optimizer,
        place=place,
        sure=sure,
    )


def test_the_line_is_that_of_the_change_and_not_that_of_the_backward():
    found = finding(change())
    assert (found.line, found.source) == (5, "gate *= 0.5")
    assert found.fix == "gate = gate * 0.5"
    assert found.evidence["raised at"] == "line 9: loss.backward()"


def test_a_step_between_forward_and_backward_is_told_at_the_step():
    place = Place(file="<cell>", line=7, source="opt_d.step()")
    owner = OptimizerRecord(name="opt_d", class_name="SGD", lr=(0.1,), parameters=(), place=place)
    found = finding(change(optimizer="opt_d"), others=(owner,))
    assert (found.line, found.optimizer, found.parameter) == (7, "opt_d", "D.0.weight")


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("h = F.relu(gate, inplace=True)", "h = F.relu(gate, inplace=False)"),
        ("h = self.act(gate)", "build the module that this line calls without inplace=True"),
        ("gate.clamp_(0, 1)", "gate = gate.clone()  # before it is changed; or write the change out of place"),
        ("gate += self.b(x)", "gate = gate + (self.b(x))"),
    ],
)
def test_each_spelling_has_its_own_cure(line, fix):
    assert finding(change(line)).fix == fix


def test_a_leaf_is_changed_without_gradients():
    found = finding(
        change("w -= 0.1 * w.grad"),
        "a leaf Variable that requires grad is being used in an in-place operation.",
    )
    assert found.fix == "with torch.no_grad(): w -= 0.1 * w.grad"


def test_a_change_that_was_only_guessed_is_less_sure():
    assert finding(change(sure=False)).confidence < finding(change()).confidence


def test_a_change_that_was_not_found_is_told_at_the_backward():
    assert finding(None).line == 9


LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


def test_what_happened_is_told_in_words():
    assert finding(change()).title.startswith("gate was changed in place")
    assert finding(None).title.startswith("a tensor was changed in place")
    assert "is a leaf" in finding(change(), LEAF).title
    assert (
        "such a view" in finding(change(), "Output 0 of UnbindBackward0 is a view and is being modified inplace").title
    )
    assert finding(change(optimizer="opt_d")).title.startswith("opt_d.step() changed D.0.weight")


def test_why_it_is_wrong_depends_on_what_was_changed():
    assert "MulBackward0 keeps it" in finding(change()).why
    assert "An operation of the forward keeps it" in finding(None).why
    assert "gradient of a leaf" in finding(change(), LEAF).why
    assert "the step has overwritten them" in finding(change(optimizer="opt_d")).why
    assert finding(change(optimizer="opt_d")).fix.startswith("opt_d.step()  # after all backward passes")


def test_only_what_a_step_changed_is_called_a_parameter():
    assert (finding(change()).parameter, finding(change()).optimizer) == (None, None)
    assert finding(change()).evidence["shape"] == "(4, 16)"


def test_a_step_whose_optimizer_has_no_line_is_looked_up_in_the_source():
    other = OptimizerRecord(name="opt_g", class_name="SGD", lr=(0.1,), parameters=(), place=BACKWARD)
    unplaced = OptimizerRecord(name="opt_d", class_name="SGD", lr=(0.1,), parameters=())
    source = "loss = f(x)\nopt_d.step()\nloss.backward()\n"
    for others in ((other,), (other, unplaced)):
        found = finding(change(optimizer="opt_d"), others=others, source=source)
        assert (found.line, found.source) == (2, "opt_d.step()")
    assert finding(change(optimizer="opt_d")).line == 9


def test_an_element_that_is_given_a_value_is_copied_first():
    assert finding(change("gate[0] += 1.0")).fix.startswith("gate = gate.clone()")


def test_another_exception_is_silent():
    run = Run()
    run.records.append(CrashSiteRecord(problem=CrashKind.SHAPE, error="RuntimeError", message=NEEDED, place=BACKWARD))
    assert list(inplace_autograd_error(run)) == []
    assert list(inplace_autograd_error(Run())) == []


LOOP = "for x in xs:\n    y, h = rnn(x, h)\n    y.mean().backward({})\n    opt.step()\n"


@pytest.mark.parametrize(("given", "line"), [("retain_graph=True", 3), ("", 4)])
def test_a_state_that_is_carried_with_its_graph_is_to_be_detached(given, line):
    run = Run(source=LOOP.format(given))
    place = Place(file="<cell>", line=3, source=f"y.mean().backward({given})")
    run.records += [
        CrashSiteRecord(problem=CrashKind.INPLACE, error="RuntimeError", message=NEEDED, place=place),
        change(optimizer="opt"),
    ]
    (found,) = inplace_autograd_error(run)
    assert found.line == line
    assert ("h = h.detach()" in found.fix) == bool(given)
