"""This file is the debugger of the four documents: one object in front of torchmagic's engines."""

import logging
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from torchmagic.api.debugging.able import able_loss, able_model, able_optimizer, any_model
from torchmagic.api.debugging.alive import register
from torchmagic.api.debugging.analysis import TensorAnalysis, analyze_model_parameters, analyze_tensor
from torchmagic.api.debugging.config import DebugConfig
from torchmagic.api.debugging.context_watch import How, status_of
from torchmagic.api.debugging.contexts import Contexts
from torchmagic.api.debugging.gradients import check_gradients
from torchmagic.api.debugging.info import DebugInfo
from torchmagic.api.debugging.made_of import Given, config_of
from torchmagic.api.debugging.memory import memory_usage, profile_memory
from torchmagic.api.debugging.modes import DebugMode
from torchmagic.api.debugging.performance import profile_performance, seconds_of
from torchmagic.api.debugging.report import debug_plots, debug_report, debug_summary
from torchmagic.api.debugging.steps import backward_pass, forward_pass, note_gradients, optimization_step
from torchmagic.api.debugging.switching import disable, enable, switches_of
from torchmagic.guard.error_system import ErrorHandlingDebuggingSystem
from torchmagic.models import component_memory, gradient_checks, parameter_checks
from torchmagic.session.run import Run
from torchmagic.tuning.metrics import OptimizationMetrics
from torchmagic.tuning.modes import OptimizationMode
from torchmagic.tuning.optimize import optimize_model

_MOST_METRICS = 1_000


def _watches(probe: str) -> property:
    return property(lambda self: status_of(self.config)[probe], doc=f"Whether the next context watches {probe}.")


