"""A guarded step without a failure is the plain step, bit for bit, and says how it is to be used."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

from torchmagic.guard.splitting import Splitting
from torchmagic.guard.training_guard import TrainingGuard


def scaler():
    return torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)


@pytest.mark.parametrize("optimizer", ["plain", "sgd", "adam", "adamw"])
@pytest.mark.parametrize("keep_every", [1, 5, None])
def test_without_a_failure_the_bits_are_those_of_the_plain_loop(training, optimizer, keep_every):
    plain = training(optimizer=optimizer).plain()
    bits = plain.bits()
    guarded = training(optimizer=optimizer).guarded(keep_every=keep_every)
    assert guarded.bits() == bits
    assert guarded.losses == plain.losses
    assert guarded.guard.recoveries == ()


@pytest.mark.parametrize("clip", [None, 0.1])
def test_with_a_scaler_and_clipping_the_bits_are_those_of_the_plain_loop(training, clip):
    plain = training().plain(scaler=scaler(), clip=clip)
    bits = plain.bits()
    assert training().guarded(scaler=scaler(), clip=clip).bits() == bits


def test_a_disabled_scaler_is_none(training):
    off = torch.amp.GradScaler("cpu", enabled=False)
    bits = training().plain().bits()
    assert training().guarded(scaler=off).bits() == bits


def test_a_step_tells_how_it_ended(training):
    once = training(num_batches=1)
    inputs, targets = once.batches[0]
    model = copy.deepcopy(once.model)
    once.guarded()
    torch.manual_seed(1)
    loss = functional.cross_entropy(model(inputs), targets)
    loss.backward()
    norm = torch.cat([each.grad.reshape(-1) for each in model.parameters()]).norm()
    last = once.guard.last
    assert (last.step, last.stepped, last.num_parts, last.recoveries) == (1, True, 1, ())
    assert last.loss == loss.item()
    assert last.grad_norm == pytest.approx(norm.item(), rel=1e-5)


def test_a_part_gives_the_batch_itself(training):
    one = training(num_batches=1)
    guard = TrainingGuard(one.model, one.optimizer)
    for part in guard.step(one.batches[0]):
        assert (part.share, part.num_samples) == (1.0, 16)
        with part as batch:
            assert batch is one.batches[0]
            part.backward(one.model(batch[0]).sum())
        assert part.batch is None


def test_a_function_of_the_batch_does_the_same(training):
    bits = training().guarded().bits()
    other = training()
    guard = TrainingGuard(other.model, other.optimizer)
    for batch in other.batches:
        outcome = guard.run(lambda samples: functional.cross_entropy(other.model(samples[0]), samples[1]), batch)
        assert outcome is guard.last
        assert outcome.stepped
    assert other.bits() == bits


def test_several_losses_of_a_part_are_added_up(training):
    one = training(num_batches=1, mixing=False)
    guard = TrainingGuard(one.model, one.optimizer)
    for part in guard.step(one.batches[0]):
        with part as (inputs, _):
            part.backward(one.model(inputs).pow(2).mean())
            part.backward(one.model(inputs).abs().mean())
    inputs = one.batches[0][0]
    again = training(num_batches=1, mixing=False).model(inputs)
    assert guard.last.loss == pytest.approx((again.pow(2).mean() + again.abs().mean()).item(), rel=1e-6)


def test_leaving_the_loop_leaves_the_weights(training):
    one = training(num_batches=1)
    before = one.weights()
    guard = TrainingGuard(one.model, one.optimizer)
    for part in guard.step(one.batches[0]):
        with part as (inputs, _):
            part.backward(one.model(inputs).sum())
        break
    assert torch.equal(one.weights(), before)
    assert not guard.last.stepped


def raises(guard, batch, error):
    for part in guard.step(batch):
        with part:
            raise error


def test_an_error_of_the_users_reaches_the_user_unchanged(training):
    one = training(num_batches=1)
    guard = TrainingGuard(one.model, one.optimizer)
    mine = RuntimeError("mat1 and mat2 shapes cannot be multiplied")
    with pytest.raises(RuntimeError) as caught:
        raises(guard, one.batches[0], mine)
    assert caught.value is mine
    assert guard.recoveries == ()
    assert len(guard.error_tracker) == 0


def test_ctrl_c_passes(training):
    one = training(num_batches=1)
    guard = TrainingGuard(one.model, one.optimizer)
    with pytest.raises(KeyboardInterrupt):
        raises(guard, one.batches[0], KeyboardInterrupt())


def forgets_to_enter(guard, batch):
    for _ in guard.step(batch):
        pass


def forgets_backward(guard, batch):
    for part in guard.step(batch):
        with part:
            pass


def enters_twice(guard, batch):
    for part in guard.step(batch):
        with part:
            part.backward(nn.Linear(1, 1)(torch.ones(1)))
        with part:
            pass


def goes_backward_outside(guard, batch):
    for part in guard.step(batch):
        part.backward(torch.ones(1))


def gives_no_single_loss(guard, batch):
    for part in guard.step(batch):
        with part:
            part.backward(torch.ones(3))


def goes_through_twice(guard, batch):
    step = guard.step(batch)
    for _ in range(2):
        for part in step:
            with part:
                part.backward(nn.Linear(1, 1)(torch.ones(1)))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (forgets_to_enter, "was not entered; write `with part as batch:`"),
        (forgets_backward, r"no backward; call part.backward\(loss\)"),
        (enters_twice, "entered once"),
        (goes_backward_outside, "inside of `with part:`"),
        (gives_no_single_loss, r"takes a loss with one element, 3 came"),
        (goes_through_twice, r"once; call guard.step\(batch\) for each batch"),
    ],
)
def test_a_step_that_is_used_wrongly_says_how(training, wrong, said):
    one = training(num_batches=1)
    guard = TrainingGuard(one.model, one.optimizer)
    with pytest.raises((RuntimeError, TypeError), match=said) as caught:
        wrong(guard, one.batches[0])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"reduction": "none"}, 'reduction is "mean" or "sum"'),
        ({"keep_every": 0}, "keep_every is a whole number of 1 or more, 0 came"),
        ({"max_failures": True}, "max_failures is a whole number"),
        ({"micro_batch": -1}, "micro_batch is a whole number"),
        ({"largest_loss": 0}, "largest_loss is a number above 0"),
        ({"backoff": -1}, "backoff is a number of seconds"),
        ({"keep_on": "nowhere"}, "keep_on is a device"),
        ({"before_step": 5}, "before_step is a function without arguments, or None, 5 came"),
        ({"retry_on": 5}, r"retry_on is a tuple of classes of errors, such as \(OSError,\), 5 came"),
        ({"retry_on": [OSError]}, "retry_on is a tuple of classes of errors"),
        ({"splitting": 5}, "splitting is a Splitting, or None, 5 came"),
    ],
)
def test_a_wrong_setting_is_one_line(training, settings, said):
    one = training(num_batches=1)
    with pytest.raises(ValueError, match=said) as caught:
        TrainingGuard(one.model, one.optimizer, **settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["num_samples", "samples", "weight"])
def test_a_splitting_takes_functions(field):
    with pytest.raises(ValueError, match=f"{field} of a Splitting is a function that takes a batch, 5 came"):
        Splitting(**{field: 5})


def test_only_a_model_and_an_optimizer_without_closure_are_taken(training):
    one = training(num_batches=1)
    with pytest.raises(TypeError, match="takes the model"):
        TrainingGuard(one.optimizer, one.model)
    with pytest.raises(TypeError, match="takes the optimizer"):
        TrainingGuard(one.model, one.model)
    with pytest.raises(ValueError, match="LBFGS"):
        TrainingGuard(one.model, torch.optim.LBFGS(one.model.parameters()))
