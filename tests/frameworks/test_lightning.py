"""Lightning's Trainer, watched with nothing to configure: its numbers, its bits, no false alarm, and a mistake."""

import pytest

pytest.importorskip("lightning")
pytestmark = pytest.mark.wild


@pytest.fixture(scope="module")
def fit(watched):
    return watched("lightning_fit")


def test_a_fit_gets_no_alarm_and_keeps_its_bits(fit, alone, same_bits):
    assert fit.alarms == []
    assert same_bits(fit.names["result"], alone("lightning_fit"))


def test_each_step_of_the_optimizer_is_one_step_and_each_loss_is_whole(fit):
    assert fit.run.steps == fit.names["trainer"].global_step == 28
    steps, losses = fit.run.series("loss", name="loss")
    assert steps == [epoch * 7 + batch // 4 for epoch in range(4) for batch in range(26)]
    divided = fit.names["diary"].losses  # as Lightning hands them on
    assert losses == pytest.approx([4 * each for each in divided], rel=1e-5)


def test_validation_is_validation(fit):
    before, *after = fit.curve("eval_loss", "cross_entropy(val)")
    assert before[0] == 0  # Lightning's sanity check, of two batches
    assert [step for step, _ in after] == [7, 14, 21, 28]
    assert [value for _, value in after] == pytest.approx(fit.names["diary"].validation, rel=1e-5)


def test_rates_and_names_are_the_programs(fit):
    assert fit.rates("AdamW") == pytest.approx(fit.names["diary"].rates)
    assert (fit.models, fit.optimizers, fit.loaders) == (["model"], ["AdamW"], ["val", "train", "val.dataset"])
    assert fit.run.parameters[0]["name"] == "model.net.0.weight"
    assert set(fit.run.subjects("grad_norm")) >= {"model.net.0.weight", "model.net.4.bias"}


def test_manual_optimization_has_two_losses_and_two_optimizers(watched, alone, same_bits):
    manual = watched("lightning_manual")
    assert manual.alarms == []
    assert same_bits(manual.names["result"], alone("lightning_manual"))
    assert set(manual.optimizers) == {"opt_d", "opt_g"}
    assert manual.run.steps == 96
    for turn, name in enumerate(("d_loss", "g_loss")):
        theirs = [losses[turn] for losses in manual.names["diary"].losses]
        assert manual.curve("loss", name) == [(2 * i + turn, pytest.approx(value)) for i, value in enumerate(theirs)]


def test_a_search_for_a_rate_and_averaged_weights_are_no_alarm(watched, alone, same_bits):
    tuned = watched("lightning_tuned")
    assert tuned.alarms == []
    assert same_bits(tuned.names["result"], alone("lightning_tuned"))
    assert tuned.models == ["model"]
    assert set(tuned.optimizers) == {"SGD"}


def test_a_mistake_in_a_training_step_is_found_there(watched):
    sick = watched("lightning_fit", {"loss = nn.functional.cross_entropy(self(x), y)": SOFTMAX})
    finding = next(each for each in sick.run.findings if each.rule == "softmax-before-cross-entropy")
    assert finding.source == SOFTMAX


SOFTMAX = "loss = nn.functional.cross_entropy(self(x).softmax(1), y)"
