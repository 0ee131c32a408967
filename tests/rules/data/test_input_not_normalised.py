"""This file tests the rule on raw inputs, on records written by hand."""

import math

import pytest

from torchmagic.records.feeding import FirstLayerRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.data.input_not_normalised import MAX_SCALE, MAX_SPREAD, input_not_normalised
from torchmagic.session.run import Run

SOURCE = "x = torch.tensor(table)\nfor xb in x.split(8):\n    net(xb)\n"


def found(*values, class_name="Linear", frozen=False, source=SOURCE, line=3, text="net(xb)"):
    run = Run(source=source)
    for step, (scale, spread) in enumerate(values):
        run.records.append(
            FirstLayerRecord(
                model="net",
                module="net.0",
                class_name=class_name,
                step=step,
                shape=(8, 3),
                scale=scale,
                spread=spread,
                low=0.0,
                high=scale,
                frozen=frozen,
                place=Place(file="<cell>", line=line, source=text),
            )
        )
    return list(input_not_normalised(run))


def test_large_inputs_are_a_warning_where_the_data_are_made():
    assert (MAX_SCALE, MAX_SPREAD) == (50.0, 1000.0)
    (finding,) = found((700.0, 10.0), (720.0, 10.0))
    assert (finding.severity, finding.module, finding.line) == (Severity.WARNING, "net.0", 1)
    assert finding.source == "x = torch.tensor(table)"


def test_data_of_another_cell_are_told_where_the_model_is_called():
    (finding,) = found((700.0, 10.0), source="for xb in x.split(8):\n    net(xb)\n", line=2)
    assert (finding.line, finding.source) == (2, "net(xb)")


@pytest.mark.parametrize(
    ("scale", "spread", "told"), [(50.0, 1.0, 0), (50.1, 1.0, 1), (3.0, 1000.0, 0), (3.0, 1001.0, 1), (1.0, 1e7, 0)]
)
def test_the_bounds(scale, spread, told):
    assert len(found((scale, spread))) == told


def test_one_odd_batch_of_several_is_silent():
    assert found((700.0, 1.0), (3.0, 1.0), (3.0, 1.0)) == []


@pytest.mark.parametrize("class_name", ["BatchNorm1d", "LayerNorm", "MyNorm"])
def test_a_normalisation_first_is_silent(class_name):
    assert found((700.0, 1e6), class_name=class_name) == []


def test_a_frozen_first_layer_is_silent():
    assert found((700.0, 1e6), frozen=True) == []


def test_numbers_that_are_none_are_another_rules_matter():
    assert found((math.inf, 1.0)) == []
    assert found((math.nan, 1e6)) == []


def test_each_module_is_judged_by_its_own_inputs():
    run = Run(source=SOURCE)
    for module, scale in (("net.0", 700.0), ("net.4", 1.0), ("net.4", 1.0)):
        place = Place(file="<cell>", line=3, source="net(xb)")
        run.records.append(
            FirstLayerRecord(
                model="net",
                module=module,
                class_name="Linear",
                step=0,
                shape=(8, 3),
                scale=scale,
                spread=1.0,
                low=0.0,
                high=scale,
                frozen=False,
                place=place,
            )
        )
    assert [finding.module for finding in input_not_normalised(run)] == ["net.0"]


def test_a_line_of_another_file_is_kept():
    (finding,) = found((700.0, 10.0), text="net(batch)")
    assert (finding.line, finding.source) == (3, "net(batch)")


@pytest.mark.parametrize(
    ("class_name", "scale", "fix"),
    [
        ("Conv2d", 110.0, "x = x / 255"),
        ("Conv1d", 800.0, "x = (x - x.mean((0, 2), keepdim=True)) / x.std((0, 2), keepdim=True)"),
        ("Conv2d", 800.0, "x = (x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), keepdim=True)"),
        ("Linear", 110.0, "x = (x - x.mean(0)) / x.std(0)"),
    ],
)
def test_the_fix_suits_what_the_layer_takes(class_name, scale, fix):
    (finding,) = found((scale, 1.0), class_name=class_name)
    assert finding.fix.partition("  #")[0] == fix
    torch = pytest.importorskip("torch")
    dims = {"Conv1d": 3, "Conv2d": 4}.get(class_name, 2)
    x = torch.rand(6, *range(3, 2 + dims)) * scale
    names = {"x": x}
    exec(finding.fix, names)  # noqa: S102 - that it can be typed as it is
    assert names["x"].shape == x.shape
    assert names["x"].abs().mean() < 1
