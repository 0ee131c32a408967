"""This file tests the page of activations."""

from torchmagic.records.activation import ActivationRecord, TensorFacts
from torchmagic.records.finding import Finding, Severity
from torchmagic.session.run import Run, Status
from torchmagic.views.activations import activations_page
from torchmagic.views.page import Fold, Table, Text


def module(path, *, shape=(4, 8), class_name="Linear", device="cpu"):
    facts = TensorFacts(shape=shape, dtype="float32", device=device)
    return ActivationRecord(module=path, class_name=class_name, inputs=(facts,), outputs=(facts,))


def table(run):
    return next(block for block in activations_page(run).blocks if isinstance(block, Table))


def watched(*paths, **metrics):
    run = Run()
    run.status = Status.OK
    run.records += [module(path) for path in paths]
    for step in range(3):
        for metric, value in {"activation_mean": 0.5, "activation_std": 1.0, **metrics}.items():
            run.frame(metric, paths).append(step, (value,) * len(paths))
    return run


def test_modules_stand_in_the_order_in_which_they_ran():
    run = watched("net.last", "net.first")
    assert [row[0] for row in table(run).rows] == ["net.last", "net.first"]
    assert list(table(run).rows[0][:5]) == ["net.last", "Linear", "4×8", 0.5, 1.0]


def test_saturation_and_death_are_columns_only_where_there_is_some():
    assert "dead" not in table(watched("net.relu", dead_share=0.0)).columns
    run = watched("net.relu", "net.tanh", dead_share=0.25)
    run.frame("activation_saturation", ("net.tanh",)).append(2, (0.5,))
    shown = table(run)
    assert shown.columns[-2:] == ["saturated", "dead"]
    assert [row[-2] for row in shown.rows] == [None, 0.5]
    assert "2 have dead units." in activations_page(run).blocks[0].text
    assert any(
        "Dead: share of the units" in block.text for block in activations_page(run).blocks if isinstance(block, Text)
    )


def test_what_was_not_finite_once_stays_marked():
    run = watched("net.a", "net.b")
    run.frame("activation_nonfinite", ("net.a", "net.b")).append(1, (0.0, 7.0))
    run.frame("activation_nonfinite", ("net.a", "net.b")).append(2, (0.0, 0.0))
    assert table(run).marked == {1}
    assert table(run).rows[1][-1] == 7.0
    assert "1 of them gave NaN or infinity." in activations_page(run).blocks[0].text


def test_of_the_call_of_a_function_no_count_of_bad_values_is_claimed():
    run = watched("net.a")
    run.frame("activation_nonfinite", ("net.a",)).append(2, (7.0,))
    run.frame("dead_share", ("net.relu(1)",)).append(2, (0.0,))
    assert [row[-1] for row in table(run).rows] == [7.0, None]


def test_a_module_that_a_finding_names_is_marked():
    run = watched("net.a", "net.b")
    run.findings = (Finding(rule="x", severity=Severity.WARNING, confidence=1.0, title="", module="net.b"),)
    assert table(run).marked == {1}


def test_the_call_of_a_function_has_a_row_though_it_is_no_module():
    run = watched("net.a")
    run.frame("dead_share", ("net.relu",)).append(0, (0.75,))
    assert [row[0] for row in table(run).rows] == ["net.a", "net.relu"]
    assert table(run).rows[1][-1] == 0.75


def test_shapes_types_and_other_devices_wait_in_a_fold():
    run = watched("net.a")
    run.records.append(module("net.b", shape=(), device="cuda:0"))
    fold = activations_page(run).blocks[-1]
    assert isinstance(fold, Fold)
    assert [row[2] for row in fold.blocks[0].rows] == ["4×8 float32", "scalar float32 on cuda:0"]


def test_a_run_whose_activations_were_not_measured_has_no_page():
    run = Run()
    run.status = Status.OK
    run.records.append(module("net.a"))
    assert activations_page(run).blocks == []
