"""The debugger of the documents: what its methods return, note, tell and refuse."""

import json
import logging
import math
import mmap
import warnings
import weakref

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

import torchmagic
from torchmagic import DebugConfig, DebugLevel, DebugMode, NonFiniteError, PyTorchDebugger
from torchmagic.api.debugging.gradients import TIMES_USUAL, check_gradients, glance_at_gradients
from torchmagic.api.debugging.leak_words import is_leak
from torchmagic.api.debugging.report import debug_report
from torchmagic.debuggers.settings import Anomaly
from torchmagic.models.gradient_checks import EXPLODED
from torchmagic.models.leaks import memory_trend
from torchmagic.records.costs import CostsRecord
from torchmagic.rules.numerics.exploding_gradient import LARGE


def debugger_of(**fields):
    return PyTorchDebugger(DebugConfig(**{"mode": DebugMode.FULL_DEBUG, "save_debug_info": False, **fields}))


def model_with_gradients(scale=1.0):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    loss = functional.cross_entropy(net(torch.randn(8, 4)), torch.randint(0, 3, (8,))) * scale
    loss.backward()
    return net, loss


@pytest.mark.parametrize(
    ("args", "fields", "expected"),
    [
        ((), {}, ("full_debug", "basic", "warn")),
        ((DebugLevel.ADVANCED,), {}, ("full_debug", "advanced", "warn")),
        (("extreme",), {}, ("full_debug", "extreme", "warn")),
        ((DebugConfig(mode="memory_profiling"),), {}, ("memory_profiling", "basic", "warn")),
        (({"mode": "none", "level": "expert"},), {}, ("none", "expert", "warn")),
        ((), {"debug_mode": DebugMode.FULL_DEBUG}, ("full_debug", "expert", "detect")),
        ((), {"debug_mode": "anomaly_detection"}, ("anomaly_detection", "basic", "detect")),
        ((DebugLevel.ADVANCED,), {"debug_mode": "gradient_checking"}, ("gradient_checking", "advanced", "detect")),
        ((DebugConfig(level="expert"),), {"debug_mode": "profiling"}, ("profiling", "expert", "warn")),
    ],
)
def test_the_constructors_of_all_documents_are_one(args, fields, expected):
    config = PyTorchDebugger(*args, **fields).config
    assert (config.mode.value, config.level.value, config.anomaly_detection_mode) == expected


def test_the_environment_speaks_where_no_configuration_does(monkeypatch):
    monkeypatch.setenv("TORCHMAGIC_DEBUG_LEVEL", "advanced")
    monkeypatch.setenv("TORCHMAGIC_DEBUG_LOG_GRADIENTS", "1")
    assert PyTorchDebugger().config.level is DebugLevel.ADVANCED
    assert PyTorchDebugger(DebugLevel.BASIC).config.level is DebugLevel.BASIC
    assert PyTorchDebugger(DebugLevel.BASIC).config.log_gradients
    assert not PyTorchDebugger(DebugConfig()).config.log_gradients
    monkeypatch.setenv("TORCHMAGIC_DEBUG_LEVEL", "deep")
    with pytest.raises(ValueError, match="level: 'deep'"):
        PyTorchDebugger()


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (DebugMode.NONE, TypeError, "write debug_mode=DebugMode.NONE"),
        (3, TypeError, "a DebugConfig or a DebugLevel is wanted, int came"),
        ("deep", ValueError, "level: 'deep' is not one of basic, "),
        ({"levl": "basic"}, ValueError, "did you mean 'level'"),
    ],
)
def test_a_wrong_configuration_is_one_line(given, error, said):
    with pytest.raises(error, match=said):
        PyTorchDebugger(given)


def test_what_was_given_is_there_and_what_was_not_is_made():
    mine = object()
    assert PyTorchDebugger(error_system=mine).error_system is mine
    debugger = PyTorchDebugger()
    debugger.error_system.error_tracker.track_error(ValueError("x"), "error", "model", {"operation": "step"})
    assert debugger.error_system is debugger.error_system
    assert isinstance(debugger.logger, logging.Logger)


