"""Hugging Face's Trainer, watched with nothing to configure: its numbers, its bits, no false alarm, and mistakes."""

import pytest

pytest.importorskip("transformers")
pytestmark = pytest.mark.wild


@pytest.fixture(scope="module")
def causal(watched):
    return watched("transformers_causal")


def logged(seen, key):
    return [entry[key] for entry in seen.names["log"] if key in entry]


def test_a_training_gets_no_alarm_and_keeps_its_bits(causal, alone, same_bits):
    assert causal.alarms == []
    assert same_bits(causal.names["result"], alone("transformers_causal"))


def test_a_step_of_four_batches_is_one_step_with_the_loss_that_the_trainer_logs(causal):
    assert causal.run.steps == causal.names["trainer"].state.global_step == 28
    assert causal.curve("loss", "loss") == [
        (step, pytest.approx(value, rel=1e-4)) for step, value in enumerate(logged(causal, "loss"))
    ]


def test_validation_is_validation(causal):
    steps, values = causal.run.series("eval_loss", name="cross_entropy(eval_set)")
    assert steps == [7, 14, 21, 28]
    assert values == pytest.approx(logged(causal, "eval_loss"), rel=1e-2)  # a mean over batches, theirs over tokens


def test_rates_norms_and_names_are_the_programs(causal):
    assert causal.rates("trainer.optimizer[0]") == pytest.approx(logged(causal, "learning_rate"), rel=1e-6)
    assert causal.run.series("grad_norm_before_clip")[1] == pytest.approx(logged(causal, "grad_norm"), rel=1e-3)
    assert (causal.models, causal.optimizers) == (["model"], ["trainer.optimizer"])
    assert causal.loaders == ["train_set", "eval_set"]
    assert causal.run.parameters[0]["name"] == "model.transformer.wte.weight"


def test_adapters_in_a_frozen_encoder_and_smoothed_labels_are_no_alarm(watched, alone, same_bits):
    adapted = watched("transformers_adapters")
    assert adapted.alarms == []
    assert same_bits(adapted.names["result"], alone("transformers_adapters"))
    assert adapted.run.series("loss")[1] == pytest.approx(logged(adapted, "loss"), rel=1e-4)
    assert adapted.run.steps == 60


def test_a_rate_of_zero_is_found(watched):
    assert "lr-zero" in watched("transformers_causal", {"learning_rate=3e-3": "learning_rate=0.0"}).rules


def test_a_frozen_head_is_found(watched):
    planted = {"model.bert.parameters()": "model.classifier.parameters()"}
    assert "frozen-output-layer" in watched("transformers_adapters", planted).rules
