"""A context is a watched run, contexts inside it belong to it, and nothing is left behind, whatever ended it."""

import contextlib
import gc
import importlib.util
import json
import logging
import threading
import warnings
import weakref
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional

import torchmagic
from torchmagic import DebugConfig, DebugLevel, DebugMode, NonFiniteError, PyTorchDebugger
from torchmagic.api.debugging.contexts import Contexts
from torchmagic.api.debugging.kept_runs import MANY_STEPS, KeptRuns
from torchmagic.debuggers.switches import switches
from torchmagic.session.run import Status
from torchmagic.session.session import Session

LOGGER = "torchmagic.debugging"


def load_neighbour():
    path = Path(__file__).parents[2] / "debuggers" / "test_nothing_left.py"
    spec = importlib.util.spec_from_file_location("nothing_left", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


left = load_neighbour()


@pytest.fixture(scope="module", autouse=True)
def _warmed_up():
    """Let torch load what it loads on first use."""
    with torchmagic.watch(save=False, every=1):
        train()


def train(steps=2, *, factor=1.0, error=None):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(steps):
        opt.zero_grad()
        loss = functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 3, (8,))) * factor
        loss.backward()
        if error is not None and step == steps - 1:
            raise error
        opt.step()
    return net, opt


def everything(**fields):
    return PyTorchDebugger(DebugConfig(mode=DebugMode.FULL_DEBUG, level=DebugLevel.ADVANCED, **fields))


def test_the_outermost_context_is_a_run_of_the_session_named_by_the_operation():
    debugger = everything()
    with debugger.debug_context("training", "net", epoch=2, batch=7) as info:
        train(3)
    run = torchmagic.session.last
    assert (run.name, run.status, run.steps) == ("training", Status.OK, 3)
    assert run.settings["mode"] == "full_debug"
    assert (info.run_id, info.model_name, info.epoch, info.batch) == (run.id, "net", 2, 7)
    assert info.gradient_norm == run.series("grad_norm", name="")[1][-1] > 0
    assert debugger.debug_history == [info] == debugger.debug_metrics


def test_contexts_inside_belong_to_the_same_run():
    debugger = everything()
    with debugger.debug_context("outer") as outer:
        with debugger.debug_context("first") as first:
            train(1)
        with PyTorchDebugger(DebugLevel.BASIC).debug_context("of another one") as second:
            train(1)
    assert len(torchmagic.session.runs) == 1
    assert outer.run_id == first.run_id == second.run_id
    assert torchmagic.session.last.steps == 2
    assert [info.operation for info in debugger.debug_history] == ["first", "outer"]


def test_what_was_before_a_context_is_not_its_own():
    debugger = everything()
    with debugger.debug_context("outer"):
        train(2)
        with debugger.debug_context("inside") as info:
            pass
    assert (info.gradient_norm, info.anomaly_detected) == (None, False)


def test_a_context_inside_a_watched_block_belongs_to_that():
    with (
        torchmagic.watch(level="expert", anomaly="warn", save=False) as run,
        everything().debug_context("inside") as info,
    ):
        train(1)
    assert info.run_id == run.id
    assert torchmagic.session.runs == [run]


def test_a_context_that_has_to_raise_does_not_rely_on_a_run_that_does_not():
    debugger = everything(anomaly_detection_mode="raise")
    with torchmagic.watch(save=False) as run, pytest.raises(NonFiniteError), debugger.debug_context("loud") as info:
        train(1, factor=float("nan"))
    assert info.run_id != run.id
    assert len(torchmagic.session.runs) == 2


def test_a_mode_of_none_measures_and_watches_nothing():
    debugger = PyTorchDebugger(DebugConfig())
    before = left.snapshot()
    with debugger.debug_context("bare") as info:
        left.compare(before, left.snapshot())
        train(1)
    assert torchmagic.session.runs == []
    assert (info.run_id, info.findings, info.gradient_norm) == ("", (), None)
    assert info.execution_time > 0


def test_probes_that_are_switched_off_open_no_run_and_on_again_do():
    debugger = everything()
    debugger.disable_debugging()
    with debugger.debug_context("off"):
        train(1)
    assert torchmagic.session.runs == []
    debugger.enable_debugging(["memory_usage"])
    with debugger.debug_context("on"):
        train(1)
    (run,) = torchmagic.session.runs
    assert run.series("rss_bytes")[1]
    assert not run.series("loss")[1]


def end_well(debugger):
    with debugger.debug_context("well"):
        train(2)


def end_by_an_error(debugger):
    with pytest.raises(KeyError), debugger.debug_context("error"):
        train(2, error=KeyError("mine"))


def end_by_an_interrupt(debugger):
    with pytest.raises(KeyboardInterrupt), debugger.debug_context("interrupt"):
        train(2, error=KeyboardInterrupt())


def end_by_exit(debugger):
    with pytest.raises(SystemExit), debugger.debug_context("exit"):
        train(2, error=SystemExit(1))


