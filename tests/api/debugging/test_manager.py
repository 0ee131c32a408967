"""The manager makes the very step that a plain loop makes, and reports on it."""

import copy
import json
import logging
import math
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional

import torchmagic
from torchmagic import DebugConfig, NonFiniteError, PyTorchDebugManager

STEPS = 12
CONFIGS = {
    "nothing": {"mode": "none"},
    "anomalies": {"mode": "anomaly_detection"},
    "anomalies, raising": {"mode": "anomaly_detection", "anomaly_detection_mode": "raise"},
    "torch's own detection": {"mode": "anomaly_detection", "enable_autograd_anomaly": True},
    "everything at each step": {
        "mode": "full_debug",
        "level": "expert",
        "gradient_checking_frequency": 1,
        "memory_profiling_frequency": 1,
        "performance_profiling_frequency": 1,
        "log_gradients": True,
        "log_activations": True,
        "log_weights": True,
    },
    "everything at its pace": {
        "mode": "full_debug",
        "level": "advanced",
        "gradient_checking_frequency": 5,
        "memory_profiling_frequency": 3,
        "performance_profiling_frequency": 2,
    },
}


def training():
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 3))
    opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
    batches = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(STEPS)]
    return net, opt, batches


def outcome(step):
    net, opt, batches = training()
    results = [step(net, opt, x, y, number) for number, (x, y) in enumerate(batches)]
    return results, net.state_dict(), torch.get_rng_state()


def plain(net, opt, x, y, _number):
    opt.zero_grad()
    loss = functional.cross_entropy(net(x), y)
    loss.backward()
    norm = math.hypot(*[each.grad.norm().item() for each in net.parameters()])
    opt.step()
    return loss.item(), norm, math.hypot(*[each.norm().item() for each in net.parameters()])


@pytest.mark.parametrize("fields", CONFIGS.values(), ids=CONFIGS)
def test_a_debugged_step_is_the_plain_step_bit_for_bit(fields):
    results, weights, stream = outcome(plain)
    manager = PyTorchDebugManager(DebugConfig(**fields))

    def debugged(net, opt, x, y, number):
        found = manager.debug_training_step(net, opt, functional.cross_entropy, x, y, epoch=0, batch=number)
        return found["loss"], found["gradient_norm"], found["param_norm"]

    mine, my_weights, my_stream = outcome(debugged)
    assert [each[0] for each in mine] == [each[0] for each in results]
    assert [each[1:] for each in mine] == [pytest.approx(each[1:], rel=1e-5) for each in results]
    assert all(torch.equal(my_weights[name], weights[name]) for name in weights)
    assert torch.equal(my_stream, stream)
    assert manager.debugger.get_debug_summary()["total_anomalies"] == 0


def test_a_step_tells_what_the_document_says():
    net, opt, ((x, y), *_) = training()
    manager = PyTorchDebugManager(DebugConfig("full_debug", save_debug_info=False))
    metrics = manager.debug_training_step(net, opt, functional.cross_entropy, x, y, epoch=2, batch=7)
    assert list(metrics) == ["loss", "gradient_norm", "param_norm", "cpu_memory", "gpu_memory", "execution_time"]
    info = manager.debugger.debug_history[-1]
    assert (info.operation, info.epoch, info.batch) == ("training_step", 2, 7)
    assert metrics["execution_time"] == info.execution_time > 0
    assert metrics["cpu_memory"] > 50
    assert {each.run_id for each in manager.debugger.debug_history} == {torchmagic.session.last.id}


def test_frequencies_say_at_which_steps_what_is_watched():
    net, opt, batches = training()
    config = DebugConfig(
        mode="gradient_checking",
        enable_memory_profiling=True,
        gradient_checking_frequency=4,
        memory_profiling_frequency=6,
    )
    manager = PyTorchDebugManager(config)
    for number, (x, y) in enumerate(batches):
        manager.debug_training_step(net, opt, functional.cross_entropy, x, y, batch=number)
    steps = [info for info in manager.debugger.debug_history if info.operation == "training_step"]
    runs = {run.id: run for run in torchmagic.session.runs}
    assert [info.batch for info in steps if info.run_id] == [0, 4, 6, 8]
    assert [bool(runs[info.run_id].series("grad_norm")[1]) for info in steps if info.run_id] == [
        True,
        True,
        False,
        True,
    ]
    assert [bool(runs[info.run_id].series("rss_bytes")[1]) for info in steps if info.run_id] == [
        True,
        False,
        True,
        False,
    ]