def test_forward_backward_and_step_are_those_of_the_user():
    torch.manual_seed(0)
    net, x = nn.Linear(4, 2), torch.randn(3, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    debugger = debugger_of()
    output = debugger.debug_forward_pass(net, x)
    assert torch.equal(output, net(x))
    norm = debugger.debug_backward_pass(output.square().mean(), net)
    assert norm == pytest.approx(math.hypot(*[each.grad.norm().item() for each in net.parameters()]))
    before = net.weight.detach().clone()
    size = debugger.debug_optimization_step(opt, net)
    assert torch.allclose(net.weight, before - 0.1 * net.weight.grad)
    assert size == pytest.approx(math.hypot(*[each.norm().item() for each in net.parameters()]))
    names = [info.operation for info in debugger.debug_history]
    assert names == ["forward_pass", "backward_pass", "optimization_step"]
    assert debugger.debug_history[1].gradient_norm == norm
    assert not any(info.anomaly_detected for info in debugger.debug_history)


def test_a_batch_may_be_several_arguments_or_given_by_name():
    class Two(nn.Module):
        def forward(self, a, b):
            return a - b

    debugger, a, b = debugger_of(), torch.ones(2), torch.zeros(2)
    assert torch.equal(debugger.debug_forward_pass(Two(), (a, b)), a)
    assert torch.equal(debugger.debug_forward_pass(Two(), {"b": a, "a": b}), -a)


BAD = {"NaN": math.nan, "Inf": math.inf}


@pytest.mark.parametrize("word", BAD)
@pytest.mark.parametrize("where", ["input", "output"])
def test_values_that_are_not_sound_are_told_and_raised_only_if_wanted(word, where, caplog):
    net = nn.Identity() if where == "input" else nn.Threshold(2.0, BAD[word])
    x = torch.full((2, 3), BAD[word]) if where == "input" else torch.ones(2, 3)
    debugger = debugger_of(anomaly_detection_mode="warn")
    debugger.debug_forward_pass(net, x)
    assert debugger.debug_history[-1].anomaly_detected
    assert f"forward_pass: {where} of shape (2, 3) has 6 {word}" in caplog.text
    with pytest.raises(NonFiniteError, match=rf"{where} of shape \(2, 3\) has 6 {word}"):
        debugger_of(anomaly_detection_mode="raise").debug_forward_pass(net, x)
    silent = debugger_of(mode="memory_profiling", anomaly_detection_mode="raise")
    silent.debug_forward_pass(net, x)
    assert silent.debug_history[-1].anomaly_detected


def test_minus_infinity_as_masks_have_it_is_sound():
    debugger = debugger_of(anomaly_detection_mode="raise")
    debugger.debug_forward_pass(nn.Identity(), torch.tensor([0.0, -math.inf]))
    assert not debugger.debug_history[-1].anomaly_detected


def test_a_gradient_that_is_not_sound_is_named():
    net = nn.Linear(2, 1)
    loss = torch.sqrt(net(torch.zeros(1, 2)) * 0).sum()
    debugger = debugger_of(anomaly_detection_mode="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(debugger.debug_backward_pass(loss, net))
    (info,) = debugger.debug_history
    assert info.anomaly_detected
    assert any("NaN" in each and "weight" in each for each in info.gradient_anomalies)
    net.zero_grad()
    with pytest.raises(NonFiniteError):
        debugger_of(anomaly_detection_mode="raise").debug_backward_pass(
            torch.sqrt(net(torch.zeros(1, 2)) * 0).sum(), net
        )


def test_weights_that_a_step_spoils_are_told():
    net, _ = model_with_gradients()
    opt = torch.optim.SGD(net.parameters(), lr=math.inf)
    debugger = debugger_of(mode="memory_profiling")
    debugger.debug_optimization_step(opt, net)
    assert debugger.debug_history[-1].anomaly_detected


def test_a_closure_is_handed_on():
    net, x = nn.Linear(2, 1), torch.randn(8, 2)
    opt = torch.optim.LBFGS(net.parameters())
    calls = []

    def closure():
        opt.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        calls.append(loss.item())
        return loss

    debugger_of().debug_optimization_step(opt, net, closure=closure)
    assert len(calls) > 1


def test_check_gradients_tells_norm_anomalies_and_each_parameter():
    net, loss = model_with_gradients()
    found = PyTorchDebugger().check_gradients(net, loss)
    grads = {name: each.grad for name, each in net.named_parameters()}
    assert found["gradient_norm"] == pytest.approx(math.hypot(*[each.norm().item() for each in grads.values()]))
    assert found["gradient_anomalies"] == []
    assert set(found["parameter_stats"]) == set(grads)
    first = found["parameter_stats"]["0.weight"]
    assert first["mean"] == pytest.approx(grads["0.weight"].mean().item(), abs=1e-7)
    assert (first["nans"], first["infs"], first["elements"]) == (0, 0, 32)


@pytest.mark.parametrize(
    "change",
    [
        lambda grad: grad.mul_(1),
        lambda grad: grad.zero_(),
        lambda grad: grad.mul_(1e6),
        lambda grad: grad.fill_(math.nan),
    ],
)
def test_a_glance_sees_what_a_close_look_sees(change):
    net, _ = model_with_gradients()
    for each in net.parameters():
        change(each.grad)
    close, glance = check_gradients(net), glance_at_gradients(net)
    assert glance["gradient_norm"] == pytest.approx(close["gradient_norm"], rel=1e-5, nan_ok=True)
    assert glance["gradient_anomalies"] == close["gradient_anomalies"]
    net.zero_grad()
    assert glance_at_gradients(net) == check_gradients(net)


def test_check_gradients_goes_with_the_context_that_is_open():
    net, loss = model_with_gradients()
    debugger = PyTorchDebugger()
    with debugger.debug_context("training") as info:
        found = debugger.check_gradients(net, loss)
    assert debugger.debug_history == [info]
    assert info.gradient_norm == found["gradient_norm"]
    debugger.check_gradients(net)
    assert debugger.debug_history[-1].operation == "gradient_check"
    assert torchmagic.session.last.name == "training"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda net: net.zero_grad(), "no parameter has a gradient"),
        (lambda net: net.zero_grad(set_to_none=False), "all gradients are zero"),
        (lambda net: net[0].weight.grad.view(-1)[:2].fill_(math.nan), "0.weight: 2 NaN among 32"),
        (lambda net: net[2].bias.grad[0].fill_(math.inf), "2.bias: 1 Inf among 3"),
        (lambda net: net[0].weight.grad.mul_(1e4), "is above 1e+03"),
    ],
)
def test_what_is_wrong_with_gradients_is_a_sentence(make, said):
    net, _ = model_with_gradients()
    make(net)
    (found,) = check_gradients(net)["gradient_anomalies"]
    assert said in found


