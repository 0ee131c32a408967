"""This file tests the line that builds an optimizer, written anew with another setting."""

import pytest

from torchmagic.analyses.optimizer_lines import built_with, place_of_setting
from torchmagic.records.model import ModelRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.records.place import Place
from torchmagic.session.run import Run


def run_of(source):
    model = ModelRecord(name="net", class_name="Net", num_parameters=2, num_trainable=2, num_bytes=8)
    run = Run(source=source)
    run.records.append(model)
    return run


def group(source="", line=1, **changes):
    text = source.splitlines()[line - 1].strip() if source else ""
    facts = {
        "optimizer": "opt", "class_name": "SGD", "subject": "opt", "parameters": ("net.weight",), "num_elements": 2,
        "lr": 0.1, "weight_decay": 0.0, "decoupled": False, "maximize": False, "step": 0,
        "built": Place(file="<cell>", line=line, source=text) if source else None,
    }  # fmt: skip
    return GroupRecord(**facts | changes)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("opt = SGD(net.parameters(), lr=10, momentum=0.9)", "opt = SGD(net.parameters(), lr=0.001, momentum=0.9)"),
        ("opt = torch.optim.SGD(net.parameters(), 10)", "opt = torch.optim.SGD(net.parameters(), 0.001)"),
        ("self.opt = SGD(self.net.parameters())", "self.opt = SGD(self.net.parameters(), lr=0.001)"),
        ("net = Net(); opt = SGD(net.parameters(), lr=cfg.lr)", "opt = SGD(net.parameters(), lr=0.001)"),
        ("opt = SGD([w for w in net.parameters()], lr=10)", "opt = SGD([w for w in net.parameters()], lr=0.001)"),
    ],
)
def test_a_setting_is_changed_where_it_stands(line, wanted):
    assert built_with(run_of(line), group(line), "lr", 0.001) == wanted


def test_a_statement_may_fill_several_lines_and_lie_in_a_function():
    source = "def build(net):\n    return SGD(\n        net.parameters(),\n        lr=10,\n    )\n"
    assert built_with(run_of(source), group(source, line=2), "lr", 0.001) == "return SGD(net.parameters(), lr=0.001)"


def test_a_line_of_another_file_is_read_by_itself():
    there = "opt = SGD(net.parameters(), lr=10)"
    assert built_with(run_of("train()"), group(there), "lr", 1e-5) == "opt = SGD(net.parameters(), lr=1e-05)"


def test_a_keyword_is_left_out():
    line = "opt = SGD(net.parameters(), maximize=True, lr=0.1)"
    assert built_with(run_of(line), group(line), "maximize", None) == "opt = SGD(net.parameters(), lr=0.1)"
    assert built_with(run_of(""), group(), "maximize", None) == "torch.optim.SGD(net.parameters())"


@pytest.mark.parametrize(
    "line",
    [
        "opt = SGD(net.parameters(), **settings)",
        "opt = SGD(*arguments)",
        "opt = SGD([{'params': net.parameters(), 'lr': 1}], lr=10)",
        "opt = SGD(net.parameters(), 10, 0.9)",
        "opt = make_optimizer(net)",
        "a, b = SGD(net.parameters(), 1), SGD(net.parameters(), 1)",
        "opt = SGD(",
    ],
)
def test_what_cannot_be_told_is_written_as_a_new_optimizer(line):
    assert built_with(run_of(line), group(line), "lr", 0.001) == "torch.optim.SGD(net.parameters(), lr=0.001)"


def test_one_of_several_groups_and_an_optimizer_of_an_earlier_cell_are_set_where_they_are():
    line = "opt = SGD([{'params': a}, {'params': b}], lr=10)"
    second = group(line, subject="opt[1]")
    assert built_with(run_of(line), second, "lr", 0.001) == 'opt.param_groups[1]["lr"] = 0.001'
    assert (
        built_with(run_of("train()"), group(), "weight_decay", 1e-4) == 'opt.param_groups[0]["weight_decay"] = 0.0001'
    )


@pytest.mark.parametrize("name", ["SGD", "SGD 2"])
def test_an_optimizer_without_a_variable_is_not_spoken_of(name):
    unnamed = group(optimizer=name, subject=f"{name}[1]")
    assert built_with(run_of(""), unnamed, "lr", 0.1) == "torch.optim.SGD(net.parameters(), lr=0.1)"


SPREAD = """opt = torch.optim.SGD(
    [
        {"params": net.body.parameters(), "lr": 0.0},
        {
            "params": net.head.parameters(),
            "weight_decay": 5.0,
        },
    ],
    lr=10,
    maximize=True,
)
other = torch.optim.SGD(
    net.parameters(),
    3.0,
)
alone = torch.optim.SGD(net.parameters(), lr=1e-9)
"""


@pytest.mark.parametrize(
    ("line", "subject", "setting", "wanted"),
    [
        (1, "opt[0]", "lr", 3),
        (1, "opt[1]", "lr", 9),
        (1, "opt[1]", "weight_decay", 6),
        (1, "opt[0]", "maximize", 10),
        (1, "opt[0]", "momentum", 1),
        (12, "opt", "lr", 14),
        (16, "opt", "lr", 16),
    ],
)
def test_a_setting_is_found_on_the_line_of_the_call_that_gives_it(line, subject, setting, wanted):
    place = place_of_setting(run_of(SPREAD), group(SPREAD, line=line, subject=subject), setting)
    assert (place.line, place.source) == (wanted, SPREAD.splitlines()[wanted - 1].strip())


def test_what_was_built_elsewhere_has_the_place_that_is_known():
    there = group(SPREAD)
    assert place_of_setting(run_of("train()"), there, "lr") == there.built
    assert place_of_setting(run_of("train()"), group(), "lr") is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("opt = torch.optim.SGD(\n    net.parameters(),\n    lr=0.1,\n)\n", (3, "lr=0.1,")),
        ("self.opt = optim.SGD(net.parameters())\n", (1, "self.opt = optim.SGD(net.parameters())")),
        ("def make(net):\n    return SGD(net.parameters(), lr=0.1)\n", (2, "return SGD(net.parameters(), lr=0.1)")),
        ("other = SGD(net.parameters(), lr=0.1)\n", None),
        ("opt = Adam(net.parameters(), lr=0.1)\n", None),
        ("opt = SGD(a, lr=0.1)\nopt = SGD(b, lr=0.2)\n", None),
    ],
)
def test_what_nobody_saw_is_built_by_the_only_line_in_the_texts_that_gives_it_its_name(text, wanted):
    run = run_of("train()")
    run.texts = {"<cell 1>": text}
    place = place_of_setting(run, group(), "lr")
    assert (None if place is None else (place.line, place.source)) == wanted


def test_another_setting_keeps_the_rate_where_the_line_cannot_be_written_anew():
    line = "opt = SGD(net.parameters(), **settings)"
    wanted = "torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.0001)"
    assert built_with(run_of(line), group(line), "weight_decay", 1e-4) == wanted
