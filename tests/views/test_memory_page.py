"""This file tests what the page of resources tells of memory."""

import pytest

from torchmagic.records.memory import HolderRecord, RetainedGraphRecord, UnseenGraphRecord
from torchmagic.records.model import ParameterRecord
from torchmagic.session.run import Run
from torchmagic.views.page import Facts, Plot, Shares, Table, Text
from torchmagic.views.resources import resources_page

CATEGORIES = ("parameters", "gradients", "optimizer state", "activations", "batch", "other")
MIB = 2**20


def parameter(device):
    return ParameterRecord(
        name="net.weight", model="net", module="net", shape=(2,), dtype="float32", device=device, trainable=True
    )


@pytest.fixture
def run():
    run = Run()
    run.records.append(parameter("cpu"))
    for step, activations in enumerate((1, 4, 2)):
        row = [MIB, 0, 2 * MIB, activations * MIB, 0, 300 * MIB]
        run.frame("memory_bytes", CATEGORIES).append(step, row)
    return run


def blocks(run, kind):
    return [block for block in resources_page(run).blocks if isinstance(block, kind)]


def facts(run):
    return dict(row for block in blocks(run, Facts) for row in block.rows)


def test_the_peak_is_told_by_category_without_the_rest_of_the_process(run):
    (shares,) = blocks(run, Shares)
    assert dict(shares.parts) == {"parameters": MIB, "optimizer state": 2 * MIB, "activations": 4 * MIB}
    assert facts(run)["memory of the model, peak"] == "7 MiB at step 1"
    assert facts(run)["rest of the process"] == "300 MiB: interpreter, libraries, data"


def test_on_a_gpu_the_rest_is_a_category(run):
    run.records[:] = [parameter("cuda:0")]
    assert dict(blocks(run, Shares)[0].parts)["other"] == 300 * MIB
    assert "rest of the process" not in facts(run)


def test_categories_stand_on_each_other_over_the_steps_without_those_that_are_nothing(run):
    (plot,) = blocks(run, Plot)
    assert plot.stacked
    assert [line.name for line in plot.lines] == ["parameters", "optimizer state", "activations"]
    assert list(plot.lines[2].values) == [1.0, 4.0, 2.0]


def test_graphs_that_stay_alive_are_told_first_with_their_variable_and_cure(run):
    run.records += [
        RetainedGraphRecord(step=step, count=count, oldest=1, holders=("losses",), num_bytes=MIB)
        for step, count in ((4, 2), (9, 7))
    ]
    first = resources_page(run).blocks[0]
    assert isinstance(first, Text)
    assert first.strong
    assert first.text == (
        "7 graphs of earlier steps are alive, the oldest of step 1, held by losses (1 MiB at least). "
        "Keep loss.item() or loss.detach() instead."
    )


def test_a_graph_whose_holder_is_not_known_is_told_without_one(run):
    run.records.append(RetainedGraphRecord(step=4, count=1, oldest=1, holders=(), num_bytes=None))
    assert (
        resources_page(run).blocks[0].text.startswith("1 graph of an earlier step is alive, the oldest of step 1. Keep")
    )


@pytest.mark.parametrize(("keeper", "cure"), [("output", "%reset -f out"), ("traceback", "sys.last_traceback = None")])
def test_what_the_notebook_keeps_is_told_with_its_cure(run, keeper, cure):
    run.records.append(
        HolderRecord(
            name="Out[3]",
            keeper=keeper,
            num_bytes=3 * MIB,
            shape=(4, 2),
            dtype="float32",
            device="cpu",
            has_graph=True,
            also="",
        )
    )
    text, table = resources_page(run).blocks[:2]
    assert cure in text.text
    assert isinstance(table, Table)
    assert list(table.rows[0]) == ["Out[3]", "3 MiB", "4×2 float32 on cpu", "yes", "nothing else"]


def test_what_could_not_be_counted_is_said_once(run):
    run.records += [
        UnseenGraphRecord(step=step, nodes=("CheckpointFunctionBackward",), complete=True) for step in (0, 1)
    ]
    run.records.append(UnseenGraphRecord(step=2, nodes=(), complete=False))
    assert [block.text for block in blocks(run, Text)] == [
        "Out of sight in the graph, and not counted, is what these keep: CheckpointFunctionBackward.",
        "The graph was too large to be walked, so activations are not counted.",
    ]


def test_a_run_without_time_or_memory_has_no_page():
    assert resources_page(Run()).blocks == []