def test_a_loss_that_is_not_finite_is_told():
    net, _ = model_with_gradients()
    assert "the loss is NaN or Inf" in check_gradients(net, torch.tensor(math.nan))["gradient_anomalies"]


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-3, 1e6), st.one_of(st.none(), st.floats(1e-3, 1e6)))
def test_a_norm_stands_out_that_is_large_or_ten_times_the_usual(norm, usual):
    net = nn.Linear(1, 1, bias=False)
    net.weight.grad = torch.full((1, 1), norm)
    is_told = bool(check_gradients(net, usual_norm=usual)["gradient_anomalies"])
    found = net.weight.grad.item()
    assert is_told == (found > (LARGE if usual is None else max(EXPLODED, TIMES_USUAL * usual)))


def test_a_training_whose_norms_are_large_is_not_told_at_each_step():
    debugger, net = debugger_of(mode="none"), nn.Linear(1, 1, bias=False)
    for _ in range(8):
        net.weight.grad = torch.full((1, 1), 5000.0)
        last = debugger.check_gradients(net)
    assert last["gradient_anomalies"] == []
    assert debugger.debug_history[0].gradient_anomalies


@pytest.mark.parametrize("kind", ["sparse", "complex"])
def test_gradients_of_other_kinds_are_read(kind):
    if kind == "sparse":
        net = nn.Embedding(6, 3, sparse=True)
        net(torch.tensor([1, 1, 4])).sum().backward()
        expected = math.sqrt(3 * (2**2 + 1))
    else:
        net = nn.Module()
        net.w = nn.Parameter(torch.tensor([1 + 1j]))
        net.w.abs().square().sum().backward()
        expected = net.w.grad.abs().item()
    found = PyTorchDebugger().check_gradients(net)
    assert found["gradient_norm"] == pytest.approx(expected)
    assert found["gradient_anomalies"] == []


