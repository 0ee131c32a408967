"""A training under the debuggers of the documents."""

from typing import Any, assert_type

import torch
from torch import nn

from torchmagic import (
    DebugConfig,
    DebugInfo,
    DebugLevel,
    DebugMetrics,
    DebugMode,
    DiffusionModelDebugger,
    PyTorchDebugger,
    PyTorchDebugManager,
    TensorAnalysis,
    TrainingDebugger,
    debug_context,
    debug_operation,
)


def configured() -> DebugConfig:
    config = DebugConfig(mode=DebugMode.FULL_DEBUG, level=DebugLevel.ADVANCED, debug_memory_usage=True)
    assert_type(config.to_dict(), dict[str, Any])
    assert_type(DebugConfig.from_dict({"mode": "none"}), DebugConfig)
    assert_type(DebugConfig.from_environment({}), DebugConfig)
    return config


def debuggers() -> list[PyTorchDebugger]:
    return [
        PyTorchDebugger(),
        PyTorchDebugger(configured()),
        PyTorchDebugger(DebugLevel.ADVANCED),
        PyTorchDebugger(debug_mode=DebugMode.FULL_DEBUG),
    ]


def stepped(debugger: PyTorchDebugger, model: nn.Module, data: torch.Tensor) -> float | None:
    with debugger.debug_context("step", "model", epoch=1, batch=2) as info:
        assert_type(info, DebugInfo)
        same: DebugMetrics = info
        loss = debugger.debug_forward_pass(model, data).mean()
        debugger.debug_backward_pass(loss, model)
    assert_type(info.execution_time, float)
    assert_type(info.gpu_memory, float | None)
    assert_type(debugger.check_gradient_explosion(model, threshold=10.0), list[str])
    assert_type(debugger.check_gradient_vanishing(model, threshold=1e-6), list[str])
    assert_type(debugger.get_debug_summary(), dict[str, Any])
    assert_type(debugger.get_debugging_status(), dict[str, bool])
    debugger.enable_debugging(["memory_usage"])
    debugger.clear_debug_history()
    return same.gradient_norm


def analysed(debugger: PyTorchDebugger, model: nn.Module, data: torch.Tensor) -> list[str]:
    found = debugger.analyze_tensor(data, "data")
    assert_type(found, TensorAnalysis)
    assert_type(found.has_nan, bool)
    assert_type(found.mean_value, float | None)
    assert_type(found.shape, tuple[int, ...])
    return [name for name, each in debugger.analyze_model_parameters(model).items() if each.has_nan]


def within(model: nn.Module, data: torch.Tensor) -> None:
    with debug_context(DebugLevel.BASIC) as debugger:
        assert_type(debugger, PyTorchDebugger)
        with debugger.autograd_anomaly_detection():
            model(data).mean().backward()


@debug_operation(debug_mode=DebugMode.ANOMALY_DETECTION)
def step(model: nn.Module, data: torch.Tensor) -> float:
    return float(model(data).mean())


def managed(model: nn.Module, optimizer: torch.optim.Optimizer, data: torch.Tensor) -> dict[str, Any]:
    manager = PyTorchDebugManager(configured())
    assert_type(manager.debugger, PyTorchDebugger)
    manager.setup_training_logging("types")
    assert_type(step(model, data), float)
    manager.debug_training_step(model, optimizer, nn.MSELoss(), data, data, epoch=0, batch=0)
    return manager.create_comprehensive_report()


def monitored(model: nn.Module, loss: torch.Tensor) -> dict[str, Any]:
    debugger = TrainingDebugger(DebugLevel.EXTREME)
    assert_type(debugger.monitor_training_step(model, loss, 0), dict[str, Any])
    return debugger.get_training_summary()


def diffused(pipeline: object, latents: torch.Tensor) -> None:
    debugger = DiffusionModelDebugger("basic")
    debugger.analyze_diffusion_pipeline(pipeline)
    debugger.monitor_diffusion_step(pipeline, 0, latents)


DebugConfig(debug_memory_usage="yes please")  # type: ignore[arg-type] # a switch is a bool
DebugConfig(debug_memori_usage=True)  # type: ignore[call-arg] # there is no such switch
PyTorchDebugger().check_gradients()  # type: ignore[call-arg] # of which model?
step("model", torch.ones(1))  # type: ignore[arg-type] # the decorator keeps the function's own types
