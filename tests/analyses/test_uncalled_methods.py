"""A method that a statement only names is found; one that is called, handed on or of something else is not."""

import pytest

from torchmagic.analyses.uncalled_methods import uncalled

LOOP = """for x in data:
    loss = f(x)
    {}
    self.opt.step()
"""


@pytest.mark.parametrize(
    ("statement", "method", "name", "found"),
    [
        ("opt.zero_grad", "zero_grad", "", (3, "opt.zero_grad")),
        ("self.opt.zero_grad", "zero_grad", "trainer.opt", (3, "self.opt.zero_grad")),
        ("sched.step", "step", "sched", (3, "sched.step")),
        ("sched.step", "step", "opt", None),
        ("opt.zero_grad()", "zero_grad", "", None),
        ("clear = opt.zero_grad", "zero_grad", "", None),
        ("clear(opt.zero_grad)", "zero_grad", "", None),
        ("opt.step; sched.step", "step", "", (3, "opt.step")),
        ("not python", "step", "", None),
    ],
)
def test_statements_that_only_name_a_method(statement, method, name, found):
    assert uncalled(LOOP.format(statement), method, name=name) == found
