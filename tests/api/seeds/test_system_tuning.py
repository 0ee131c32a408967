"""The examples of "PyTorch Debugging and Optimization System" that optimise: answers stay, times are measured."""

import pytest
import torch
from torch import nn

import torchmagic

AMP_OF_CUDA = "ignore:.*torch.cuda.amp:FutureWarning"
NO_CUDA = "ignore:.*CUDA is not available.*:UserWarning"
# torch's compiler warns of its own parts while it is loaded
OF_INDUCTOR = "ignore:.*torch.jit.script_method.*:DeprecationWarning"


@pytest.fixture
def debugger():
    return torchmagic.PyTorchDebugger(debug_mode=torchmagic.DebugMode.NONE)


@pytest.fixture
def loader(lesson):
    rows = list(zip(lesson["data"], lesson["target"], strict=True))
    return torch.utils.data.DataLoader(rows, batch_size=16)


def loss_of(lesson, model=None):
    with torch.no_grad():
        return lesson["criterion"]((model or lesson["model"])(lesson["data"]), lesson["target"]).item()


def test_an_optimised_model_is_another_object_and_is_told(examples, debugger, lesson, capsys):
    left = examples.run("system/05", debugger=debugger, **lesson)
    assert left["optimized_model"] is not lesson["model"]
    said = capsys.readouterr().out
    assert said.startswith("Model optimized: True\nOptimization metrics: ")
    assert debugger.optimization_metrics[-1].mode is torchmagic.OptimizationMode.FULL_OPTIMIZATION


def test_a_training_loop_is_optimised_and_learns(examples, debugger, lesson, loader, capsys):
    before = loss_of(lesson)
    given = {"model": lesson["model"], "criterion": lesson["criterion"], "train_loader": loader}
    left = examples.run("system/06", debugger=debugger, **given)
    assert isinstance(left["optimizer"], torchmagic.PyTorchOptimizer)
    assert left["result"]["total_time"] > 0
    assert left["result"]["optimization_metrics"]["speedup_factor"] > 0
    assert loss_of(lesson) < before
    assert any("torch.optim.Adam" in note for note in left["result"]["notes"])
    said = capsys.readouterr().out
    assert said.startswith(f"Training time: {left['result']['total_time']:.2f}s\nSpeedup factor: ")


class WithoutCompiling(torchmagic.PyTorchOptimizer):
    """The tool with the modes that need no compiler, each of which would take half a minute to try."""

    modes = ("none", "amp", "memory_efficient", "channels_last")

    def benchmark_optimizations(self, *args, **kwargs):
        return super().benchmark_optimizations(*args, modes=self.modes, **kwargs)


def test_modes_are_compared_and_leave_the_model_as_it_was(examples, debugger, lesson, loader, capsys):
    before = {name: value.clone() for name, value in lesson["model"].state_dict().items()}
    given = {"model": lesson["model"], "criterion": lesson["criterion"], "train_loader": loader}
    left = examples.run("system/07", optimizer=WithoutCompiling(debugger), **given)
    results = left["benchmark_results"]
    assert tuple(results) == WithoutCompiling.modes
    assert "error" in results["channels_last"]
    said = capsys.readouterr().out.splitlines()
    assert said == [f"{mode}: {result['total_time']:.2f}s" for mode, result in results.items() if "error" not in result]
    assert len(said) == 3
    for name, value in lesson["model"].state_dict().items():
        assert torch.equal(value, before[name]), name


def test_the_best_mode_is_one_that_works(examples, debugger, lesson, loader):
    given = {"model": lesson["model"], "criterion": lesson["criterion"], "dataloader": loader}
    left = examples.run("system/28", optimizer=WithoutCompiling(debugger), **given)
    times = {mode: result["total_time"] for mode, result in left["results"].items()}
    assert left["best_mode"] == min(times, key=times.get) != "channels_last"
    assert all(time > 0 for time in times.values())


@pytest.mark.filterwarnings(AMP_OF_CUDA, NO_CUDA)
def test_a_loop_with_amp_learns(examples, debugger, lesson):
    before = loss_of(lesson)
    examples.run("system/11", debugger=debugger, train_loader=range(20), **lesson)
    assert loss_of(lesson) < before


@pytest.mark.filterwarnings(OF_INDUCTOR)
def test_a_compiled_model_gives_the_same_answers(examples, debugger, lesson):
    left = examples.run("system/12", debugger=debugger, **lesson)
    with torch.no_grad():
        expected = lesson["model"](lesson["data"])
    assert torch.allclose(left["output"], expected, atol=1e-5)


def test_running_forward_again_changes_the_training_by_no_more_than_rounding(examples, debugger, lesson):
    twin = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    twin.load_state_dict(lesson["model"].state_dict())
    optimizer = torch.optim.SGD(twin.parameters(), lr=0.05)
    for _ in range(3):
        optimizer.zero_grad()
        lesson["criterion"](twin(lesson["data"]), lesson["target"]).backward()
        optimizer.step()
    left = examples.run("system/13", debugger=debugger, train_loader=range(3), **lesson)
    for ours, theirs in zip(lesson["model"].parameters(), twin.parameters(), strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-7)
    assert left["optimized_model"].optimization_metrics.checkpointing_enabled


def test_a_decorated_function_answers_as_the_model_does(examples, lesson):
    left = examples.run("system/17", **lesson)
    with torch.no_grad():
        expected = lesson["model"](lesson["data"])
    assert torch.allclose(left["output"].float(), expected, atol=0.1)
    assert left["inference_step"].__name__ == "inference_step"


def test_amp_is_one_call(examples, debugger, lesson):
    left = examples.run("system/27", debugger=debugger, **lesson)
    assert left["optimized_model"](lesson["data"]).shape == (32, 1)
    assert debugger.optimization_metrics[-1].mode is torchmagic.OptimizationMode.AMP


def test_optimisations_are_listed(examples, debugger, lesson, capsys):
    debugger.optimize_model(lesson["model"], torchmagic.OptimizationMode.AMP)
    debugger.optimize_model(lesson["model"], torchmagic.OptimizationMode.MEMORY_EFFICIENT)
    examples.run("system/20", debugger=debugger)
    said = capsys.readouterr().out
    assert "Optimization: amp\n" in said
    assert "Optimization: memory_efficient\n" in said
    assert said.count("  Execution time: ") == 2
    assert said.count("  AMP enabled: ") == 2