def test_looking_leaves_gradients_and_streams_alone():
    net, loss = model_with_gradients()
    before = [each.grad.clone() for each in net.parameters()]
    pointers = [each.grad.data_ptr() for each in net.parameters()]
    state = torch.get_rng_state()
    debugger = PyTorchDebugger()
    debugger.check_gradients(net, loss)
    debugger.analyze_gradients(net)
    debugger.analyze_model_parameters(net)
    debugger.analyze_tensor(loss, "loss")
    debugger.check_gradient_explosion(net, threshold=10.0)
    debugger.check_gradient_vanishing(net, threshold=1e-6)
    debugger.profile_memory_usage(net)
    debugger.validate_model(net, torch.randn(8, 4, generator=torch.Generator().manual_seed(0)))
    assert all(torch.equal(each.grad, old) for each, old in zip(net.parameters(), before, strict=True))
    assert [each.grad.data_ptr() for each in net.parameters()] == pointers
    assert torch.equal(torch.get_rng_state(), state)


def test_analyses_that_find_something_count_as_anomalies():
    debugger = PyTorchDebugger()
    assert debugger.analyze_tensor(torch.tensor([1.0, math.nan]), "x").has_nan
    assert not debugger.analyze_tensor(torch.ones(2), "y").has_nan
    net = nn.Linear(2, 2)
    with torch.no_grad():
        net.weight[0, 0] = math.inf
    assert debugger.analyze_model_parameters(net)["weight"].has_inf
    summary = debugger.get_debug_summary()
    assert (summary["total_anomalies"], summary["debug_history_length"]) == (2, 3)


def test_memory_is_told_in_percent_and_in_mb():
    debugger = debugger_of()
    taken = debugger.profile_memory("before")
    assert 0 < taken["cpu_memory"] < 100
    assert taken["cpu_memory_mb"] > 50
    assert taken["gpu_memory"] is None or taken["gpu_memory"] >= 0
    assert (taken["operation"], taken["memory_leaks"]) == ("before", [])
    cpu, gpu = debugger.debug_memory_usage(epoch=1, batch=2)
    assert cpu == pytest.approx(taken["cpu_memory_mb"], rel=0.5)
    assert gpu is None or gpu >= 0
    assert [each.get("batch") for each in debugger.memory_history] == [None, 2]


def test_memory_that_grows_without_end_is_a_leak_and_noise_is_none(caplog):
    debugger, held = debugger_of(mode="none"), []
    for _ in range(150):
        held.append(mmap.mmap(-1, 1 << 20))  # new pages, whatever the allocator kept of earlier tests
        held[-1].write(bytes(1 << 20))
        taken = debugger.profile_memory("step")
    (leak,) = taken["memory_leaks"]
    assert "MB from look to look" in leak
    assert caplog.text.count("memory of the process grows by") == 1
    with debugger.debug_context("after") as info:
        pass
    assert info.memory_leak_detected
    debugger.clear_debug_history()
    assert debugger.memory_history == []
    for _ in range(80):
        taken = debugger.profile_memory("step")
    assert taken["memory_leaks"] == []


