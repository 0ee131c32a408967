"""This file tests the rule on parts that are cut off from the loss, on records written by hand."""

import pytest

from torchmagic.records.connection import DetachedLossRecord, GradientFlowRecord, UnreachedRecord
from torchmagic.records.finding import Severity
from torchmagic.records.place import Place
from torchmagic.rules.parameters.unused_parameter import unused_parameter
from torchmagic.rules.training_loop.detached_subgraph import MIN_FORWARDS, MIN_STEPS, detached_subgraph
from torchmagic.session.run import Run

CUT = Place(file="<cell>", line=7, source="z = self.encoder(x).detach()", function="forward")


def unreached(**changed):
    facts = {
        "optimizer": "opt",
        "module": "net.encoder",
        "whole": True,
        "parameters": ("net.encoder.weight", "net.encoder.bias"),
        "num_parameters": 2,
        "steps": 9,
        "executed": 5,
        "changed": False,
        "stepped_before": False,
        "varies": False,
        "cut": CUT,
        "how": ".detach()",
    }
    return UnreachedRecord(**{**facts, **changed})


def flow(**changed):
    facts = {
        "optimizer": "opt",
        "steps": 9,
        "num_trainable": 4,
        "num_received": 2,
        "frozen": (),
        "num_frozen": 0,
        "groups": (),
        "twin": "",
        "num_backwards": 9,
        "place": None,
    }
    return GradientFlowRecord(**{**facts, **changed})


def found(*records, rule=detached_subgraph):
    run = Run()
    run.records += records
    return list(rule(run))


def test_what_chooses_is_not_to_be_taken_away_but_to_be_softened():
    (finding,) = found(flow(), unreached(how=".argmax()"))
    assert finding.fix.startswith("F.gumbel_softmax")
    assert found(flow(), unreached())[0].fix.startswith("remove .detach(), ")


def test_a_part_that_runs_and_is_cut_off_is_told_at_the_cut():
    (finding,) = found(flow(), unreached())
    assert (finding.severity, finding.module) == (Severity.ERROR, "net.encoder")
    assert (finding.line, finding.source) == (7, CUT.source)
    assert ".detach()" in finding.title


def test_it_is_not_told_as_unused_as_well():
    assert found(flow(), unreached(), rule=unused_parameter) == []


def test_three_forwards_and_three_steps_are_enough_and_two_are_not():
    assert (MIN_FORWARDS, MIN_STEPS) == (3, 3)
    assert len(found(flow(), unreached(executed=3, steps=3))) == 1
    assert found(flow(), unreached(executed=2)) == []
    assert found(flow(), unreached(steps=2)) == []


def test_a_part_without_a_cut_on_its_way_is_not_told():
    assert found(flow(), unreached(cut=None, how="")) == []


@pytest.mark.parametrize("reason", ["changed", "stepped_before", "varies"])
def test_averages_parts_trained_before_and_parts_that_are_chosen_are_silent(reason):
    assert found(flow(), unreached(**{reason: True})) == []


def test_where_nothing_at_all_has_a_gradient_it_is_another_rules_matter():
    assert found(flow(num_received=0), unreached()) == []


def test_where_the_loss_itself_is_detached_it_is_silent():
    record = DetachedLossRecord(
        loss="loss",
        backward=None,
        num_backwards=3,
        raised=False,
        owned=2,
        connected=(),
        ran=(),
        cut=None,
        how="",
        made=None,
    )
    assert found(flow(), unreached(), record) == []


def test_an_optimizer_of_another_model_is_left_to_the_rule_on_stale_optimizers():
    other = flow(optimizer="other")
    assert found(other, flow(num_received=0, twin="net"), unreached()) == []


def test_the_other_optimizer_of_a_pair_may_be_the_one_that_has_gradients():
    (finding,) = found(flow(optimizer="d_opt"), flow(num_received=0), unreached())
    assert finding.optimizer == "opt"


def test_an_optimizer_whose_model_trains_is_judged_although_another_model_is_like_it():
    assert len(found(flow(twin="copy"), unreached())) == 1


def test_a_cut_that_may_be_elsewhere_is_told_as_one_of_two_reasons():
    run = Run()
    run.records += [flow(), unreached(sure=False)]
    (finding,) = detached_subgraph(run)
    assert (finding.severity, finding.confidence) == (Severity.WARNING, 0.6)
    assert "its result is not used, or" in finding.title


def test_a_reentrant_checkpoint_is_not_to_be_removed_but_to_be_another():
    (finding,) = found(flow(), unreached(how="a reentrant checkpoint"))
    assert finding.fix == "checkpoint(…, use_reentrant=False)"
    assert "only where one of its inputs requires a gradient" in finding.why
