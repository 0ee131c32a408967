"""This file tests what is found that switches gradients off around a line."""

import pytest

from torchmagic.analyses.switched_off import last_switch, left_open, switches


@pytest.mark.parametrize(
    ("call", "off"),
    [
        ("torch.no_grad()", True),
        ("torch.inference_mode()", True),
        ("torch.set_grad_enabled(False)", True),
        ("torch.set_grad_enabled(mode=train)", True),
        ("torch.set_grad_enabled(True)", False),
        ("torch.enable_grad()", False),
    ],
)
def test_a_block_around_a_line_switches_them_off(call, off):
    found = switches(f"x = 1\nwith {call}:\n    y = net(x)\nz = net(x)\n", 3)
    assert found == ((2, call) if off else None)
    assert switches(f"with {call}:\n    y = net(x)\nz = net(x)\n", 3) is None


def test_the_nearest_block_is_told():
    source = "with torch.no_grad():\n    with torch.inference_mode():\n        y = net(x)\n"
    assert switches(source, 3).line == 2


DECORATED = """@torch.no_grad()
def step(x):
    return net(x)


def step(x, y):
    return net(x)


class Net:
    def forward(self, x):
        "Answer."
        with torch.no_grad():
            return self.body(x)

    def other(self, x):
        y = x + 1
        with torch.no_grad():
            return self.body(y)
"""


def test_a_decorator_of_the_function_around_a_line_is_told():
    assert switches(DECORATED, 3) == (1, "@torch.no_grad()")
    assert switches(DECORATED, 7) is None


def test_a_function_is_known_by_its_name_and_its_first_line():
    assert switches(DECORATED, 2, function="step").line == 1
    assert switches(DECORATED, 1, function="step").line == 1
    assert switches(DECORATED, 6, function="step") is None
    assert switches(DECORATED, 2, function="other") is None


def test_a_block_counts_for_a_function_when_all_of_it_stands_in_the_block():
    assert switches(DECORATED, 11, function="forward").line == 13
    assert switches(DECORATED, 16, function="other") is None


def test_a_call_above_switches_them_off_for_all_that_follows():
    source = "torch.set_grad_enabled(False)\ny = net(x)\ntorch.no_grad()\nprint(y)\n"
    assert switches(source, 2).line == 1
    assert switches(source, 1) is None
    assert last_switch(source) == (1, "torch.set_grad_enabled(False)")
    assert last_switch("torch.no_grad()\n") is None
    assert switches("y = net(x)\ntorch.set_grad_enabled(False)\n", 1) is None


GENERATOR = """
def features(x):
    with torch.no_grad():
        for part in x:
            yield net(part)
def whole(x):
    with torch.no_grad():
        values = net(x)
    yield values
for feature in features(x):
    loss = head(feature)
for feature in whole(x):
    loss = head(feature)
"""


def test_a_generator_that_waits_in_a_block_switches_them_off_in_the_loop_over_it():
    assert left_open(GENERATOR, 11) == (3, "torch.no_grad() around a yield")
    assert left_open(GENERATOR, 13) is None
    assert left_open(GENERATOR, 9) is None


@pytest.mark.parametrize(
    "way",
    [
        "batches = {maker}(x)\nfor feature in batches:\n    loss = head(feature)",
        "def epoch(rows, *, batches):\n    for each in batches: loss = head(each)\nepoch(1, batches={maker}(x))",
        "class R:\n    def fit(self, batches):\n        for f in batches: loss = head(f)\nR().fit({maker}(x))",
    ],
)
@pytest.mark.parametrize(("maker", "line"), [("features", 3), ("whole", None)])
def test_a_generator_is_found_where_the_loop_was_given_it(way, maker, line):
    start = GENERATOR.partition("for feature in features")[0]
    source = start + way.format(maker=maker)
    at = next(i for i, text in enumerate(source.splitlines(), 1) if "loss =" in text)
    found = left_open(source, at)
    assert (found.line if found is not None else None) == line