def end_by_detection(debugger):
    with pytest.raises(RuntimeError, match="nan"), debugger.autograd_anomaly_detection():
        broken_backward()


def end_abandoned(debugger):
    def loop():
        with debugger.debug_context("abandoned"):
            train(1)
            yield

    half = loop()
    next(half)
    half.close()


def end_overlapping(debugger):
    first, second = debugger.debug_context("first"), everything(anomaly_detection_mode="raise").debug_context("second")
    first.__enter__()
    second.__enter__()
    train(1)
    first.__exit__(None, None, None)
    train(1)
    second.__exit__(None, None, None)


def end_in_other_threads(debugger):
    together = threading.Barrier(4)

    def work(number):
        together.wait()
        for _ in range(5):
            with debugger.debug_context(f"worker {number}"):
                pass

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def end_overlapping_with_detection(debugger):
    other = PyTorchDebugger(debug_mode=DebugMode.ANOMALY_DETECTION)
    first, second = other.debug_context("first"), PyTorchDebugger(debug_mode="full_debug").debug_context("second")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert torch.is_anomaly_enabled()
    second.__exit__(None, None, None)


def broken_backward():
    weight = torch.zeros(3, requires_grad=True)
    (torch.sqrt(weight) * 0).sum().backward()


ENDS = (
    end_well,
    end_by_an_error,
    end_by_an_interrupt,
    end_by_exit,
    end_by_detection,
    end_abandoned,
    end_overlapping,
    end_overlapping_with_detection,
    end_in_other_threads,
)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
@pytest.mark.parametrize("config", [{}, {"anomaly_detection_mode": "detect"}], ids=["plain", "detecting"])
def test_nothing_is_left_after_it(end, config):
    debugger = everything(**config)
    before = left.snapshot()
    end(debugger)
    left.compare(before, left.snapshot())
    assert switches.running is None
    assert not debugger.contexts._open


def test_what_ended_it_reaches_the_user_unchanged_and_is_told(caplog):
    debugger, mine = everything(), KeyError("mine")
    with pytest.raises(KeyError) as error, debugger.debug_context("training") as info:
        train(2, error=mine)
    assert error.value is mine
    assert error.value.__context__ is None
    assert info.anomaly_detected
    assert torchmagic.session.last.status is Status.ERROR
    (record,) = [record for record in caplog.records if record.name == LOGGER and record.levelno == logging.ERROR]
    first, *whole = record.getMessage().splitlines()
    assert first == "training ended with KeyError: 'mine'"
    assert (whole[0], whole[-1]) == ("Traceback (most recent call last):", "KeyError: 'mine'")
    assert "raise error" in record.getMessage()


def test_an_interrupt_is_no_anomaly():
    with pytest.raises(KeyboardInterrupt), (debugger := everything()).debug_context("training") as info:
        raise KeyboardInterrupt
    assert not info.anomaly_detected
    assert debugger.get_debug_summary()["total_anomalies"] == 0


def test_warn_warns_and_goes_on_and_names_the_place():
    debugger = everything(anomaly_detection_mode="warn")
    with (
        pytest.warns(RuntimeWarning, match=r"mul made a non-finite value.*line \d+: loss = "),
        debugger.debug_context("training") as info,
    ):
        train(3, factor=float("nan"))
    assert torchmagic.session.last.steps == 3
    assert info.anomaly_detected
    assert any(finding.rule.startswith("nonfinite") for finding in info.findings)


def test_raise_raises_before_the_weights_are_spoilt():
    debugger = everything(anomaly_detection_mode="raise")
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def step():
        torch.log(net(torch.ones(2, 4)).relu() * 0).sum().backward()
        opt.step()

    with pytest.raises(NonFiniteError), debugger.debug_context("training"):
        step()
    assert all(torch.isfinite(each).all() for each in net.parameters())


def test_a_mode_alone_has_torchs_own_detection_on_and_off_again():
    debugger = PyTorchDebugger(debug_mode=DebugMode.ANOMALY_DETECTION)
    with debugger.debug_context("training"):
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    with pytest.raises(RuntimeError, match="nan"), debugger.debug_context("training") as info:
        broken_backward()
    assert info.anomaly_detected


def test_torchs_own_detection_is_on_within_a_run_that_does_without():
    debugger = PyTorchDebugger(DebugLevel.BASIC)
    with debugger.debug_context("training"):
        assert not torch.is_anomaly_enabled()
        with debugger.autograd_anomaly_detection():
            assert torch.is_anomaly_enabled()
        assert not torch.is_anomaly_enabled()


