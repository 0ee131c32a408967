"""This file tests the watch: how a run ends, and that the user's own exception stays the user's."""

import sys
import time
import traceback
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

import torchmagic
from torchmagic.debuggers import loading_ahead
from torchmagic.debuggers.watching import watch
from torchmagic.records.model import ModelRecord, OptimizerRecord
from torchmagic.records.note import CrashRecord, EnvironmentRecord
from torchmagic.session.run import Status
from torchmagic.session.session import session


class Broken(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x) @ x  # the users line


def train(net=None, steps=4, *, resets=True, error=None):
    net = net or nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        if resets:
            opt.zero_grad()
        net(torch.randn(8, 4)).pow(2).mean().backward()
        opt.step()
    if error is not None:
        raise error


def ours(error):
    """Return the frames of torchmagic in an exception's traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame in frames if Path(frame.filename).is_relative_to(Path(torchmagic.__file__).parent)]


def test_a_run_that_ends_well_is_ok():
    with watch(save=False) as run:
        assert run.status is Status.RUNNING
        train()
    assert (run.status, run.steps) == (Status.OK, 4)
    assert run.of(EnvironmentRecord)[0].torch == torch.__version__
    assert run.clock.seconds > run.clock.cost > 0
    assert torchmagic.session.last is run


def test_a_run_keeps_its_name_and_settings():
    with watch(save=False, name="sweep", level="advanced") as run:
        pass
    assert run.name == "sweep"
    assert run.settings["level"] == "advanced"


def test_an_exception_reaches_the_user_as_the_same_object():
    error = KeyError("mine")
    with pytest.raises(KeyError) as caught, watch(save=False) as run:
        raise error
    assert caught.value is error
    assert run.status is Status.ERROR
    (crash,) = run.of(CrashRecord)
    assert (crash.error, crash.source) == ("KeyError", "raise error")
    assert error.__cause__ is None
    assert error.__context__ is None


def test_a_generator_that_nobody_asks_further_has_ended_well():
    def batches():
        with watch(save=False) as run:
            yield run

    one = batches()
    run = next(one)
    one.close()
    assert run.status is Status.OK
    assert not run.of(CrashRecord)


@pytest.mark.parametrize(
    ("code", "status"), [(None, Status.OK), (0, Status.OK), (3, Status.ERROR), ("no", Status.ERROR)]
)
def test_leaving_by_sys_exit_is_an_error_where_its_status_is(code, status):
    with pytest.raises(SystemExit), watch(save=False) as run:
        sys.exit(code)
    assert run.status is status


def test_an_interrupt_is_an_interrupt():
    with pytest.raises(KeyboardInterrupt), watch(save=False) as run:
        train(error=KeyboardInterrupt())
    assert (run.status, run.steps) == (Status.INTERRUPTED, 4)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Broken()(torch.randn(8, 4)), RuntimeError),
        (lambda: functional.mse_loss(torch.randn(3), "target"), (TypeError, AttributeError)),
        (lambda: functional.cross_entropy(torch.randn(3, 2), torch.tensor([0, 1, 5])), IndexError),
        (lambda: torch.ones(2).sum().backward(), RuntimeError),
        (lambda: torch.autograd.backward(torch.ones(2)), RuntimeError),
        (lambda: torch.randn(3).softmax(5), IndexError),
        (lambda: nn.utils.clip_grad_norm_(3, 1.0), TypeError),
        (lambda: nn.Linear(2, 2).train("yes"), ValueError),
    ],
    ids=["forward", "loss", "target", "backward", "autograd", "softmax", "clip", "train"],
)
def test_a_traceback_shows_at_most_one_frame_of_ours(wrong, error):
    with pytest.raises(error) as bare:
        wrong()
    with pytest.raises(error) as caught, watch(save=False) as run:
        wrong()
    assert str(caught.value) == str(bare.value)
    assert len(ours(caught.value)) <= 2  # the wrapper, and the with block itself
    users = [frame.lineno for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    assert (
        users[1:]
        == [frame.lineno for frame in traceback.extract_tb(bare.value.__traceback__) if frame.filename == __file__][1:]
    )
    assert run.status is Status.ERROR


def test_the_crash_is_placed_at_the_users_innermost_line():
    with pytest.raises(RuntimeError), watch(save=False) as run:
        Broken()(torch.randn(8, 4))
    assert run.of(CrashRecord)[0].source == "return self.linear(x) @ x  # the users line"


def test_names_are_found_where_the_watch_is_used_inside_a_function():
    def fit():
        classifier = nn.Linear(4, 1)
        with watch(save=False) as run:
            train(classifier)
        return run

    assert fit().of(ModelRecord)[0].name in ("classifier", "net")


def test_nested_watches_see_each_their_own_steps():
    with watch(save=False) as outer:
        train(steps=2)
        with watch(save=False) as inner:
            train(steps=3)
        train(steps=1)
    assert (outer.steps, inner.steps) == (6, 3)
    assert len(outer.of(OptimizerRecord)) == 3
    assert len(inner.of(OptimizerRecord)) == 1


def test_a_wrong_setting_is_refused_before_anything_is_hooked():
    original = nn.Module.__call__
    with pytest.raises(ValueError, match="did you mean 'advanced'"), watch(level="advnced"):
        pass
    assert nn.Module.__call__ is original


def test_a_setting_that_does_not_exist_names_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'level'"), watch(levle="basic"):
        pass


def test_findings_are_there_when_the_block_has_ended():
    with watch(save=False) as run:
        train(resets=False)
        assert run.findings == ()
    assert [finding.rule for finding in run.findings] == ["missing-zero-grad"]


def test_findings_are_drawn_of_a_run_that_crashed_too():
    with pytest.raises(KeyError), watch(save=False) as run:
        train(resets=False, error=KeyError("mine"))
    assert [finding.rule for finding in run.findings] == ["missing-zero-grad"]


def test_a_run_is_saved_while_it_goes_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torchmagic.session.close()
    try:
        with watch() as run:
            train()
        assert run.id in list(session.store.runs())
        assert session.store.read(run.id).steps == 4
    finally:
        torchmagic.session.close()


def test_the_traceback_module_still_reads_the_users_error():
    try:
        with watch(save=False):
            Broken()(torch.randn(8, 4))
    except RuntimeError:
        text = "".join(traceback.format_exception(*sys.exc_info()))
    assert "return self.linear(x) @ x  # the users line" in text


@pytest.mark.parametrize("steps", [0, 2])
def test_loading_the_compiler_counts_only_where_no_step_would_have_loaded_it(monkeypatch, steps):
    monkeypatch.setattr(loading_ahead, "load_compiler", lambda: time.sleep(1.0) or True)
    with watch(save=False) as run:
        net = torch.nn.Linear(2, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(steps):
            net(torch.ones(1, 2)).sum().backward()
            opt.step()
    booked = run.clock.cost >= 1.0
    assert booked is (steps == 0)
    assert (run.clock.seconds >= 1.0) is booked


def test_a_compiler_that_cannot_be_loaded_is_torchs_to_say_at_the_step_that_needs_it(monkeypatch):
    def fails():
        raise FileNotFoundError("no working directory")

    monkeypatch.setattr(loading_ahead, "load_compiler", fails)
    with watch(save=False) as run:
        train()
    assert (run.status, run.steps) == (Status.OK, 4)
