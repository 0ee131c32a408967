"""See inside a PyTorch training run from the notebook cell that runs it."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchmagic.api.callbacks.lightning_callback import LightningCallback as LightningCallback
    from torchmagic.api.callbacks.transformers_callback import TransformersCallback as TransformersCallback
    from torchmagic.api.debugging.analysis import TensorAnalysis as TensorAnalysis
    from torchmagic.api.debugging.config import DebugConfig as DebugConfig
    from torchmagic.api.debugging.debugger import PyTorchDebugger as PyTorchDebugger
    from torchmagic.api.debugging.decorators import debug_context as debug_context
    from torchmagic.api.debugging.decorators import debug_operation as debug_operation
    from torchmagic.api.debugging.diffusion_debugger import DiffusionModelDebugger as DiffusionModelDebugger
    from torchmagic.api.debugging.info import DebugInfo as DebugInfo
    from torchmagic.api.debugging.info import DebugMetrics as DebugMetrics
    from torchmagic.api.debugging.manager import PyTorchDebugManager as PyTorchDebugManager
    from torchmagic.api.debugging.modes import DebugLevel as DebugLevel
    from torchmagic.api.debugging.modes import DebugMode as DebugMode
    from torchmagic.api.debugging.training_debugger import TrainingDebugger as TrainingDebugger
    from torchmagic.api.profile import profile as profile
    from torchmagic.api.serving import serve as serve
    from torchmagic.api.session import Session as Session
    from torchmagic.api.session import session as session
    from torchmagic.api.training_logs.async_training_logger import AsyncTrainingLogger as AsyncTrainingLogger
    from torchmagic.api.training_logs.create_training_logger import create_training_logger as create_training_logger
    from torchmagic.api.training_logs.log_level import LogLevel as LogLevel
    from torchmagic.api.training_logs.training_logging_manager import TrainingLoggingManager as TrainingLoggingManager
    from torchmagic.api.training_logs.training_phase import TrainingPhase as TrainingPhase
    from torchmagic.debuggers.gathering import gather as gather
    from torchmagic.debuggers.loading import load as load
    from torchmagic.debuggers.modelinfo import modelinfo as modelinfo
    from torchmagic.debuggers.settings import Settings as Settings
    from torchmagic.debuggers.tensorinfo import tensorinfo as tensorinfo
    from torchmagic.debuggers.watching import watch as watch
    from torchmagic.guard.anomalies import detect_model_anomalies as detect_model_anomalies
    from torchmagic.guard.error_kinds import ErrorCategory as ErrorCategory
    from torchmagic.guard.error_kinds import ErrorSeverity as ErrorSeverity
    from torchmagic.guard.error_system import ErrorHandlingDebuggingSystem as ErrorHandlingDebuggingSystem
    from torchmagic.guard.error_tracker import ErrorTracker as ErrorTracker
    from torchmagic.guard.input_spec import InputSpec as InputSpec
    from torchmagic.guard.inputs import validate_model_input as validate_model_input
    from torchmagic.guard.recovery_kinds import RecoveryError as RecoveryError
    from torchmagic.guard.recovery_strategy import recovery_strategy as recovery_strategy
    from torchmagic.guard.resources import monitor_resources as monitor_resources
    from torchmagic.guard.robust_operations import RobustOperations as RobustOperations
    from torchmagic.guard.splitting import Splitting as Splitting
    from torchmagic.guard.training_guard import TrainingGuard as TrainingGuard
    from torchmagic.jupyter.extension import load_ipython_extension as load_ipython_extension
    from torchmagic.jupyter.extension import unload_ipython_extension as unload_ipython_extension
    from torchmagic.probes.nonfinite import NonFiniteError as NonFiniteError
    from torchmagic.records.finding import Finding as Finding
    from torchmagic.records.finding import Severity as Severity
    from torchmagic.session.run import Run as Run
    from torchmagic.tuning.finders.batch_size import find_batch_size as find_batch_size
    from torchmagic.tuning.finders.found import FoundSettings as FoundSettings
    from torchmagic.tuning.finders.loader_settings import find_loader_settings as find_loader_settings
    from torchmagic.tuning.finders.num_threads import find_num_threads as find_num_threads
    from torchmagic.tuning.metrics import OptimizationMetrics as OptimizationMetrics
    from torchmagic.tuning.modes import OptimizationMode as OptimizationMode
    from torchmagic.tuning.optimize import optimize_model as optimize_model
    from torchmagic.tuning.optimized_model import OptimizedModel as OptimizedModel
    from torchmagic.tuning.optimizer import PyTorchOptimizer as PyTorchOptimizer

    __version__: str

_HOMES = {
    "AsyncTrainingLogger": "api.training_logs.async_training_logger",
    "DebugConfig": "api.debugging.config",
    "DebugInfo": "api.debugging.info",
    "DebugLevel": "api.debugging.modes",
    "DebugMetrics": "api.debugging.info",
    "DebugMode": "api.debugging.modes",
    "DiffusionModelDebugger": "api.debugging.diffusion_debugger",
    "ErrorCategory": "guard.error_kinds",
    "ErrorHandlingDebuggingSystem": "guard.error_system",
    "ErrorSeverity": "guard.error_kinds",
    "ErrorTracker": "guard.error_tracker",
    "Finding": "records.finding",
    "FoundSettings": "tuning.finders.found",
    "InputSpec": "guard.input_spec",
    "LightningCallback": "api.callbacks.lightning_callback",
    "LogLevel": "api.training_logs.log_level",
    "NonFiniteError": "probes.nonfinite",
    "OptimizationMetrics": "tuning.metrics",
    "OptimizationMode": "tuning.modes",
    "OptimizedModel": "tuning.optimized_model",
    "PyTorchDebugManager": "api.debugging.manager",
    "PyTorchDebugger": "api.debugging.debugger",
    "PyTorchOptimizer": "tuning.optimizer",
    "RecoveryError": "guard.recovery_kinds",
    "RobustOperations": "guard.robust_operations",
    "Run": "session.run",
    "Session": "api.session",
    "Settings": "debuggers.settings",
    "Severity": "records.finding",
    "Splitting": "guard.splitting",
    "TensorAnalysis": "api.debugging.analysis",
    "TrainingDebugger": "api.debugging.training_debugger",
    "TrainingGuard": "guard.training_guard",
    "TrainingLoggingManager": "api.training_logs.training_logging_manager",
    "TrainingPhase": "api.training_logs.training_phase",
    "TransformersCallback": "api.callbacks.transformers_callback",
    "create_training_logger": "api.training_logs.create_training_logger",
    "debug_context": "api.debugging.decorators",
    "debug_operation": "api.debugging.decorators",
    "detect_model_anomalies": "guard.anomalies",
    "find_batch_size": "tuning.finders.batch_size",
    "find_loader_settings": "tuning.finders.loader_settings",
    "find_num_threads": "tuning.finders.num_threads",
    "gather": "debuggers.gathering",
    "load": "debuggers.loading",
    "load_ipython_extension": "jupyter.extension",
    "modelinfo": "debuggers.modelinfo",
    "monitor_resources": "guard.resources",
    "optimize_model": "tuning.optimize",
    "profile": "api.profile",
    "recovery_strategy": "guard.recovery_strategy",
    "serve": "api.serving",
    "session": "api.session",
    "tensorinfo": "debuggers.tensorinfo",
    "unload_ipython_extension": "jupyter.extension",
    "validate_model_input": "guard.inputs",
    "watch": "debuggers.watching",
}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - a list of names, built from the table above


def __getattr__(name: str) -> Any:
    """Load a public name from its room on first use (PEP 562)."""
    if name == "__version__":
        value = _installed()
    elif name in _HOMES:
        value = getattr(import_module(f"torchmagic.{_HOMES[name]}"), name)
    else:
        message = f"module 'torchmagic' has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = value
    return value


def _installed() -> str:
    """Return the version that was installed; asking for it costs some milliseconds, importing the package nothing."""
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version("torchmagic"))
    except metadata.PackageNotFoundError:  # run from its source
        return "0+unknown"


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package itself: ``torchmagic.session`` is the process's session, not the room of that name."""

    @property
    def session(self) -> Any:
        """The session of this process."""
        return import_module(f"torchmagic.{_HOMES['session']}").session

    @session.setter
    def session(self, room: ModuleType) -> None:
        """Let the import system bind the room without hiding the session behind it."""


sys.modules[__name__].__class__ = _Package