@pytest.mark.parametrize(("growth", "expected"), [(15.0, False), (17.0, True)])
def test_what_a_debugger_may_take_itself_is_no_leak(growth, expected):
    steps = list(range(200))
    rng = np.random.default_rng(0)
    amounts = [300 + growth * step / 133 + rng.normal(scale=0.05) for step in steps]
    trend = memory_trend(steps, amounts)
    assert trend.is_leak
    assert is_leak(trend) is expected


def test_the_time_of_an_operation_is_of_the_one_that_is_open_or_the_newest():
    debugger = debugger_of(mode="none")
    with debugger.debug_context("training_step") as info:
        first = debugger.debug_performance("training_step")
        assert 0 <= first <= info.execution_time
    assert debugger.debug_performance("training_step", epoch=1, batch=5) == info.execution_time
    assert [each["batch"] for each in debugger.performance_history] == [0, 5]
    with pytest.raises(ValueError, match=r"no operation 'epoch' was timed yet; put it in `with debugger.debug_context"):
        debugger.debug_performance("epoch")


def test_a_summary_before_anything_can_be_printed_and_compared():
    summary = PyTorchDebugger().get_debug_summary()
    assert f"{summary['avg_execution_time']:.4f}" == "nan"
    assert not summary["avg_execution_time"] > 1
    assert (summary["total_operations"], summary["total_optimizations"], summary["total_anomalies"]) == (0, 0, 0)


def test_a_report_has_no_made_up_zeros():
    report = PyTorchDebugger(DebugConfig()).create_debug_report()
    for part in ("performance_analysis", "memory_analysis"):
        assert set(report[part].values()) == {None}
    assert report["gradient_analysis"]["average_gradient_norm"] is None
    assert report["summary"]["total_debug_operations"] == 0
    json.dumps(report, allow_nan=False)


def test_a_report_counts_what_was_seen():
    net, loss = model_with_gradients()
    debugger = debugger_of(mode="none", level="expert")
    for _ in range(3):
        with debugger.debug_context("step"):
            debugger.check_gradients(net, loss)
    with pytest.raises(KeyError), debugger.debug_context("broken"):
        raise KeyError
    report = debugger.create_debug_report()
    norm = debugger.debug_history[0].gradient_norm
    assert report["operation_breakdown"] == {"step": 3, "broken": 1}
    assert report["gradient_analysis"] == {
        "average_gradient_norm": pytest.approx(norm),
        "max_gradient_norm": pytest.approx(norm),
        "gradient_anomalies": 0,
    }
    assert report["summary"] == {
        "total_debug_operations": 4,
        "anomalies_detected": 1,
        "memory_leaks_detected": 0,
        "performance_issues_detected": 0,
        "debug_mode": "none",
        "debug_level": "expert",
    }
    times = [info.execution_time for info in debugger.debug_history]
    assert report["performance_analysis"]["max_execution_time"] == max(times)
    assert report == debug_report(debugger.contexts.history, debugger.config)


def test_plots_are_a_picture_in_the_folder_of_the_configuration(here):
    debugger = debugger_of(mode="none", debug_output_dir="out/deep")
    assert debugger.create_debug_plots() is None
    assert not (here / "out").exists()
    net, loss = model_with_gradients()
    for _ in range(3):
        with debugger.debug_context("step"):
            debugger.check_gradients(net, loss)
    path = debugger.create_debug_plots()
    assert path.resolve() == here / "out" / "deep" / "debug_analysis.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_history_can_be_cleared():
    debugger = debugger_of(mode="none")
    with debugger.debug_context("step"):
        pass
    debugger.clear_debug_history()
    assert debugger.debug_history == []
    assert debugger.get_debug_summary()["total_operations"] == 0


