"""What only a CUDA device shows: its memory, float16 with scaled losses, fused kernels."""

import pytest
import torch
from torch import nn

from torchmagic import PyTorchOptimizer, optimize_model

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")]


def test_modes_agree_and_memory_is_that_of_the_device(case):
    one = case("cnn", lambda parameters, lr: torch.optim.SGD(parameters, lr=lr))
    model = one.training.model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    modes = ["none", "amp", "memory_efficient", "channels_last", "fused_optimizer"]
    results = PyTorchOptimizer().benchmark_optimizations(
        model, one.batches, optimizer, nn.CrossEntropyLoss(), modes=modes
    )
    assert all(each["memory"] > 0 for each in results.values())
    told = {mode: each["agreement"] for mode, each in results.items()}
    assert all(each.startswith("same") for each in told.values()), told
    found = PyTorchOptimizer().optimize_training_loop(
        model,
        one.batches,
        optimizer,
        nn.CrossEntropyLoss(),
        optimization_mode="amp",
        dtype=torch.float16,
        progress=False,
    )
    assert found["optimization_metrics"]["gpu_memory"] > 0
    assert found["optimization_metrics"]["agreement"] == "same within fp16 rounding"


def test_threads_do_not_apply_to_a_device():
    model = optimize_model(nn.Linear(2, 2).cuda(), "threads")
    assert model.optimization_metrics.notes == ("threads: the model does not run on the CPU",)
