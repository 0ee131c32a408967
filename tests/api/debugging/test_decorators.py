"""A debugger without ceremony: the ``with`` block of one document, the decorator of another."""

import asyncio

import pytest
import torch
from torch import nn
from torch.nn import functional

import torchmagic
from torchmagic import DebugConfig, DebugLevel, DebugMode, PyTorchDebugger, debug_context, debug_operation


def pieces():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3))
    return net, torch.optim.SGD(net.parameters(), lr=0.1), torch.randn(8, 4), torch.randint(0, 3, (8,))


def training_step(model, data, target, optimizer, criterion):
    """Make a step."""
    optimizer.zero_grad()
    loss = criterion(model(data), target)
    loss.backward()
    optimizer.step()
    return loss


def test_a_block_is_watched_by_a_debugger_of_its_own():
    net, opt, x, y = pieces()
    with debug_context(DebugLevel.BASIC) as debugger:
        training_step(net, x, y, opt, functional.cross_entropy)
        assert debugger.check_gradients(net)["gradient_anomalies"] == []
    assert isinstance(debugger, PyTorchDebugger)
    run = torchmagic.session.last
    assert (run.name, run.steps, run.settings["level"]) == ("debug_context", 1, "basic")
    assert debugger.debug_history[-1].run_id == run.id


def test_a_wrong_level_is_told_before_the_block_runs():
    with pytest.raises(ValueError, match="level: 'deep'"), debug_context("deep"):
        pytest.fail("the block ran")


@pytest.mark.parametrize("mode", list(DebugMode))
def test_a_decorated_function_computes_the_same_bits(mode):
    net, opt, x, y = pieces()
    torch.manual_seed(1)
    expected = [training_step(net, x, y, opt, functional.cross_entropy).item() for _ in range(3)]
    mine, opt, x, y = pieces()
    decorated = debug_operation(debug_mode=mode)(training_step)
    torch.manual_seed(1)
    assert [decorated(mine, x, y, opt, functional.cross_entropy).item() for _ in range(3)] == expected
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), mine.parameters(), strict=True))
    assert (decorated.__name__, decorated.__doc__) == ("training_step", "Make a step.")
    assert decorated.debugger.get_debug_summary()["total_operations"] == 3
    assert {info.operation for info in decorated.debugger.debug_history} == {"training_step"}
    assert {info.mode for info in decorated.debugger.debug_history} == {mode}


def test_torchs_own_detection_catches_issues_in_a_decorated_function():
    @debug_operation(debug_mode=DebugMode.ANOMALY_DETECTION)
    def step():
        weight = torch.zeros(3, requires_grad=True)
        (torch.sqrt(weight) * 0).sum().backward()

    with pytest.raises(RuntimeError, match="nan values in its 0th output"):
        step()
    assert step.debugger.debug_history[-1].anomaly_detected
    assert not torch.is_anomaly_enabled()


def test_the_decorator_needs_no_brackets_and_takes_a_configuration():
    assert debug_operation(training_step).debugger.config.mode is DebugMode.FULL_DEBUG
    decorated = debug_operation(config=DebugConfig("memory_profiling"), operation="my step")(lambda: 3)
    assert decorated() == 3
    assert torchmagic.session.last.name == "my step"


@pytest.mark.parametrize("wrong", ["basic", DebugMode.FULL_DEBUG])
def test_what_is_no_function_is_refused_in_one_line(wrong):
    with pytest.raises(TypeError, match=r"debug_operation decorates a function.*name a mode as debug_mode="):
        debug_operation(wrong)


def test_a_coroutine_is_watched_until_it_ends():
    net, opt, x, y = pieces()

    @debug_operation(debug_mode=DebugMode.GRADIENT_CHECKING)
    async def step():
        await asyncio.sleep(0)
        training_step(net, x, y, opt, functional.cross_entropy)
        return "done"

    assert asyncio.run(step()) == "done"
    assert torchmagic.session.last.steps == 1
    assert step.debugger.debug_history[-1].gradient_norm > 0