def test_the_parts_of_a_step_go_at_the_pace_of_the_step():
    net, opt, ((x, y), *_) = training()
    manager = PyTorchDebugManager(DebugConfig("performance_profiling", performance_profiling_frequency=2))
    manager.debugger.debug_forward_pass(net, x)
    for _ in range(2):
        manager.debug_training_step(net, opt, functional.cross_entropy, x, y)
    assert [run.name for run in torchmagic.session.runs] == ["forward_pass", "training_step"]


def test_in_one_context_around_the_loop_all_steps_belong_to_one_run():
    net, opt, batches = training()
    manager = PyTorchDebugManager(DebugConfig("full_debug"))
    with manager.debugger.debug_context("training"):
        for number, (x, y) in enumerate(batches):
            manager.debug_training_step(net, opt, functional.cross_entropy, x, y, batch=number)
    (run,) = torchmagic.session.runs
    assert (run.name, run.steps) == ("training", STEPS)


def test_gradients_of_a_step_before_are_not_added():
    net, opt, ((x, y), *_) = training()
    fresh = copy.deepcopy(net)
    functional.cross_entropy(net(x), y).backward()
    manager = PyTorchDebugManager(DebugConfig())
    torch.manual_seed(5)
    found = manager.debug_training_step(net, opt, functional.cross_entropy, x, y)
    torch.manual_seed(5)
    functional.cross_entropy(fresh(x), y).backward()
    norm = math.hypot(*[each.grad.norm().item() for each in fresh.parameters()])
    assert found["gradient_norm"] == pytest.approx(norm, rel=1e-5)


def test_raise_stops_a_step_before_the_weights_change():
    net, opt, ((x, y), *_) = training()
    before = {name: value.clone() for name, value in net.named_parameters()}
    manager = PyTorchDebugManager(DebugConfig("anomaly_detection", anomaly_detection_mode="raise"))
    with pytest.raises(NonFiniteError):
        manager.debug_training_step(net, opt, lambda output, _: output.sum() * math.nan, x, y)
    assert all(torch.equal(value, before[name]) for name, value in net.named_parameters())
    assert manager.debugger.debug_history[-1].anomaly_detected


