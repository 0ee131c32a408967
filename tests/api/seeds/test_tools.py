"""The examples of "PyTorch Debugging Tools": manager, settings and reports do what the document says."""

import copy
import dataclasses
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from torch import nn

import torchmagic

METRICS = {"loss", "gradient_norm", "param_norm", "cpu_memory", "gpu_memory", "execution_time"}
MEBIBYTE = 2**20


def config(**changes):
    return torchmagic.DebugConfig(mode=torchmagic.DebugMode.FULL_DEBUG, **changes)


def plain_step():
    """Do what the basic example does, without torchmagic."""
    model = nn.Sequential(nn.Linear(784, 10))
    optimizer = torch.optim.Adam(model.parameters())
    data, target = torch.randn(32, 784), torch.randint(0, 10, (32,))
    loss = nn.CrossEntropyLoss()(model(data), target)
    loss.backward()
    optimizer.step()
    return model, loss.item()


def norm(tensors):
    return float(np.sqrt(sum((tensor.detach().double().numpy() ** 2).sum() for tensor in tensors)))


def test_the_basic_step_gives_the_numbers_of_plain_torch_and_changes_no_bit(examples, capsys):
    left = examples.run("tools/14")
    torch.manual_seed(0)
    model, loss = plain_step()
    metrics = left["metrics"]
    assert set(metrics) == METRICS
    assert metrics["loss"] == loss
    assert metrics["gradient_norm"] == pytest.approx(norm(each.grad for each in model.parameters()), rel=1e-5)
    assert metrics["param_norm"] == pytest.approx(norm(model.parameters()), rel=1e-5)
    for ours, theirs in zip(left["model"].parameters(), model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
        assert torch.equal(ours.grad, theirs.grad)
    said = capsys.readouterr().out
    assert f"Loss: {loss:.4f}\n" in said
    assert f"Gradient norm: {metrics['gradient_norm']:.4f}\n" in said
    assert f"Execution time: {metrics['execution_time']:.4f}s\n" in said


def test_the_basic_step_is_timed_and_its_memory_is_that_of_the_process(examples):
    left = examples.run("tools/14")
    resident = psutil.Process().memory_info().rss / MEBIBYTE
    assert 0 < left["metrics"]["execution_time"] < 60
    assert left["metrics"]["cpu_memory"] == pytest.approx(resident, rel=0.3)
    if not torch.cuda.is_available():
        assert left["metrics"]["gpu_memory"] is None


def test_an_inference_is_timed_and_answers_what_the_model_answers(examples, capsys, tmp_path):
    model = nn.Sequential(nn.Linear(784, 10))
    left = examples.run("tools/15", model=model)
    result = left["inference_result"]
    resident = psutil.Process().memory_info().rss / MEBIBYTE
    assert result["execution_time"] > 0
    assert result["cpu_memory"] == pytest.approx(resident, rel=0.3)
    assert torch.equal(result["output"], model(left["input_data"]))
    assert (tmp_path / "custom_debug_outputs").is_dir()
    said = capsys.readouterr().out
    assert re.search(r"^Inference time: \d+\.\d{4}s$", said, re.MULTILINE)
    assert re.search(r"^Memory usage: \d+\.\d{2} MB$", said, re.MULTILINE)


def test_raise_raises_on_a_model_that_is_not_a_number_anymore(examples):
    model = nn.Sequential(nn.Linear(784, 10))
    with torch.no_grad():
        model[0].weight[3, 5] = float("nan")
    with pytest.raises(torchmagic.NonFiniteError, match="0"):
        examples.run("tools/15", model=model)


def loop(lesson, batches):
    names = {"config": config(), "num_epochs": 4, "train_loader": batches, "loss_fn": lesson["criterion"]}
    return {**names, "model": lesson["model"], "optimizer": lesson["optimizer"]}


def plain_losses(lesson, batches):
    """Return the losses of four epochs of plain torch, on a copy of the model."""
    model, losses = copy.deepcopy(lesson["model"]), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for data, target in batches * 4:
        optimizer.zero_grad()
        loss = lesson["criterion"](model(data), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_training_loop_learns_and_is_reported_step_by_step(examples, lesson, capsys):
    data, target = lesson["data"], lesson["target"]
    batches = [(data[:16], target[:16]), (data[16:], target[16:])]
    expected = plain_losses(lesson, batches)
    left = examples.run("tools/16", **loop(lesson, batches))
    losses = re.findall(r"^  Loss: ([\d.]+)$", capsys.readouterr().out, re.MULTILINE)
    assert losses == [f"{each:.4f}" for each in expected]
    assert sum(expected[-2:]) < sum(expected[:2]) / 2
    report = left["report"]
    assert report["operation_breakdown"]["forward_pass"] == 8
    assert report["operation_breakdown"]["backward_pass"] == 8
    assert report["summary"]["anomalies_detected"] == 0
    assert report["summary"]["debug_mode"] == "full_debug"
    assert report["gradient_analysis"]["max_gradient_norm"] > report["gradient_analysis"]["average_gradient_norm"] > 0
    history = left["debug_manager"].debugger.debug_history
    assert [(each.epoch, each.batch) for each in history if each.operation == "forward_pass"] == [
        (epoch, batch) for epoch in range(4) for batch in range(2)
    ]


def test_a_step_that_fails_is_told_and_the_loop_goes_on(examples, lesson, capsys):
    good = (lesson["data"], lesson["target"])
    left = examples.run("tools/16", **loop(lesson, [good, (torch.randn(4, 5), torch.randn(4, 1)), good]))
    said = capsys.readouterr().out
    assert said.count("Error in training step: mat1 and mat2 shapes cannot be multiplied") == 4
    assert said.count("  Loss: ") == 8
    assert left["report"]["summary"]["anomalies_detected"] == 8
    assert left["report"]["operation_breakdown"]["forward_pass"] == 12
    assert left["report"]["operation_breakdown"]["backward_pass"] == 8


def test_a_batch_that_is_not_a_number_is_an_anomaly_in_the_report(examples, lesson):
    bad = lesson["data"].clone()
    bad[2, 3] = float("nan")
    given = loop(lesson, [(bad, lesson["target"])]) | {"num_epochs": 1}
    left = examples.run("tools/16", **given)
    found = [each for each in left["debug_manager"].debugger.debug_history if each.anomaly_detected]
    assert {each.operation for each in found} >= {"forward_pass"}
    assert left["report"]["summary"]["anomalies_detected"] == len(found)


def test_a_context_tells_its_time_within_and_after_it(examples, capsys):
    model = nn.Sequential(*(nn.Linear(512, 512) for _ in range(8)))
    manager = torchmagic.PyTorchDebugManager(config())
    left = examples.run("tools/17", debug_manager=manager, model=model, input_data=torch.randn(512, 512))
    said = re.search(r"Operation completed in ([\d.]+)s\nMemory usage: -?[\d.]+ MB", capsys.readouterr().out)
    assert 0 < float(said[1]) <= left["debug_info"].execution_time + 1e-4
    assert left["debug_info"].operation == "custom_operation"
    assert left["debug_info"].model_name == "my_model"
    assert isinstance(left["debug_info"].timestamp, datetime)
    assert manager.debugger.debug_history[-1] is left["debug_info"]


@pytest.mark.parametrize(("name", "kind"), [("tools/11", "DebugMode"), ("tools/12", "DebugLevel")])
def test_choices_have_the_members_of_the_document(examples, name, kind):
    names = examples.run(name, Enum=Enum)
    ours = {member.name: member.value for member in getattr(torchmagic, kind)}
    assert {member.name: member.value for member in names[kind]}.items() <= ours.items()


def test_settings_have_the_fields_and_defaults_of_the_document(examples):
    theirs = examples.run("tools/13", dataclass=dataclass)["DebugConfig"]()
    ours = torchmagic.DebugConfig()
    for field in dataclasses.fields(theirs):
        assert getattr(ours, field.name) == getattr(theirs, field.name), field.name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tools/20", {"mode": "anomaly_detection", "level": "basic", "anomaly_detection_mode": "warn"}),
        ("tools/21", {"mode": "full_debug", "level": "expert", "log_weights": True, "save_debug_info": True}),
        ("tools/22", {"mode": "memory_profiling", "level": "intermediate", "save_debug_info": False}),
    ],
)
def test_settings_say_what_was_set_and_come_back_from_plain_values(examples, name, expected):
    config = examples.run(name)["config"]
    plain = config.to_dict()
    assert {key: plain[key] for key in expected} == expected
    assert torchmagic.DebugConfig.from_dict(plain) == config


