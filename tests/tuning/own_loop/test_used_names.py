"""Which names of a notebook a cell may use: its own, and those of what it calls."""

from torchmagic.tuning.own_loop.used_names import used_names

FUNCTIONS = """
model = rate = other = 1
def step():
    return model
def train():
    return [step() for _ in range(2)]
def even(n):
    return n == 0 or odd(n - 1)
def odd(n):
    return n != 0 and even(n - 1)
"""
METHODS = """
model = 1
class Trainer:
    def run(self):
        return model
trainer = Trainer()
"""


def names_of(source, notebook):
    scope = {"__name__": "__main__"}
    exec(notebook, scope)  # noqa: S102 - the notebook's cells before
    return used_names(compile(source, "<cell>", "exec"), scope)


def test_a_cell_uses_what_the_functions_use_that_it_calls():
    assert names_of("train()", FUNCTIONS) == {"train", "step", "model"}
    assert names_of("rate + 1", FUNCTIONS) == {"rate"}


def test_functions_that_call_each_other_end():
    assert names_of("even(3)", FUNCTIONS) == {"even", "odd"}


def test_methods_use_names_too():
    assert names_of("trainer.run()", METHODS) == {"trainer", "model"}
    assert names_of("Trainer().run()", METHODS) == {"Trainer", "model"}
