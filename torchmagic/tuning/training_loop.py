"""This file is the loop that trains: passes over a loader, a step a group of batches, a progress bar."""

import contextlib
from collections.abc import Iterable
from typing import Any

import torch
from tqdm.auto import tqdm

from torchmagic.tuning.copies import Training
from torchmagic.tuning.loading import grouped, steps_in
from torchmagic.tuning.setup import Setup, device_of
from torchmagic.tuning.training_step import TrainingStep


def train(
    training: Training, setup: Setup, loader: Iterable[Any], *, epochs: int, accumulation_steps: int, progress: bool
) -> list[list[float]]:
    """Train, and return the losses of each epoch, one an optimizer step; they are fetched once an epoch.

    Args:
        training: What is trained.
        setup: How.
        loader: Gives batches as the user has them.
        epochs: Passes over it.
        accumulation_steps: Batches a step.
        progress: Whether to show a bar.
    """
    step, device = TrainingStep(setup, training.criterion), device_of(training.model)
    has_criterion = training.criterion is not None
    total = steps_in(loader, accumulation_steps)
    by_epoch: list[list[float]] = []
    with contextlib.ExitStack() as stack:
        for context in setup.throughout:
            stack.enter_context(context())
        bar = stack.enter_context(tqdm(total=total and total * epochs, unit="step", disable=not progress, leave=False))
        for epoch in range(1, epochs + 1):
            losses = []
            for group in grouped(loader, accumulation_steps, device, has_criterion=has_criterion):
                losses.append(step(group))
                bar.update()
            by_epoch.append(torch.stack([each.float() for each in losses]).tolist() if losses else [])
            if losses:
                bar.set_description(f"epoch {epoch}/{epochs}, loss {sum(by_epoch[-1]) / len(losses):.4g}")
    return by_epoch