@pytest.mark.parametrize(("name", "writes"), [("tools/21", True), ("tools/22", False)])
def test_a_step_under_each_of_the_settings_writes_what_they_ask_for(examples, lesson, tmp_path, name, writes):
    manager = torchmagic.PyTorchDebugManager(examples.run(name)["config"])
    step = (lesson["model"], lesson["optimizer"], lesson["criterion"], lesson["data"], lesson["target"])
    metrics = manager.debug_training_step(*step)
    assert set(metrics) == METRICS
    written = [each for each in (tmp_path / "debug_outputs").rglob("*") if each.is_file()]
    assert bool(written) is writes


def test_warn_warns_and_goes_on(examples, lesson):
    manager = torchmagic.PyTorchDebugManager(examples.run("tools/20")["config"])
    bad = torch.full_like(lesson["data"], float("nan"))
    with pytest.warns(RuntimeWarning, match="data are not finite"):
        metrics = manager.debug_training_step(
            lesson["model"], lesson["optimizer"], lesson["criterion"], bad, lesson["target"]
        )
    assert np.isnan(metrics["loss"])


def test_the_norm_is_that_of_the_sketch(examples, lesson):
    lesson["criterion"](lesson["model"](lesson["data"]), lesson["target"]).backward()
    sketch = examples.run("tools/06")["_check_gradients"]
    debugger = torchmagic.PyTorchDebugger(config())
    assert debugger.check_gradients(lesson["model"])["gradient_norm"] == pytest.approx(
        sketch(debugger, lesson["model"]), rel=1e-5
    )


