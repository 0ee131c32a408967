"""A training that is made faster, by function and by decorator."""

from typing import Any, assert_type

import torch
from torch import nn

from torchmagic import OptimizationMetrics, OptimizationMode, OptimizedModel, PyTorchOptimizer, optimize_model


@optimize_model(optimization_mode=OptimizationMode.AMP)
def inference_step(model: nn.Module, data: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        output: torch.Tensor = model(data)
        return output


@optimize_model
def plain_step(model: nn.Module, data: torch.Tensor) -> int:
    return int(model(data).argmax())


def faster(model: nn.Module, data: torch.Tensor) -> torch.Tensor:
    optimized = optimize_model(model, OptimizationMode.MEMORY_EFFICIENT)
    assert_type(optimized, OptimizedModel)
    module: nn.Module = optimized
    assert_type(optimized.optimization_metrics, OptimizationMetrics)
    assert_type(optimized.optimization_metrics.speedup_factor, float | None)
    assert_type(inference_step(module, data), torch.Tensor)
    assert_type(plain_step(module, data), int)
    return inference_step(optimize_model(model, "amp"), data)


def compared(model: nn.Module, loader: "torch.utils.data.DataLoader[Any]") -> list[str]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    results = PyTorchOptimizer().benchmark_optimizations(
        model=model, dataloader=loader, optimizer=optimizer, criterion=nn.MSELoss(), epochs=1
    )
    return [str(mode) for mode, result in results.items() if "error" not in result]


inference_step(1, torch.ones(1))  # type: ignore[arg-type] # the decorator keeps the function's own types
optimize_model(3)  # type: ignore[call-overload] # neither a model nor a function
