"""The endpoints under ``/training-logs/debug``, over runs and over debuggers that are alive."""

import gc
import math

import pytest
import torch

import torchmagic
from torchmagic.api.debugging.alive import alive
from torchmagic.api.debugging.diffusion_debugger import DiffusionModelDebugger
from torchmagic.api.debugging.training_debugger import TrainingDebugger
from torchmagic.api.serving import _process
from torchmagic.debuggers.switches import switches
from torchmagic.server.served import Counts, TrainingCounts

SUMMARY = "/training-logs/debug/summary"
TRAINING = "/training-logs/debug/training/summary"


class Counted:
    """Debuggers that counted what the document's example shows."""

    def training(self):
        return TrainingCounts(steps=1000, anomalies=5, exploding=2, vanishing=1, losses=3, remembered=100)

    def diffusion(self):
        return Counts(anomalies=2, remembered=50)

    def general(self):
        return Counts(anomalies=3, remembered=75)


def test_the_summary_is_the_documents_example(make):
    told = make(debuggers=Counted()).get(SUMMARY).json()
    assert {each.pop("source") for each in told.values()} == {"debuggers"}
    assert told == {
        "training_debugger": {
            "total_anomalies": 5,
            "debug_history_length": 100,
            "total_steps": 1000,
            "anomaly_rate": 0.005,
            "gradient_explosion_rate": 0.002,
        },
        "diffusion_debugger": {"total_anomalies": 2, "debug_history_length": 50},
        "general_debugger": {"total_anomalies": 3, "debug_history_length": 75},
    }


def test_the_training_summary_is_the_documents_example(make):
    told = make(debuggers=Counted()).get(TRAINING).json()
    assert told.pop("source") == "debuggers"
    assert told == {
        "total_steps": 1000,
        "anomaly_steps": 5,
        "gradient_explosions": 2,
        "gradient_vanishing": 1,
        "loss_anomalies": 3,
        "anomaly_rate": 0.005,
        "loss_anomaly_rate": 0.003,
        "gradient_explosion_rate": 0.002,
        "gradient_vanishing_rate": 0.001,
    }


def test_without_debuggers_the_runs_tell(ask, session):
    frame = session.runs[1].frame("loss", ("",))
    frame.append(3, (math.nan,))
    told = ask.get(TRAINING).json()
    assert (told["total_steps"], told["loss_anomalies"], told["anomaly_steps"], told["source"]) == (25, 1, 1, "runs")
    assert told["anomaly_rate"] == pytest.approx(1 / 25)
    summary = ask.get(SUMMARY).json()
    assert summary["training_debugger"]["total_anomalies"] == 1
    assert summary["general_debugger"] == {"total_anomalies": 1, "debug_history_length": 2, "source": "runs"}
    assert summary["diffusion_debugger"] == {"total_anomalies": 0, "debug_history_length": 0, "source": "runs"}


def test_before_the_first_step_no_rate_is_divided_by_nothing(ask, session):
    session.runs.clear()
    assert ask.get(TRAINING).json()["anomaly_rate"] == 0


@pytest.mark.parametrize("level", ["basic", "intermediate", "advanced", "expert"])
def test_a_level_is_set(ask, level):
    assert ask.post(f"/training-logs/debug/level/{level}").json() == {"level": level}


@pytest.mark.parametrize("level", ["none", "BASIC", "..", "basic%20"])
def test_a_level_that_is_none_is_one_line(ask, level):
    reply = ask.post(f"/training-logs/debug/level/{level}")
    assert reply.status_code == 422 if level != ".." else reply.status_code in (404, 422)


@pytest.fixture
def process(make):
    """This process, to be asked, with no debugger of an earlier test alive and all as it was afterwards."""
    gc.collect()
    torchmagic.session.clear()
    yield make(**{name: getattr(_process(), name) for name in ("here", "debuggers", "set_level", "clear")})
    switches.reset()
    torchmagic.session.clear()


def trained(debugger, *, poison):
    model = torch.nn.Linear(2, 1)
    for step in range(4):
        model.zero_grad()
        factor = math.nan if step == poison else 1.0
        loss = model(torch.ones(3, 2)).square().mean() * factor
        loss.backward()
        debugger.monitor_training_step(model, loss, step)


def test_debuggers_that_are_alive_are_asked_and_those_that_are_gone_are_not(process):
    debugger = TrainingDebugger("basic")
    trained(debugger, poison=2)
    told = process.get(TRAINING).json()
    assert (told["total_steps"], told["anomaly_steps"], told["loss_anomalies"]) == (4, 1, 1)
    assert (told["anomaly_rate"], told["source"]) == (0.25, "debuggers")
    assert process.get(SUMMARY).json()["training_debugger"]["debug_history_length"] == 4
    other = TrainingDebugger("basic")
    trained(other, poison=None)
    assert process.get(TRAINING).json()["total_steps"] == 8
    del debugger, other
    gc.collect()
    assert alive("training") == []
    assert process.get(TRAINING).json()["source"] == "runs"


def test_clearing_forgets_what_debuggers_counted_and_the_runs_of_the_process(process):
    debugger, diffusion = TrainingDebugger("basic"), DiffusionModelDebugger("basic")
    trained(debugger, poison=0)
    with torchmagic.watch(save=False):
        pass
    assert process.post("/training-logs/debug/clear").json() == {"debuggers": 2, "runs": 1}
    assert debugger.get_training_summary()["total_steps"] == 0
    assert diffusion.debug_history == []
    assert torchmagic.session.runs == []


def test_a_level_holds_for_the_session_and_for_debuggers(process):
    debugger = TrainingDebugger("basic")
    assert process.post("/training-logs/debug/level/extreme").json() == {"level": "expert"}
    assert torchmagic.session.level == "expert"
    assert debugger.level == "extreme"
    with torchmagic.watch(save=False) as run:
        pass
    assert run.settings["level"] == "expert"
