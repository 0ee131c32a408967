"""Faults in numbers: a training that meets them ends as one that did not."""

import logging

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.guard.recovery_kinds import RecoveryError
from torchmagic.guard.training_guard import TrainingGuard

BAD = 5


def spoil(batches, number=BAD, value=float("nan")):
    batches[number][0][3, 2] = value


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_bad_batch_is_skipped_as_if_it_had_not_been_there(training, optimizer, value, caplog):
    bits = training(optimizer=optimizer).plain(without=[BAD]).bits()
    hit = training(optimizer=optimizer)
    spoil(hit.batches, value=value)
    with caplog.at_level(logging.WARNING, logger="torchmagic.guard"):
        hit.guarded()
    assert hit.bits() == bits
    assert hit.guard.counts == {"skipped": 1}
    (done,) = hit.guard.recoveries
    assert done.step == BAD + 1
    assert done.text == ("step 6: the loss is nan (values that are not finite in the batch: 0: 1); batch skipped")
    assert done.text in caplog.text
    assert hit.guard.error_tracker.counts == {"numerical": 1}
    assert hit.guard.error_tracker.errors[0].context["recovery"] == "skipped"


def test_without_the_guard_the_same_batch_ruins_the_training(training):
    hit = training()
    spoil(hit.batches)
    assert hit.plain().weights().isnan().all()


def test_a_finite_loss_with_bad_gradients_is_skipped(training):
    bits = training().plain(without=[BAD]).bits()
    hit = training()

    def root(outputs, targets):
        loss = functional.cross_entropy(outputs, targets)
        # the derivative of a square root at 0 is infinite, and times 0 it is NaN
        return loss + (outputs * 0).sum().sqrt() if targets is hit.batches[BAD][1] else loss

    hit.loss_of = root
    hit.guarded()
    assert hit.bits() == bits
    assert "the loss is finite and its gradients are not" in hit.guard.recoveries[0].text


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamw"])
@pytest.mark.parametrize("how", ["huge", "nan", "one infinity"])
def test_weights_that_go_bad_between_steps_come_back_and_nothing_is_lost(training, optimizer, how):
    bits = training(optimizer=optimizer).plain().bits()
    hit = training(optimizer=optimizer)

    def damage(number, one):
        if number != BAD:
            return
        weight = one.model.model[-1].weight.data
        if how == "huge":
            for each in one.model.parameters():
                each.data.mul_(1e38)
        elif how == "nan":
            weight.fill_(torch.nan)
        else:
            weight[0, 0] = torch.inf
        for state in one.optimizer.state.values():
            for value in state.values():
                if isinstance(value, torch.Tensor) and value.dim():
                    value.fill_(torch.nan)

    hit.guarded(between=damage, keep_every=1)
    assert hit.guard.counts == {"restored": 1}
    assert "weights and optimizer state of step 5 restored, no update lost, batch tried again" in str(
        hit.guard.recoveries[0].text
    )
    assert hit.bits() == bits


