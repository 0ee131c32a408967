"""This file tests the table of a run for pandas."""

import math
import sys

import pytest

from torchmagic.records.series import Frame
from torchmagic.session.run import Run


def trained():
    run = Run()
    for step in range(3):
        run.frame("loss", ("loss",)).append(step, (1.0 / (step + 1),))
        run.frame("grad_norm", ("net.weight", "net.bias")).append(step, (float(step), -float(step)))
    run.frame("accuracy", ("",)).append(2, (0.5,))
    return run


def test_a_run_is_one_row_a_step_and_one_column_a_metric_and_subject():
    pytest.importorskip("pandas")
    table = trained().to_pandas()
    assert list(table.columns) == ["loss", "grad_norm[net.weight]", "grad_norm[net.bias]", "accuracy"]
    assert (table.index.name, list(table.index)) == ("step", [0, 1, 2])
    assert list(table["loss"]) == [1.0, 0.5, 1.0 / 3]
    assert list(table["grad_norm[net.bias]"]) == [0.0, -1.0, -2.0]
    assert repr(list(table["accuracy"])) == repr([math.nan, math.nan, 0.5])


def test_a_metric_of_the_whole_and_of_parts_keeps_both_apart():
    pytest.importorskip("pandas")
    run = Run()
    run.frame("grad_norm", ("",)).append(0, (5.0,))
    run.frame("grad_norm", ("net.weight",)).append(0, (4.0,))
    assert run.to_pandas().to_dict("list") == {"grad_norm": [5.0], "grad_norm[net.weight]": [4.0]}


def test_of_several_values_in_one_step_the_last_one_stands_and_steps_are_in_order():
    pytest.importorskip("pandas")
    run = Run()
    run.frame("loss", ("a",)).append(5, (1.0,))
    run.frame("loss", ("a",)).append(5, (2.0,))
    run.frame("loss", ("b",)).append(3, (7.0,))
    table = run.to_pandas()
    assert list(table.index) == [3, 5]
    assert table["loss[a]"][5] == 2.0


def test_a_thinned_series_has_its_extremes_in_the_table():
    pytest.importorskip("pandas")
    run = Run()
    run.frames.append(Frame("loss", ("loss",), max_rows=8))
    for step in range(100):
        run.frames[0].append(step, (float(step == 33),))
    table = run.to_pandas()
    assert table["loss"][33] == 1.0
    assert table.index[-1] == 99


def test_a_run_without_series_is_an_empty_table():
    pytest.importorskip("pandas")
    assert Run().to_pandas().empty


def test_without_pandas_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        trained().to_pandas()
