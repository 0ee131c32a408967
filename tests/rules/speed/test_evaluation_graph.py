"""This file tests the rule on evaluations that record a graph, on records written by hand."""

import pytest

from torchmagic.records.evaluation import EvaluationRecord
from torchmagic.records.speed import EvaluationGraphRecord
from torchmagic.rules.speed.evaluation_graph import evaluation_graph


def graphs(at, *, batches=10, seconds=2.0):
    where = at("y = net(x)", "evaluate")
    return EvaluationGraphRecord(model="net", batches=batches, seconds=seconds, run_seconds=10.0, place=where)


def test_the_line_and_what_its_forwards_took_are_told(profiled, at):
    (found,) = evaluation_graph(profiled.add(graphs(at)).written())
    assert found.title == "10 batches of evaluation recorded a graph for nothing, in forwards of 2.0 s (20% of the run)"
    assert (found.module, found.source) == ("net", "y = net(x)")
    assert "not measured" in found.why


@pytest.mark.parametrize("facts", [{"batches": 2}, {"seconds": 0.8}], ids=str)
def test_few_and_cheap_ones_are_silent(profiled, at, facts):
    assert not list(evaluation_graph(profiled.add(graphs(at, **facts)).written()))


def test_where_evaluations_are_watched_themselves_it_is_not_told_twice(profiled, at):
    watched = EvaluationRecord(
        model="net", step=0, loader="", num_batches=3, num_losses=0, training=False, grad_enabled=True,
        recorded_graph=True, awake=(), loss_names=(), also_trained=True, trained_on=False, place=at(),
    )  # fmt: skip
    assert not list(evaluation_graph(profiled.add(graphs(at), watched).written()))
