"""This file is the manager of the document on debugging tools: whole steps, inferences and reports under a debugger."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

import torch
from torch import nn

from torchmagic.api.debugging.context_watch import How
from torchmagic.api.debugging.debugger import PyTorchDebugger
from torchmagic.api.debugging.made_of import Given
from torchmagic.api.debugging.meter import device_memory, process_memory
from torchmagic.api.debugging.report import PICTURE
from torchmagic.api.debugging.written import plain
from torchmagic.api.training_logs.training_logging_manager import TrainingLoggingManager
from torchmagic.exports.comprehensive import comprehensive_report
from torchmagic.exports.destination import inside
from torchmagic.session.whole_file import one_whole_file

REPORT = "report.json"


class _Place(TypedDict):
    """Where in the training a step is."""

    epoch: int
    batch: int


class PyTorchDebugManager:
    """Makes training steps and inferences under a debugger, logs them, and reports.

    Args:
        config: As ``PyTorchDebugger`` takes it.

    Attributes:
        debugger: The ``PyTorchDebugger``.
        logger: Its logger.
        training_logger: What ``setup_training_logging`` made; None before.
    """

    def __init__(self, config: Given = None) -> None:
        self.debugger = PyTorchDebugger(config)
        self.logger = self.debugger.logger
        self.training_logger: TrainingLoggingManager | None = None

    def setup_training_logging(self, experiment_name: str | None = None) -> TrainingLoggingManager:
        """Log the metrics of each step from now on, into the debugger's ``debug_output_dir``.

        Args:
            experiment_name: What to call the training.
        """
        if self.training_logger is not None:
            self.training_logger.close()
        folder = Path(self.debugger.config.debug_output_dir)
        self.training_logger = TrainingLoggingManager(experiment_name, log_dir=folder)
        return self.training_logger

    def debug_training_step(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        loss_fn: Callable[[Any, Any], torch.Tensor],
        data_batch: Any,
        target_batch: Any,
        *,
        epoch: int = 0,
        batch: int = 0,
    ) -> dict[str, Any]:
        """Make one training step: clear gradients, forward, loss, backward, optimizer step; and look at each part.

        Weights and random number streams come out as of a step that nobody looks at, bit for bit.

        Args:
            model: The model.
            optimizer: Its optimizer.
            loss_fn: Loss of output and target, a tensor of one value.
            data_batch: Inputs, on the model's device; a tuple is several arguments, a mapping is arguments by name.
            target_batch: Targets.
            epoch: Number of the epoch.
            batch: Number of the batch.

        Returns:
            ``loss``; ``gradient_norm`` of all gradients and ``param_norm`` of all parameters after the step, L2;
            ``cpu_memory``: MB (2**20 bytes) of the process; ``gpu_memory``: MB on the CUDA device, None where it is not
            in use; ``execution_time``: seconds of the whole step.

        Raises:
            NonFiniteError: If the debugger raises at anomalies and a value is not finite.
        """
        debugger, place = self.debugger, _Place(epoch=epoch, batch=batch)
        with debugger.contexts.open("training_step", type(model).__name__, epoch, batch, how=How.PACED):
            optimizer.zero_grad()
            output = debugger.debug_forward_pass(model, data_batch, **place)
            loss = loss_fn(output, target_batch)
            gradient_norm = debugger.debug_backward_pass(loss, model, **place)
            param_norm = debugger.debug_optimization_step(optimizer, model, **place)
            cpu_memory, gpu_memory = debugger.debug_memory_usage(**place)
        metrics = {
            "loss": loss.item(),
            "gradient_norm": gradient_norm,
            "param_norm": param_norm,
            "cpu_memory": cpu_memory,
            "gpu_memory": gpu_memory,
            "execution_time": debugger.debug_performance("training_step", **place),
        }
        if self.training_logger is not None:
            self.training_logger.log_batch_metrics(metrics, **place)
        return metrics

    def debug_model_inference(self, model: nn.Module, input_data: Any) -> dict[str, Any]:
        """Call a model as it is: in its mode, with gradients where they are on, and look at what goes in and out.

        Args:
            model: The model.
            input_data: Inputs, on the model's device; a tuple is several arguments, a mapping is arguments by name.

        Returns:
            ``output``; ``execution_time`` in seconds; ``cpu_memory``: MB (2**20 bytes) of the process afterwards;
            ``gpu_memory``: MB on the CUDA device, None where it is not in use; ``memory_usage``: MB by which the
            process grew; ``anomaly_detected``; ``findings``.

        Raises:
            NonFiniteError: If the debugger raises at anomalies and a value is not finite.
        """
        with self.debugger.contexts.open("model_inference", type(model).__name__, how=How.PACED) as info:
            output = self.debugger.debug_forward_pass(model, input_data)
        return {
            "output": output,
            "execution_time": info.execution_time,
            "cpu_memory": process_memory(),
            "gpu_memory": device_memory(),
            "memory_usage": info.memory_usage,
            "anomaly_detected": info.anomaly_detected,
            "findings": info.findings,
        }

    def create_comprehensive_report(self) -> dict[str, Any]:
        """Write ``report.json`` and ``debug_analysis.png`` into ``debug_output_dir``, and return what the first holds.

        Returns:
            What ``PyTorchDebugger.create_debug_report`` returns; ``findings``: each once, the first one first;
            ``runs``: what the debugger's watched runs say together, in the same form, None without any; and ``files``:
            where they are, ``debug_analysis.png`` being None before the first operation, and both where they could not
            be written, which the log says.
        """
        debugger = self.debugger
        runs = debugger.contexts.runs
        report = {
            **debugger.create_debug_report(),
            "findings": [asdict(each) for each in debugger.contexts.telling.findings],
            "runs": comprehensive_report(runs) if runs else None,
            "files": {REPORT: None, PICTURE: None},
        }
        folder = Path(debugger.config.debug_output_dir)
        try:
            self._write(report, folder)
        except OSError as error:
            report["files"][REPORT] = None
            said = error.strerror or error
            self.logger.warning("cannot write %s: %s; the report is in memory only", folder, said)
        return report

    def _write(self, report: dict[str, Any], folder: Path) -> None:
        """Write the picture and the report into a folder, and into the report where both are."""
        folder.mkdir(parents=True, exist_ok=True)
        plots, path = self.debugger.create_debug_plots(), inside(folder, REPORT)
        report["files"] |= {REPORT: str(path), PICTURE: None if plots is None else str(plots)}
        with one_whole_file(path) as draft:
            draft.write_text(json.dumps(plain(report), indent=2, allow_nan=False) + "\n", encoding="utf-8")