def test_an_update_that_ruins_the_weights_is_taken_back_as_if_its_batch_had_not_been_there(training):
    bits = training(mixing=False).plain(without=[BAD]).bits()
    hit = training(mixing=False)

    def huge(outputs, targets):
        loss = functional.cross_entropy(outputs, targets)
        return loss * 1e38 if targets is hit.batches[BAD][1] else loss

    class Reckless(torch.optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            if any(each.abs().max() > 1e30 for group in self.param_groups for each in group["params"]):
                for group in self.param_groups:
                    for each in group["params"]:
                        each.data.mul_(1e38)

    hit.optimizer = Reckless(hit.model.parameters(), lr=0.1, momentum=0.9)
    hit.loss_of = huge
    hit.guarded(keep_every=1)
    assert "after the update weights are not finite (the first is model.0.weight)" in hit.guard.recoveries[0].text
    assert hit.bits() == bits
    assert not any(outcome is None for outcome in hit.losses[:BAD])
    assert hit.losses[BAD] is None


def test_a_finite_explosion_is_not_taken_for_a_good_state(training):
    def prepared():
        one = training(mixing=False, num_batches=20)

        def loss_of(outputs, targets):
            loss = functional.cross_entropy(outputs, targets) + 1e-3 * outputs.pow(2).mean()
            return loss * 1e25 if targets is one.batches[BAD][1] else loss

        one.loss_of = loss_of
        return one

    plain = prepared().plain(without=[BAD])
    hit = prepared().guarded(keep_every=1)
    assert hit.guard.counts == {"restored": 1}
    assert "times that of the last good ones" in hit.guard.recoveries[0].text
    assert torch.equal(hit.weights(), plain.weights())


def test_weights_may_grow_a_thousandfold_when_steps_are_finite():
    def run(*, is_guarded):
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        for each in model.parameters():
            each.data.mul_(1e-6)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
        guard = TrainingGuard(model, optimizer, keep_every=1) if is_guarded else None
        for _ in range(20):
            inputs = torch.randn(32, 4)
            targets = 1e5 * inputs.sum(1, keepdim=True)
            if guard is None:
                optimizer.zero_grad()
                functional.mse_loss(model(inputs), targets).backward()
                optimizer.step()
            else:
                guard.run(lambda batch: functional.mse_loss(model(batch[0]), batch[1]), (inputs, targets))
        return torch.cat([each.detach().reshape(-1) for each in model.parameters()]), guard

    guarded, guard = run(is_guarded=True)
    plain, _ = run(is_guarded=False)
    assert guard.recoveries == ()
    assert torch.equal(guarded, plain)


def test_a_rare_copy_loses_updates_and_says_how_many(training):
    hit = training(mixing=False, num_batches=40)

    def damage(number, one):
        if number == 17:
            one.model.model[0].bias.data.fill_(torch.nan)

    hit.guarded(between=damage, keep_every=10)
    assert "weights and optimizer state of step 10 restored, up to 7 updates lost" in hit.guard.recoveries[0].text
    plain = training(mixing=False, num_batches=40).plain()
    assert hit.weights().isfinite().all()
    assert sum(hit.losses[-5:]) / 5 == pytest.approx(sum(plain.losses[-5:]) / 5, rel=0.1)


def test_learning_rates_stay_as_a_scheduler_set_them(training):
    hit = training()

    def damage(number, one):
        one.optimizer.param_groups[0]["lr"] = 0.1 / (number + 1)
        if number == BAD:
            one.model.model[0].bias.data.fill_(torch.nan)

    hit.guarded(between=damage, keep_every=1)
    assert hit.guard.counts == {"restored": 1}
    assert hit.optimizer.param_groups[0]["lr"] == 0.1 / 12


def test_a_loss_beyond_the_limit_is_skipped(training):
    bits = training().plain(without=[BAD]).bits()
    hit = training()
    hit.loss_of = lambda outputs, targets: (
        functional.cross_entropy(outputs, targets) * (1e6 if targets is hit.batches[BAD][1] else 1)
    )
    hit.guarded(largest_loss=100.0)
    assert hit.bits() == bits
    assert "beyond largest_loss (100)" in hit.guard.recoveries[0].text


def test_bad_weights_without_a_copy_stop(training):
    hit = training()

    def damage(number, one):
        if number == BAD:
            one.model.model[0].weight.data.fill_(torch.nan)

    with pytest.raises(
        RecoveryError, match=r"step 6: .*the first is model.0.weight\).*no copy of good weights is kept"
    ):
        hit.guarded(between=damage, keep_every=None)
    assert hit.guard.counts == {"stopped": 1}


def test_failures_in_a_row_stop_with_the_last_good_weights(training):
    hit = training()
    for number in range(4, 12):
        spoil(hit.batches, number)
    with pytest.raises(RecoveryError, match="3 failures in a row, the last one: the loss is nan; stopped") as caught:
        hit.guarded(max_failures=3)
    assert "\n" not in str(caught.value)
    assert hit.guard.num_steps == 7
    good = training().plain(without=range(4, 12))
    assert torch.equal(hit.weights(), good.weights())
    assert hit.guard.error_tracker.severities == {"error": 1, "warning": 3}


def test_failures_with_good_steps_between_do_not_stop(training):
    hit = training()
    for number in (1, 3, 5, 7, 9):
        spoil(hit.batches, number)
    hit.guarded(max_failures=2)
    assert hit.guard.counts == {"skipped": 5}


def test_overflowing_scaled_gradients_lower_the_scale_as_the_plain_loop_does(training, caplog):
    def scaler():
        return torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=1000)

    def prepared():
        one = training()
        one.loss_of = lambda outputs, targets: 8 * functional.cross_entropy(outputs, targets)
        return one

    plain_scaler, scaler_of_guard = scaler(), scaler()
    bits = prepared().plain(scaler=plain_scaler).bits()
    hit = prepared()
    with caplog.at_level(logging.WARNING, logger="torchmagic.guard"):
        hit.guarded(scaler=scaler_of_guard, max_failures=1)
    assert hit.guard.counts["scale lowered"] >= 1
    assert scaler_of_guard.get_scale() == plain_scaler.get_scale()
    assert hit.bits() == bits
    assert "loss scale 1.70141e+38 → 8.50706e+37" in caplog.text


def test_a_bad_batch_leaves_the_scale_alone(training):
    def scaler():
        return torch.amp.GradScaler("cpu", init_scale=1024.0)

    bits = training().plain(scaler=scaler(), without=[BAD]).bits()
    hit, mine = training(), scaler()
    spoil(hit.batches)
    hit.guarded(scaler=mine)
    assert hit.bits() == bits
    assert mine.get_scale() == 1024.0


def test_the_copy_is_as_large_as_it_says_and_no_larger(training):
    hit = training(optimizer="adam").guarded(keep_every=1)
    weights = sum(each.numel() * each.element_size() for each in hit.model.parameters())
    buffers = sum(each.numel() * each.element_size() for each in hit.model.buffers())
    steps = sum(state["step"].element_size() for state in hit.optimizer.state.values())
    assert hit.guard.kept_bytes == 3 * weights + steps + 2 * buffers


def test_a_copy_that_would_be_too_large_is_not_kept_and_that_is_said(training, caplog):
    hit = training(optimizer="adam")
    bits = training(optimizer="adam").plain().bits()
    torch.manual_seed(1)
    with caplog.at_level(logging.WARNING, logger="torchmagic.guard"):
        hit.guarded(keep_every=1, keep_bytes=1000)
    assert "no copy of the last good state is kept" in caplog.text
    assert hit.guard.kept_bytes <= 300  # of buffers
    assert hit.bits()["model.0.weight"] == bits["model.0.weight"]
