"""This file is the tools beside torchmagic: each can be put around a training, and is taken off again.

Each is used as its own documentation says, so that it looks at every step; its output, files and network are away. Where
a tool needs lines between backward and the optimizer's step, they are in a hook of the optimizer.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import torch
from workloads import Step, Training

# Puts a tool around a training; yields the function that does one step. The folder is for the tool's files.
Attach = Callable[[Training, Path], AbstractContextManager[Step]]


@contextmanager
def detect_anomaly(training: Training, folder: Path) -> Iterator[Step]:
    with torch.autograd.detect_anomaly():
        yield training.step


@contextmanager
def underflow_overflow(training: Training, folder: Path) -> Iterator[Step]:
    from transformers.debug_utils import DebugUnderflowOverflow

    DebugUnderflowOverflow(training.model)  # it has no way off; its hooks go with the training
    yield training.step


def checks(*, every_fact: bool) -> Attach:
    """Return torchlens.checks with its non-finite checks, or with all that it has."""

    @contextmanager
    def attach(training: Training, folder: Path) -> Iterator[Step]:
        from torchlens.checks import ChecksSession

        session = ChecksSession(training.model, training.optimizer, scaler=None)
        session.register_nonfinite_gradient_check()
        session.register_nonfinite_param_check()
        if every_fact:
            session.register_change_check(action="collect")
            session.register_update_ratio_check()
            session.register_magnitude_check()
        with session:
            yield training.step

    return attach


@contextmanager
def wandb_watch(training: Training, folder: Path) -> Iterator[Step]:
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        os.environ[name] = str(folder)
    import wandb

    quiet = wandb.Settings(silent=True, console="off", x_disable_stats=True, x_disable_meta=True)
    run = wandb.init(project="benchmark", mode="offline", dir=str(folder), settings=quiet)
    try:
        run.watch(training.model, log="all", log_freq=1)

        def step(index: int) -> None:
            training.step(index)
            run.log({"index": index})  # without a log, what watch collected is never written

        yield step
    finally:
        run.unwatch(training.model)
        run.finish()


@contextmanager
def torch_audit(training: Training, folder: Path) -> Iterator[Step]:
    from torch_audit import autopatch

    auditor = autopatch(training.model, optimizer=training.optimizer, every_n_steps=1, reporters=[], fail_level="FATAL")
    try:
        yield training.step
    finally:
        auditor.unpatch()


@contextmanager
def monitorch(training: Training, folder: Path) -> Iterator[Step]:
    from monitorch import lens
    from monitorch.inspector import PyTorchInspector

    # Without OutputGradientGeometry: its full backward hooks stop a model with in-place ReLU, such as the CNN.
    lenses = [
        lens.OutputActivation(),
        lens.OutputNorm(),
        lens.ParameterNorm(),
        lens.ParameterGradientActivation(),
        lens.ParameterGradientGeometry(),
        lens.ParameterUpdateGeometry(optimizer=training.optimizer),
    ]
    inspector = PyTorchInspector(lenses=lenses, module=training.model, visualizer="dummy")
    try:
        yield training.step
        inspector.tick_epoch()
    finally:
        inspector.detach()


@contextmanager
def module_monitor(training: Training, folder: Path) -> Iterator[Step]:
    from torch_module_monitor import ModuleMonitor

    monitor = ModuleMonitor(monitor_step_fn=lambda step: True)
    monitor.set_module(training.model)
    monitor.add_activation_metric("mean", torch.mean)
    monitor.add_activation_metric("std", torch.std)
    monitor.add_parameter_metric("norm", torch.linalg.vector_norm)
    monitor.add_gradient_metric("norm", torch.linalg.vector_norm)
    done = 0

    def look(*_: Any) -> None:
        monitor.monitor_parameters()
        monitor.monitor_gradients()
        monitor.end_step()

    def step(index: int) -> None:
        nonlocal done
        monitor.begin_step(done)
        training.step(index)
        done += 1

    handle = training.optimizer.register_step_pre_hook(look)
    try:
        yield step
    finally:
        handle.remove()
        monitor.activation_hooks.remove_all_hooks()


@contextmanager
def histograms(training: Training, folder: Path) -> Iterator[Step]:
    from torch.utils.tensorboard import SummaryWriter

    named, done = tuple(training.model.named_parameters()), 0

    def look(*_: Any) -> None:
        nonlocal done
        for name, parameter in named:
            if parameter.grad is not None:
                writer.add_histogram(name, parameter.grad, done)
        done += 1

    with SummaryWriter(folder) as writer:
        handle = training.optimizer.register_step_pre_hook(look)
        try:
            yield training.step
        finally:
            handle.remove()