def test_switches_are_those_of_torchmagic_under_the_names_of_the_document():
    debugger = PyTorchDebugger(DebugConfig())
    assert not any(debugger.get_debugging_status().values())
    debugger.enable_debugging(["memory_usage", "gradient_norms"])
    status = debugger.get_debugging_status()
    assert {name for name, is_on in status.items() if is_on} == {
        "debug_memory_usage",
        "debug_gradient_norms",
        "log_gradients",
    }
    assert dict(torchmagic.session.status().content)["memory"]
    debugger.enable_debugging()
    assert all(debugger.get_debugging_status().values())
    debugger.disable_debugging("debug_lr_scheduling")
    assert not debugger.get_debugging_status()["debug_lr_scheduling"]
    debugger.disable_debugging()
    assert not any(debugger.get_debugging_status().values())
    debugger.enable_debugging([])
    assert not any(debugger.get_debugging_status().values())
    with pytest.raises(ValueError, match="did you mean 'memory'"):
        debugger.enable_debugging(["memory_usge"])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda it, *_: it.debug_forward_pass(None, torch.ones(1, 4)), "a model was wanted .* NoneType came"),
        (lambda it, net, _: it.debug_forward_pass([net, net], torch.ones(1, 4)), "list with 2 models came"),
        (lambda it, _, loss: it.debug_backward_pass(loss, None), "a model was wanted .* NoneType came"),
        (lambda it, net, loss: it.debug_backward_pass(loss.item(), net), r"a loss was wanted .* float came"),
        (lambda it, net, _: it.debug_optimization_step(None, net), "an optimizer .* NoneType came"),
        (lambda it, net, _: it.debug_optimization_step(torch.optim.SGD, net), "the class SGD came"),
        (
            lambda it, net, _: it.debug_optimization_step(torch.optim.SGD(net.parameters()), nn.Linear),
            r"the class .*Linear came; make one",
        ),
        (lambda it, *_: it.check_gradients(None), "a model was wanted .* NoneType came"),
        (lambda it, *_: it.optimize_model(None), "a model was wanted .* NoneType came"),
    ],
)
def test_what_no_method_can_work_with_is_refused_in_one_line_and_not_taken_down(call, said, caplog):
    debugger, (net, loss) = debugger_of(), model_with_gradients()
    with pytest.raises(TypeError, match=said) as caught:
        call(debugger, net, loss)
    assert "\n" not in str(caught.value)
    assert not debugger.debug_history
    assert not caplog.records


def test_gradients_of_several_models_are_checked_together():
    net, _ = model_with_gradients()
    assert debugger_of().check_gradients([net, nn.Linear(2, 2)])["gradient_norm"] > 0


@pytest.mark.parametrize("options", [5, [5]])
def test_an_option_that_is_no_name_is_refused_as_an_unknown_one(options):
    with pytest.raises(ValueError, match="there is no probe '5'; there are anomaly"):
        PyTorchDebugger().enable_debugging(options)


def test_what_is_active_follows_the_configuration_and_the_switches():
    debugger = PyTorchDebugger(DebugConfig("gradient_checking", enable_memory_profiling=True))
    assert (debugger.gradient_checking_active, debugger.memory_profiling_active) == (True, True)
    assert (debugger.anomaly_detection_active, debugger.performance_profiling_active) == (False, False)
    debugger.enable_debugging(["autograd_anomaly"])
    debugger.disable_debugging(["memory_usage"])
    assert (debugger.anomaly_detection_active, debugger.memory_profiling_active) == (True, False)


def test_what_goes_through_is_told_to_a_logger_that_wants_to_know(caplog):
    caplog.set_level(logging.DEBUG, "torchmagic.debugging")
    net = nn.Linear(4, 2)
    debugger = debugger_of(mode="none")
    loss = debugger.debug_forward_pass(net, torch.ones(3, 4)).sum() * 0 + 2.5
    debugger.debug_backward_pass(loss, net)
    told = [record.getMessage() for record in caplog.records]
    assert told[:2] == [
        "forward_pass: input of shape (3, 4), float32 on cpu",
        "forward_pass: output of shape (3, 2), float32 on cpu",
    ]
    assert "backward_pass: loss of shape (), float32 on cpu: 2.5" in told


