"""The examples of "PyTorch Debugging Tools Implementation Summary": switches by name, and what each of them shows."""

import dataclasses
import logging
from dataclasses import dataclass

import pytest
import torch
from torch import nn

import torchmagic
from torchmagic.records.costs import CostsRecord

PARTS = {
    "memory_usage",
    "gradient_norms",
    "forward_pass",
    "backward_pass",
    "device_placement",
    "mixed_precision",
    "data_loading",
    "validation",
    "early_stopping",
    "lr_scheduling",
}
ENABLED = {"autograd_anomaly", "autograd_profiler", "tensorboard_profiler"}


@pytest.fixture
def engine():
    return torchmagic.PyTorchDebugger()


def test_settings_have_the_switches_of_the_document_and_all_are_off(examples):
    theirs = examples.run("summary/01", dataclass=dataclass)["SEOConfig"]()
    ours = torchmagic.DebugConfig()
    names = [field.name for field in dataclasses.fields(theirs)]
    assert len(names) == 13
    assert {name: getattr(ours, name) for name in names} == dict.fromkeys(names, False)


def parts(status):
    """Return the names that the document has in its lists, without what stands in front of them in the settings."""
    return {name.removeprefix("debug_").removeprefix("enable_"): is_on for name, is_on in status.items()}


def on(engine):
    return {name for name, is_on in parts(engine.get_debugging_status()).items() if is_on is True}


def test_parts_are_switched_on_and_off_by_name(examples, engine):
    seen = [(on(engine), statement) for statement, _ in examples.statements("summary/02", engine=engine)]
    assert [statement.partition("(")[0] for _, statement in seen] == [
        "engine.enable_debugging",
        "engine.enable_debugging",
        "engine.disable_debugging",
        "status = engine.get_debugging_status",
    ]
    assert seen[0][0] >= PARTS | ENABLED
    assert not seen[2][0] & (PARTS | ENABLED)


def test_the_status_tells_every_part(examples, engine):
    status = examples.run("summary/02", engine=engine)["status"]
    assert set(parts(status)) >= PARTS | ENABLED


def test_only_what_is_named_is_switched_on():
    engine = torchmagic.PyTorchDebugger(torchmagic.DebugConfig())
    engine.enable_debugging(["memory_usage", "gradient_norms"])
    assert on(engine) & PARTS == {"memory_usage", "gradient_norms"}
    engine.disable_debugging(["memory_usage"])
    assert on(engine) & PARTS == {"gradient_norms"}


def test_a_part_that_is_not_there_is_refused_by_name(engine):
    with pytest.raises(ValueError, match="memory"):
        engine.enable_debugging(["memori_usage"])


def test_what_the_log_examples_show_is_logged(examples, caplog, lesson):
    shown = examples.text("summary/08")
    assert "Input shape: torch.Size([2, 64])" in shown
    assert "NaN/Inf gradient detected in classifier.weight: nan" in shown
    caplog.set_level(logging.DEBUG)
    debugger = torchmagic.PyTorchDebugger(torchmagic.DebugConfig(debug_forward_pass=True, debug_gradient_norms=True))
    model = nn.Sequential()
    model.add_module("classifier", nn.Linear(64, 2))
    loss = debugger.debug_forward_pass(model, torch.ones(2, 64)).sum() * float("nan")
    debugger.debug_backward_pass(loss, model)
    said = [record.getMessage() for record in caplog.records]
    assert "forward_pass: input of shape (2, 64), float32 on cpu" in said
    assert "forward_pass: output of shape (2, 2), float32 on cpu" in said
    assert "backward_pass: loss of shape (), float32 on cpu: nan" in said
    assert "backward_pass: classifier.weight: 128 NaN among 128 gradient values" in said
    assert all(line.isascii() for line in said)


def test_a_model_is_profiled_over_a_loader(lesson):
    rows = list(zip(lesson["data"], lesson["target"], strict=True))
    debugger = torchmagic.PyTorchDebugger()
    lesson["model"].train()
    before = {name: value.clone() for name, value in lesson["model"].state_dict().items()}
    loader = torch.utils.data.DataLoader(rows, batch_size=4)
    run = debugger.profile_model_performance(loader, num_batches=3, model=lesson["model"])
    assert "aten::addmm" in {each.name for each in run.of(CostsRecord)[-1].operators}
    assert lesson["model"].training
    for name, value in lesson["model"].state_dict().items():
        assert torch.equal(value, before[name])