def test_the_session_and_the_store_stay_small(here):
    session = Session(here)
    kept = KeptRuns(session, most=5)
    contexts = Contexts(DebugConfig("performance_profiling"), logger=logging.getLogger(LOGGER), kept=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torchmagic.api.debugging.context_watch.session", session)
        for number in range(20):
            with contexts.open(f"step_{number}"):
                pass
        assert [run.name for run in session.runs] == [f"step_{number}" for number in range(15, 20)]
        assert len(session.history()) <= 10
        with contexts.open("a whole training"):
            train(MANY_STEPS)
        session.clear()
        assert session.history()[-1].name == "a whole training"
        with contexts.open("after the user has cleared the session"):
            pass
    assert len(session.runs) == 1
    gc.collect()
    assert len(contexts.runs) <= 5
    session.close()


def test_beyond_those_a_run_is_written_that_says_something_new(here):
    session = Session(here)
    kept = KeptRuns(session, most=1)
    contexts = Contexts(DebugConfig("full_debug"), logger=logging.getLogger(LOGGER), kept=kept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torchmagic.api.debugging.context_watch.session", session)
        for name in ("first", "dull", "telling", "telling again"):
            with warnings.catch_warnings(), contexts.open(name):
                warnings.simplefilter("ignore")
                train(1, factor=float("nan") if "telling" in name else 1.0)
        session.clear()
        assert [entry.name for entry in session.history()] == ["first", "telling"]
    session.close()


def test_no_object_of_the_user_is_kept_alive():
    debugger = everything(log_gradients=True, log_weights=True, log_activations=True)
    refs = []
    with debugger.debug_context("training"):
        net, opt = train(2)
        debugger.check_gradients(net)
        debugger.analyze_tensor(net[0].weight, "weight")
        refs += [weakref.ref(net), weakref.ref(opt), weakref.ref(net[0].weight)]
        del net, opt
    with contextlib.suppress(KeyError), debugger.debug_context("training"):
        net, _ = train(1)
        refs.append(weakref.ref(net))
        del net
        train(1, error=KeyError("mine"))
    gc.collect()
    assert [ref() for ref in refs] == [None] * 4


def test_an_exception_leaves_no_circle_that_holds_the_users_objects():
    debugger = everything()
    refs = []

    def work():
        net, _ = train(1)
        refs.append(weakref.ref(net))
        raise KeyError("mine")

    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(KeyError), debugger.debug_context("training"):
            work()
        assert refs[0]() is None
    finally:
        gc.enable()


class Refusing:
    def log_training_event(self, *args, **fields):  # noqa: ARG002 - it refuses whatever comes
        raise OSError("no space")


def test_our_failure_is_never_the_users(caplog):
    debugger = PyTorchDebugger(DebugLevel.BASIC, training_logger=Refusing())
    with debugger.debug_context("training"):
        train(1)
    assert "training could not be told: OSError: no space" in caplog.text
    with pytest.raises(KeyError, match="mine"), debugger.debug_context("training"):
        train(1, error=KeyError("mine"))


class Listening:
    def __init__(self):
        self.events = []

    def log_training_event(self, name, message="", level="info", **fields):
        self.events.append((name, message, str(level), fields))


def test_a_training_logger_is_told_each_operation():
    listening = Listening()
    debugger = PyTorchDebugger(DebugLevel.BASIC, training_logger=listening)
    with debugger.debug_context("training", epoch=3):
        net, _ = train(1)
        debugger.check_gradients(net)
    ((name, message, level, fields),) = listening.events
    assert (name, message, level, fields["epoch"]) == ("debug_operation", "training", "debug", 3)
    assert fields["gradient_norm"] == pytest.approx(debugger.debug_history[-1].gradient_norm)
    json.dumps(fields)


def test_a_finding_is_logged_once(caplog):
    debugger = everything()
    for _ in range(2):
        with debugger.debug_context("training"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            train(1, factor=float("nan"))
    told = [record.getMessage() for record in caplog.records if record.name == LOGGER]
    assert len(told) == len(set(told)) > 0
    assert {finding.rule for finding in debugger.contexts.telling.findings} == {
        finding.rule for info in debugger.debug_history for finding in info.findings
    }


def test_statistics_are_written_down_where_the_configuration_asks(here):
    debugger = everything(log_gradients=True, log_weights=True, log_activations=True)
    with debugger.debug_context("training") as info:
        train(2)
    assert set(info.details) == {"gradients", "weights", "activations"}
    assert info.details["gradients"]["net.0.weight"]["norm"] > 0
    assert info.details["weights"]["net.2.bias"]["norm"] > 0
    assert "mean" in info.details["activations"]["net.1"]
    (line,) = (here / "debug_outputs" / "debug_info.jsonl").read_text().splitlines()
    assert (
        json.loads(line)["details"]["gradients"]["net.0.weight"]["norm"]
        == info.details["gradients"]["net.0.weight"]["norm"]
    )


def test_without_asking_nothing_is_written_beside_the_store(here):
    with PyTorchDebugger(DebugLevel.BASIC).debug_context("training"):
        train(1)
    assert {path.name for path in here.iterdir()} == {".torchmagic"}
    for quiet in (DebugConfig("full_debug", save_debug_info=False), {"mode": "full_debug", "save_debug_info": False}):
        with PyTorchDebugger(quiet).debug_context("quiet"):
            train(1)
    torchmagic.session.clear()
    assert [entry.name for entry in torchmagic.session.history().content] == ["training"]