def test_warn_goes_on():
    net, opt, ((x, y), *_) = training()
    manager = PyTorchDebugManager(DebugConfig("anomaly_detection", anomaly_detection_mode="warn"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = manager.debug_training_step(net, opt, lambda output, _: output.sum() * math.nan, x, y)
    assert math.isnan(found["loss"])
    assert any("non-finite" in str(each.message) for each in told)


@pytest.mark.parametrize("training_mode", [True, False])
def test_an_inference_is_the_plain_call(training_mode):
    net, _, ((x, _), *_) = training()
    net.train(training_mode)
    other = copy.deepcopy(net)
    torch.manual_seed(9)
    expected, state = other(x), torch.get_rng_state()
    manager = PyTorchDebugManager(DebugConfig("full_debug", "expert", anomaly_detection_mode="raise"))
    torch.manual_seed(9)
    found = manager.debug_model_inference(net, x)
    assert torch.equal(found["output"], expected)
    assert found["output"].requires_grad
    assert torch.equal(torch.get_rng_state(), state)
    assert net.training is training_mode
    assert all(torch.equal(value, other.state_dict()[name]) for name, value in net.state_dict().items())
    assert found["execution_time"] > 0
    assert found["cpu_memory"] > 50
    assert not found["anomaly_detected"]


def test_a_healthy_step_and_a_healthy_inference_have_no_findings_that_something_is_wrong():
    net, opt, batches = training()
    manager = PyTorchDebugManager(DebugConfig("full_debug", "expert"))
    for x, y in batches[:3]:
        manager.debug_training_step(net, opt, functional.cross_entropy, x, y)
    manager.debug_model_inference(net.eval(), batches[0][0])
    debugger = manager.debugger
    output = debugger.debug_forward_pass(net.train(), batches[0][0])
    debugger.debug_backward_pass(functional.cross_entropy(output, batches[0][1]), net)
    debugger.debug_optimization_step(opt, net)
    assert [finding.title for info in debugger.debug_history for finding in info.findings] == []


def test_steps_are_logged_where_logging_was_set_up(here, capsys):
    net, opt, batches = training()
    manager = PyTorchDebugManager(DebugConfig(debug_output_dir=str(here / "logs")))
    logger = manager.setup_training_logging("debug_experiment")
    assert manager.training_logger is logger
    for number, (x, y) in enumerate(batches[:3]):
        manager.debug_training_step(net, opt, functional.cross_entropy, x, y, epoch=1, batch=number)
    assert logger.num_batches == 3
    logger.flush()
    assert logger.path.parent == here / "logs"
    lines = [json.loads(line) for line in logger.path.read_text().splitlines()]
    assert [line["fields"]["batch"] for line in lines if line["event"] == "batch_metrics"] == [0, 1, 2]
    again = manager.setup_training_logging("second")
    assert again is not logger
    again.close()


def test_a_comprehensive_report_is_written_and_returned(here):
    net, opt, batches = training()
    manager = PyTorchDebugManager(DebugConfig("full_debug", debug_output_dir="custom"))
    for number, (x, y) in enumerate(batches[:3]):
        manager.debug_training_step(net, opt, functional.cross_entropy, x, y, batch=number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        manager.debug_training_step(net, opt, lambda output, _: output.sum() * math.nan, *batches[3])
    report = manager.create_comprehensive_report()
    assert report["summary"]["total_debug_operations"] == len(manager.debugger.debug_history)
    assert report["operation_breakdown"]["training_step"] == 4
    assert report["runs"]["summary"]["total_debug_operations"] == 4
    assert any(finding["rule"].startswith("nonfinite") for finding in report["findings"])
    written = json.loads((here / "custom" / "report.json").read_text())
    assert written["summary"] == report["summary"]
    assert [each["rule"] for each in written["findings"]] == [each["rule"] for each in report["findings"]]
    assert (here / "custom" / "debug_analysis.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_before_anything_holds_no_numbers(here):
    report = PyTorchDebugManager(DebugConfig()).create_comprehensive_report()
    assert (report["runs"], report["findings"]) == (None, [])
    assert report["files"]["debug_analysis.png"] is None
    assert (here / "debug_outputs" / "report.json").exists()


def test_a_report_that_cannot_be_written_is_returned_and_told_in_one_line(here, caplog):
    (here / "debug_outputs").write_text("a file")
    net, opt, batches = training()
    manager = PyTorchDebugManager(DebugConfig("full_debug", save_debug_info=False))
    manager.debug_training_step(net, opt, functional.cross_entropy, *batches[0])
    caplog.clear()
    report = manager.create_comprehensive_report()
    assert report["operation_breakdown"]["training_step"] == 1
    assert report["files"] == {"report.json": None, "debug_analysis.png": None}
    (told,) = caplog.records
    assert (told.levelno, told.getMessage()) == (
        logging.WARNING,
        "cannot write debug_outputs: File exists; the report is in memory only",
    )


def test_a_report_without_room_for_its_numbers_has_its_picture_still(here, caplog):
    (here / "debug_outputs" / "report.json").mkdir(parents=True)
    net, opt, batches = training()
    manager = PyTorchDebugManager(DebugConfig("full_debug", save_debug_info=False))
    manager.debug_training_step(net, opt, functional.cross_entropy, *batches[0])
    files = manager.create_comprehensive_report()["files"]
    assert files["report.json"] is None
    assert files["debug_analysis.png"].endswith("debug_analysis.png")
    assert "the report is in memory only" in caplog.text


def test_a_loop_that_goes_on_after_an_error_has_it_in_the_log(caplog):
    net, opt, batches = training()
    manager = PyTorchDebugManager(DebugConfig("anomaly_detection"))
    losses = []
    for number, (x, y) in enumerate(batches[:3]):
        try:
            wrong = x[:, :2] if number == 1 else x
            losses.append(
                manager.debug_training_step(net, opt, functional.cross_entropy, wrong, y, batch=number)["loss"]
            )
        except RuntimeError:
            continue
    assert len(losses) == 2
    assert [
        record.levelno for record in caplog.records if "forward_pass ended with RuntimeError" in record.getMessage()
    ] == [logging.ERROR]