DOCUMENTED = (
    "enable_autograd_anomaly",
    "enable_autograd_profiler",
    "enable_tensorboard_profiler",
    "debug_memory_usage",
    "debug_gradient_norms",
    "debug_forward_pass",
    "debug_backward_pass",
    "debug_device_placement",
    "debug_mixed_precision",
    "debug_data_loading",
    "debug_validation",
    "debug_early_stopping",
    "debug_lr_scheduling",
)


def test_the_status_names_all_thirteen_switches_of_the_document():
    assert set(DOCUMENTED) <= set(PyTorchDebugger().get_debugging_status())


def data(count=6):
    torch.manual_seed(1)
    return DataLoader(
        TensorDataset(torch.randn(count * 4, 4), torch.randint(0, 3, (count * 4,))), batch_size=4, shuffle=True
    )


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 3))


def test_a_profile_without_an_optimizer_leaves_the_model_as_it_was():
    net, loader = network(), data()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    state = torch.get_rng_state()
    debugger = PyTorchDebugger()
    run = debugger.profile_model_performance(loader, num_batches=3, model=net, criterion=functional.cross_entropy)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert all(each.grad is None for each in net.parameters())
    assert torch.equal(torch.get_rng_state(), state)
    assert net.training
    costs = run.of(CostsRecord)[-1]
    assert run.name == "model_performance"
    linear = [row for row in costs.modules if row.path.endswith("0")]
    assert linear
    assert torchmagic.session.last is run


def test_a_profile_with_an_optimizer_trains_two_batches_more_than_are_profiled():
    net = network()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    before = net[0].weight.detach().clone()
    run = PyTorchDebugger().profile_model_performance(data(2), 3, net, functional.cross_entropy, opt)
    assert run.steps == 5
    assert not torch.equal(net[0].weight, before)


def test_a_profile_takes_the_model_that_was_seen_last_and_does_not_hold_it():
    debugger = debugger_of(mode="none")
    with pytest.raises(ValueError, match="no model was given or seen yet"):
        debugger.profile_model_performance(data())
    net = network()
    debugger.debug_forward_pass(net, torch.randn(4, 4))
    assert debugger.profile_model_performance(data(), num_batches=1).status.value == "ok"
    ref = weakref.ref(net)
    del net
    assert ref() is None
    with pytest.raises(ValueError, match="no model was given or seen yet"):
        debugger.profile_model_performance(data())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"num_batches": 0}, "num_batches must be a whole number from 1 on, got 0"),
        ({"dataloader": []}, "the loader gives no batch"),
        ({"optimizer": True}, "an optimizer came without a criterion"),
    ],
)
def test_a_wrong_profile_is_one_line(change, said):
    net = network()
    if "optimizer" in change:
        change = {"optimizer": torch.optim.SGD(net.parameters(), lr=0.1)}
    with pytest.raises(ValueError, match=said):
        PyTorchDebugger().profile_model_performance(**{"dataloader": data(), "model": net, **change})


def test_an_optimised_model_is_another_one_and_its_metrics_are_kept():
    net = network().eval()
    debugger = PyTorchDebugger()
    optimized = debugger.optimize_model(model=net, optimization_mode=torchmagic.OptimizationMode.NONE)
    assert optimized is not net
    x = torch.randn(2, 4)
    assert torch.equal(optimized(x), net(x))
    assert debugger.optimization_metrics[-1].mode is torchmagic.OptimizationMode.NONE
    assert debugger.get_debug_summary()["total_optimizations"] == 1


def test_the_debugger_is_known_to_the_server_while_it_lives():
    from torchmagic.api.debugging.alive import alive  # noqa: PLC0415 - only this test asks

    debugger = PyTorchDebugger()
    assert any(each is debugger for each in alive("general"))
    assert "full_debug, basic: 0 operations" in repr(debugger)
    ref = weakref.ref(debugger)
    del debugger
    assert ref() is None


def test_each_way_of_anomalies_is_one_of_the_magic():
    for way in Anomaly:
        assert debugger_of(anomaly_detection_mode=way.value).config.settings().anomaly is way
