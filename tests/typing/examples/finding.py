"""Settings that are found by measuring, trainings that a trainer runs, and ranks that are put together."""

from typing import Any, assert_type

import torch
from torch import nn, utils

import torchmagic
from torchmagic import (
    FoundSettings,
    LightningCallback,
    Run,
    TransformersCallback,
    find_batch_size,
    find_loader_settings,
    find_num_threads,
    gather,
)


def found(model: nn.Module, data: "utils.data.Dataset[Any]", loader: "utils.data.DataLoader[Any]") -> list[str]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sizes = find_batch_size(model, optimizer, nn.MSELoss(), data, time_limit=5.0)
    assert_type(sizes, FoundSettings)
    return [sizes.code, find_loader_settings(loader, model, optimizer, nn.MSELoss()).code, find_num_threads(model).code]


def watched_by_trainers() -> list[Run | None]:
    callbacks = [LightningCallback(level="basic").run, TransformersCallback(report="run.html").run]
    assert_type(callbacks, list[Run | None])
    return callbacks


def together() -> Run:
    with torchmagic.watch() as run:
        pass
    return gather(run, timeout=5.0)


find_batch_size(3)  # type: ignore[call-arg, arg-type] # no model, and nothing to train it with