class PyTorchDebugger:
    """Watches operations, checks tensors, gradients and models, and keeps what it saw.

    It holds no model and no tensor. What it keeps is bounded: the newest 1,000 operations whole, of all of them sums.

    Args:
        config: A ``DebugConfig``, its fields by name, or a ``DebugLevel``; None takes the environment variables.
        error_system: Where errors are kept; a new ``ErrorHandlingDebuggingSystem`` where None.
        training_logger: Is told each operation by its ``log_training_event``; None for none.
        debug_mode: The mode; outweighs that of the configuration.

    Attributes:
        config: What is in force.
        contexts: Opens its contexts and keeps what is known of them.
        logger: The standard library's logger ``torchmagic.debugging``, which is told anomalies and findings.
        optimization_metrics: What ``optimize_model`` and ``PyTorchOptimizer`` did, the newest last.

    Raises:
        TypeError: If the configuration is something else; one line.
        ValueError: If a value is wrong; one line.
    """

    def __init__(
        self,
        config: Given = None,
        *,
        error_system: Any = None,
        training_logger: Any = None,
        debug_mode: DebugMode | str | None = None,
    ) -> None:
        self.config = config_of(config, debug_mode)
        self.logger = logging.getLogger("torchmagic.debugging")
        self.training_logger = training_logger
        self.optimization_metrics: deque[OptimizationMetrics] = deque(maxlen=_MOST_METRICS)
        self.error_system = ErrorHandlingDebuggingSystem() if error_system is None else error_system
        is_whole = isinstance(config, DebugConfig | Mapping)
        self.contexts = Contexts(
            self.config,
            logger=self.logger,
            training_logger=training_logger,
            saves=self.config.save_debug_info or not is_whole,
        )
        self._model: weakref.ref[nn.Module] | None = None
        register(self, "general")

    def __repr__(self) -> str:
        number = self.contexts.history.totals.number
        return f"<PyTorchDebugger {self.config.mode}, {self.config.level}: {number} operations>"

    @property
    def debug_history(self) -> list[DebugInfo]:
        """The newest operations, oldest first, at most 1,000."""
        return self.contexts.history.entries

    debug_metrics = debug_history
    anomaly_detection_active = _watches("anomaly")
    gradient_checking_active = _watches("gradients")
    memory_profiling_active = _watches("memory")
    performance_profiling_active = _watches("performance")

    @property
    def memory_history(self) -> list[dict[str, Any]]:
        """What ``profile_memory`` and ``debug_memory_usage`` took down, at most 1,000."""
        return list(self.contexts.taken)

    @property
    def performance_history(self) -> list[dict[str, Any]]:
        """What ``debug_performance`` took down, at most 1,000."""
        return list(self.contexts.timed)

    def debug_context(
        self, operation: str, model_name: str = "unknown", epoch: int = 0, batch: int = 0
    ) -> AbstractContextManager[DebugInfo]:
        """Watch a ``with`` block; the outermost one is a run of ``torchmagic.session``, named by the operation.

        Yields:
            The ``DebugInfo`` of the operation.
        """
        return self.contexts.open(operation, model_name, epoch, batch)

    def autograd_anomaly_detection(self) -> AbstractContextManager[DebugInfo]:
        """Watch a ``with`` block with ``torch.autograd.detect_anomaly`` on; off again after it, however it ends."""
        return self.contexts.open("autograd_anomaly_detection", how=How.DETECTING)

    def debug_forward_pass(self, model: nn.Module, input_data: Any, *, epoch: int = 0, batch: int = 0) -> Any:
        """Call a model and return its output: see ``steps.forward_pass``."""
        able_model(model, "__call__")
        return forward_pass(self.contexts, self._seen(model), input_data, epoch=epoch, batch=batch)

    def debug_backward_pass(self, loss: torch.Tensor, model: nn.Module, *, epoch: int = 0, batch: int = 0) -> float:
        """Go back from a loss and return the norm of all gradients: see ``steps.backward_pass``."""
        able_model(model, "parameters")
        return backward_pass(self.contexts, able_loss(loss), self._seen(model), epoch=epoch, batch=batch)

    def debug_optimization_step(
        self,
        optimizer: torch.optim.Optimizer,
        model: nn.Module,
        *,
        closure: Callable[[], Any] | None = None,
        epoch: int = 0,
        batch: int = 0,
    ) -> float:
        """Make an optimizer's step and return the norm of all parameters: see ``steps.optimization_step``."""
        seen, optimizer = self._seen(able_model(model, "parameters")), able_optimizer(optimizer)
        return optimization_step(self.contexts, optimizer, seen, closure, epoch=epoch, batch=batch)

    def debug_memory_usage(self, *, epoch: int = 0, batch: int = 0) -> tuple[float, float | None]:
        """Return MB of the process, and of the CUDA device or None: see ``memory.memory_usage``."""
        return memory_usage(self.contexts, epoch=epoch, batch=batch)

    def debug_performance(self, operation: str, *, epoch: int = 0, batch: int = 0) -> float:
        """Return the seconds of an operation, open or the newest of its name: see ``performance.seconds_of``."""
        return seconds_of(self.contexts, operation, epoch=epoch, batch=batch)

    def profile_memory(self, operation: str = "") -> dict[str, Any]:
        """Return what memory is used now, and whether it leaks: see ``memory.profile_memory``."""
        return profile_memory(self.contexts, operation)

    def check_gradients(self, model: nn.Module, loss: torch.Tensor | None = None) -> dict[str, Any]:
        """Return norm, anomalies and statistics of a model's gradients: see ``gradients.check_gradients``."""
        with self.contexts.current("gradient_check", type(any_model(model)).__name__) as info:
            found = check_gradients(self._seen(model), loss, usual_norm=self.contexts.history.usual_norm)
            info.gradient_norm = found["gradient_norm"]
            note_gradients(self.contexts, info, found)
        return found

    def analyze_tensor(self, tensor: Any, name: str = "") -> TensorAnalysis:
        """Return what a tensor is and what its values are like: see ``analysis.analyze_tensor``."""
        with self.contexts.current("tensor_analysis") as info:
            found = analyze_tensor(tensor, name)
            info.anomaly_detected |= not found.is_finite
        return found

    def analyze_model_parameters(self, model: Any) -> dict[str, TensorAnalysis]:
        """Return the same of each parameter, by name: see ``analysis.analyze_model_parameters``."""
        with self.contexts.current("parameter_analysis", type(any_model(model)).__name__) as info:
            found = analyze_model_parameters(model)
            info.anomaly_detected |= not all(each.is_finite for each in found.values())
        return found

    analyze_gradients = staticmethod(gradient_checks.gradients_of)
    check_gradient_explosion = staticmethod(gradient_checks.check_gradient_explosion)
    check_gradient_vanishing = staticmethod(gradient_checks.check_gradient_vanishing)
    profile_memory_usage = staticmethod(component_memory.profile_memory_usage)
    validate_model = staticmethod(parameter_checks.validate_model)

    def profile_model_performance(
        self,
        dataloader: Iterable[Any],
        num_batches: int = 10,
        model: nn.Module | None = None,
        criterion: Callable[..., torch.Tensor] | None = None,
        optimizer: torch.optim.Optimizer | None = None,
    ) -> Run:
        """Return a run under torch's profiler: see ``performance.profile_performance``.

        Raises:
            ValueError: If no model was given, now or to another method before; one line.
        """
        chosen = model if model is not None else self._model() if self._model is not None else None
        if chosen is None:
            raise ValueError("no model was given or seen yet; write profile_model_performance(dataloader, model=model)")
        traces = Path(self.config.debug_output_dir, "profiler") if self.config.enable_tensorboard_profiler else ""
        return profile_performance(
            self._seen(chosen),
            dataloader,
            num_batches=num_batches,
            criterion=criterion,
            optimizer=optimizer,
            tensorboard=traces,
        )

    def optimize_model(
        self, model: nn.Module, optimization_mode: OptimizationMode | str = OptimizationMode.FULL_OPTIMIZATION
    ) -> nn.Module:
        """Return a model that runs faster or smaller and shares the weights: see ``torchmagic.optimize_model``."""
        optimized = optimize_model(self._seen(able_model(model, "parameters")), optimization_mode)
        self.optimization_metrics.append(optimized.optimization_metrics)
        return optimized

    enable_debugging = staticmethod(enable)
    disable_debugging = staticmethod(disable)

    def get_debugging_status(self) -> dict[str, bool]:
        """Return for each switch of the configuration whether what it stands for is watched."""
        return switches_of(status_of(self.config))

    def get_debug_summary(self) -> dict[str, Any]:
        """Return all operations in a few numbers: see ``report.debug_summary``."""
        return debug_summary(self.contexts.history, num_optimizations=len(self.optimization_metrics))

    def create_debug_report(self) -> dict[str, Any]:
        """Return all operations in numbers, by subject: see ``report.debug_report``."""
        return debug_report(self.contexts.history, self.config)

    def create_debug_plots(self) -> Path | None:
        """Write ``debug_analysis.png`` into ``debug_output_dir``; None before the first operation."""
        return debug_plots(self.contexts.history, self.config.debug_output_dir)

    def clear_debug_history(self) -> None:
        """Forget all operations; runs stay in ``torchmagic.session``, and files where they are."""
        self.contexts.clear()

    def _seen(self, model: nn.Module) -> nn.Module:
        if isinstance(model, nn.Module):
            self._model = weakref.ref(model)
        return model
