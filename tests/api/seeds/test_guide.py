"""The examples of the "PyTorch Debugging Guide": tensors, gradients, training and diffusion steps, and its cures."""

import copy
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

import torchmagic


def stepped(names):
    """Return the weights after one step of plain torch."""
    model = copy.deepcopy(names["model"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(names["inputs"]).backward()
    optimizer.step()
    return dict(model.named_parameters())


def test_a_step_in_the_context_is_the_step_of_plain_torch(examples, fit):
    names = fit()
    expected = stepped(names)
    left = examples.run("guide/01", **names)
    assert isinstance(left["debugger"], torchmagic.PyTorchDebugger)
    assert left["debugger"].config.level is torchmagic.DebugLevel.ADVANCED
    for name, weight in names["model"].named_parameters():
        assert torch.equal(weight, expected[name]), name


def test_the_context_tells_of_a_backward_that_is_not_a_number(fit):
    names = fit(breaks=1)
    with (
        pytest.warns(RuntimeWarning, match="mul made a non-finite value in"),
        torchmagic.debug_context(torchmagic.DebugLevel.BASIC) as debugger,
    ):
        names["model"](names["inputs"]).backward()
    assert debugger.get_debug_summary()["total_anomalies"] >= 1


def test_anomaly_detection_of_autograd_raises_where_torch_does_and_is_off_afterwards():
    debugger = torchmagic.PyTorchDebugger(torchmagic.DebugLevel.ADVANCED)
    value = torch.tensor([-1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"(?i)sqrt"), debugger.autograd_anomaly_detection():
        torch.sqrt(value).sum().backward()
    assert not torch.is_anomaly_enabled()


def test_steps_that_are_sound_have_a_rate_of_zero(examples, fit, capsys):
    left = examples.run("guide/02", num_steps=4, **fit())
    assert capsys.readouterr().out == "Anomaly rate: 0.00%\n"
    assert left["summary"]["total_steps"] == 4
    assert left["summary"]["anomaly_steps"] == 0
    assert left["summary"]["anomaly_rate"] == 0


def test_steps_that_are_not_numbers_are_counted(examples, fit, capsys):
    left = examples.run("guide/02", num_steps=5, **fit(breaks=3))
    assert capsys.readouterr().out == "Anomaly rate: 60.00%\n"
    summary = left["summary"]
    assert (summary["total_steps"], summary["anomaly_steps"], summary["loss_anomalies"]) == (5, 3, 3)
    assert summary["loss_anomaly_rate"] == pytest.approx(0.6)


class Unet(nn.Module):
    """A denoiser with the documents' arguments; what it returns is not a number from its third step on."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 3, padding=1)
        self.condition = nn.Linear(6, 4)
        self.calls = 0

    def forward(self, latents, timestep, encoder_hidden_states):
        self.calls += 1
        shift = self.condition(encoder_hidden_states).mean(dim=1)[:, :, None, None]
        latents = self.conv(latents) + shift * timestep
        return latents * math.nan if self.calls >= 3 else latents


def test_a_diffusion_pipeline_is_counted_and_its_steps_are_followed(examples, capsys):
    pipeline = SimpleNamespace(
        unet=Unet(), vae=nn.Conv2d(3, 4, 1), text_encoder=nn.Embedding(10, 6), scheduler=object()
    )
    given = {"latents": torch.randn(2, 4, 8, 8), "encoder_hidden_states": torch.randn(2, 5, 6), "timestep": 0.5}
    left = examples.run("guide/03", pipeline=pipeline, num_inference_steps=3, **given)
    modules = (pipeline.unet, pipeline.vae, pipeline.text_encoder)
    total = sum(each.numel() for module in modules for each in module.parameters())
    assert left["pipeline_analysis"]["total_parameters"] == total
    assert capsys.readouterr().out.startswith(f"Total parameters: {total}\n")
    assert left["debugger"].get_debug_summary()["total_anomalies"] == 1


@pytest.mark.filterwarnings("ignore")  # what diffusers warns of while it is imported is its own
def test_a_unet_of_diffusers_is_counted_and_its_output_is_looked_into(examples):
    diffusers = pytest.importorskip("diffusers")
    unet = diffusers.UNet2DConditionModel(
        sample_size=8,
        layers_per_block=1,
        block_out_channels=(4, 8),
        norm_num_groups=2,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=6,
        attention_head_dim=2,
    )
    with torch.no_grad():
        unet.conv_out.bias[0] = math.nan
    given = {"latents": torch.randn(1, 4, 8, 8), "encoder_hidden_states": torch.randn(1, 5, 6), "timestep": 10}
    left = examples.run("guide/03", pipeline=SimpleNamespace(unet=unet), num_inference_steps=1, **given)
    assert left["pipeline_analysis"]["total_parameters"] == sum(each.numel() for each in unet.parameters())
    assert left["debugger"].get_debug_summary()["total_anomalies"] == 1


def test_a_tensor_and_parameters_that_are_not_numbers_are_named(examples, capsys):
    tensor = torch.tensor([1.0, math.nan, 3.0])
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    with torch.no_grad():
        model[1].weight[0, 0] = math.nan
    left = examples.run("guide/04", my_tensor=tensor, model=model)
    said = capsys.readouterr().out
    assert said.startswith("Has NaN: True\nMean value: ")
    assert said.endswith("\nParameter 1.weight has NaN values\n")
    assert said.count("has NaN values") == 1
    assert set(left["param_analysis"]) == {"0.weight", "0.bias", "1.weight", "1.bias"}


def test_the_numbers_of_a_tensor_are_those_of_numpy(examples, capsys):
    tensor = torch.randn(7, 5)
    info = examples.run("guide/04", my_tensor=tensor, model=nn.Linear(2, 2))["tensor_info"]
    values = tensor.double().numpy()
    assert "Has NaN: False\n" in capsys.readouterr().out
    assert info.mean_value == pytest.approx(values.mean(), rel=1e-5)
    assert info.std_value == pytest.approx(values.std(ddof=1), rel=0.05)
    assert (info.min_value, info.max_value) == (pytest.approx(values.min()), pytest.approx(values.max()))
    assert tuple(info.shape) == (7, 5)
    assert not info.has_inf


@pytest.fixture
def planted():
    """A model one gradient of which explodes, one vanishes, and the others are as they should be."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    model[0].weight.grad = torch.full((3, 3), 100.0)
    model[1].bias.grad = torch.full((2,), 1e-9)
    return model


def test_the_gradients_that_explode_and_vanish_are_named(examples, planted, norm_of_gradients, capsys):
    left = examples.run("guide/05", debugger=torchmagic.PyTorchDebugger(), model=planted)
    assert list(left["exploded_params"]) == ["0.weight"]
    assert list(left["vanished_params"]) == ["1.bias"]
    said = capsys.readouterr().out
    assert re.search(r"^Gradient explosion in: .*0\.weight", said, re.MULTILINE)
    assert re.search(r"^Gradient vanishing in: .*1\.bias", said, re.MULTILINE)
    norms = [info.grad_norm for info in left["gradient_info"].values()]
    assert math.hypot(*norms) == pytest.approx(norm_of_gradients(planted), rel=1e-5)


def test_sound_gradients_are_not_accused(examples, planted, capsys):
    planted[0].weight.grad, planted[1].bias.grad = torch.ones(3, 3), torch.ones(2)
    left = examples.run("guide/05", debugger=torchmagic.PyTorchDebugger(), model=planted)
    assert not left["exploded_params"]
    assert not left["vanished_params"]
    assert capsys.readouterr().out == ""


def test_a_loss_that_is_not_a_number_is_followed_to_inputs_and_parameters(examples, logger):
    inputs, model = torch.tensor([[1.0, math.inf]]), nn.Linear(2, 1)
    names = {"debugger": torchmagic.PyTorchDebugger(), "logger": logger, "learning_rate": 3.0}
    left = examples.run("guide/14", loss=torch.tensor(math.nan), inputs=inputs, model=model, **names)
    assert left["input_info"].has_inf
    assert not left["input_info"].has_nan
    assert not any(info.has_nan for info in left["param_info"].values())
    assert logger.lines == ["WARNING: Learning rate too high"]


def test_gradients_that_explode_are_clipped(examples, planted, norm_of_gradients):
    left = examples.run("guide/15", debugger=torchmagic.PyTorchDebugger(), model=planted)
    assert list(left["exploded_params"]) == ["0.weight"]
    assert norm_of_gradients(planted) == pytest.approx(1.0, rel=1e-4)


def test_gradients_that_vanish_are_named_where_the_guide_has_only_comments(examples, planted):
    left = examples.run("guide/16", ends="    pass\n", debugger=torchmagic.PyTorchDebugger(), model=planted)
    assert list(left["vanished_params"]) == ["1.bias"]


def test_the_memory_of_a_model_is_told_in_mebibytes(examples):
    model = nn.Sequential(nn.Linear(512, 512), nn.Linear(512, 1024))
    left = examples.run(
        "guide/17", ends="    pass\n", debugger=torchmagic.PyTorchDebugger(), model=model, available_memory=1e6
    )
    weights = sum(each.numel() * each.element_size() for each in model.parameters()) / 2**20
    assert left["total_memory"] == pytest.approx(weights, rel=0.01)
    assert left["memory_profile"]["0"] + left["memory_profile"]["1"] == pytest.approx(weights, rel=0.01)


def test_thresholds_decide_who_is_named(examples, planted):
    debugger = torchmagic.PyTorchDebugger()
    left = examples.run("guide/20", debugger=debugger, model=planted)
    assert (list(left["exploded_params"]), list(left["vanished_params"])) == (["0.weight"], ["1.bias"])
    assert list(debugger.check_gradient_explosion(planted, threshold=1000.0)) == []
    assert set(debugger.check_gradient_explosion(planted, threshold=1.0)) == {"0.weight", "0.bias", "1.weight"}


def test_the_summary_counts_anomalies_until_the_history_is_cleared(examples, logger):
    debugger = torchmagic.PyTorchDebugger()
    for _ in range(3):
        debugger.analyze_tensor(torch.tensor([math.nan]), "broken")
    given = {"debugger": debugger, "logger": logger}
    left = examples.run("guide/21", threshold=2, **given)
    assert left["summary"]["total_anomalies"] == 3
    assert logger.lines == ["WARNING: High anomaly rate detected"]
    examples.run("guide/22", debugger=debugger)
    left = examples.run("guide/21", threshold=2, **given)
    assert left["summary"]["total_anomalies"] == 0
    assert len(logger.lines) == 1


def test_mean_of_a_tensor_without_values_is_no_number_and_no_error():
    info = torchmagic.PyTorchDebugger().analyze_tensor(torch.empty(0), "empty")
    assert not info.has_nan
    assert info.mean_value is None or np.isnan(info.mean_value)