def test_the_sketch_of_a_step_works_with_our_debugger(examples, lesson):
    manager = torchmagic.PyTorchDebugManager(config())
    sketch = examples.run("tools/10", Callable=Callable)["debug_training_step"]
    step = (lesson["model"], lesson["optimizer"], lesson["criterion"], lesson["data"], lesson["target"])
    with manager.debugger.debug_context("training_step"):
        theirs = sketch(manager, *step, epoch=1)
    ours = manager.debug_training_step(*step, epoch=2)
    assert set(theirs) == set(ours) == METRICS
    assert ours["loss"] < theirs["loss"]


def as_sketched(info):
    """Return what was measured as the sketch has it: with a zero where nothing was."""
    names = ("execution_time", "memory_usage", "gpu_memory", "gradient_norm", "operation")
    flags = ("anomaly_detected", "memory_leak_detected", "performance_issue_detected")
    return SimpleNamespace(**{name: getattr(info, name) or 0 for name in (*names, *flags)})


def test_the_report_has_the_groups_and_numbers_of_the_sketch(examples, lesson):
    manager = torchmagic.PyTorchDebugManager(config())
    step = (lesson["model"], lesson["optimizer"], lesson["criterion"], lesson["data"], lesson["target"])
    for batch in range(3):
        manager.debug_training_step(*step, batch=batch)
    history = manager.debugger.debug_history
    sketch = examples.run("tools/18", Dict=dict, Any=Any, np=np, defaultdict=defaultdict)["create_debug_report"]
    told = SimpleNamespace(config=manager.debugger.config, debug_history=[as_sketched(each) for each in history])
    theirs = sketch(told)
    ours = manager.debugger.create_debug_report()
    assert {group: set(content) for group, content in theirs.items()}.items() <= {
        group: set(content) for group, content in ours.items()
    }.items()
    assert ours["summary"] == theirs["summary"]
    assert ours["operation_breakdown"] == theirs["operation_breakdown"]
    assert ours["gradient_analysis"]["max_gradient_norm"] == theirs["gradient_analysis"]["max_gradient_norm"]
    assert ours["performance_analysis"]["max_execution_time"] == theirs["performance_analysis"]["max_execution_time"]


def test_the_plots_are_drawn_to_the_documents_file(lesson, tmp_path):
    manager = torchmagic.PyTorchDebugManager(config(debug_output_dir=str(tmp_path / "here")))
    step = (lesson["model"], lesson["optimizer"], lesson["criterion"], lesson["data"], lesson["target"])
    manager.debug_training_step(*step)
    manager.debugger.create_debug_plots()
    assert (tmp_path / "here" / "debug_analysis.png").read_bytes().startswith(b"\x89PNG")
