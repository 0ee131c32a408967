"""This file is the settings of a debugger: the fields of all four documents, told in torchmagic's own settings."""

import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import Any, Self

from torchmagic.api.debugging.config_values import checked, read
from torchmagic.api.debugging.modes import DebugLevel, DebugMode, unknown
from torchmagic.debuggers.modes import MODES
from torchmagic.debuggers.settings import PROBES, Anomaly, Settings, probes_of
from torchmagic.debuggers.switches import probe_named

PREFIX = "TORCHMAGIC_DEBUG_"
# The switches of the configuration that choose probes; the other two ``log_*`` only say what is written down.
SWITCHES = (
    "enable_anomaly_detection",
    "enable_gradient_checking",
    "enable_memory_profiling",
    "enable_performance_profiling",
    "enable_autograd_anomaly",
    "enable_autograd_profiler",
    "enable_tensorboard_profiler",
    "debug_memory_usage",
    "debug_gradient_norms",
    "debug_forward_pass",
    "debug_backward_pass",
    "debug_device_placement",
    "debug_mixed_precision",
    "debug_data_loading",
    "debug_validation",
    "debug_early_stopping",
    "debug_lr_scheduling",
    "log_gradients",
    "log_activations",
    "log_weights",
)


@dataclass
class DebugConfig:
    """What a debugger watches, how often, and what it writes down.

    A wrong value is refused when the configuration is made and when a field is set. Which probes of torchmagic a field
    stands for is told by ``probes``; what else a watched run can be told, such as thresholds, is a field of
    ``torchmagic.Settings``.

    Args:
        mode: Which features are on, beside those that are switched on by name.
        level: How closely they look.
        enable_anomaly_detection: Whether non-finite values are looked for.
        enable_gradient_checking: Whether forward, backward, gradients and weights are watched.
        enable_memory_profiling: Whether memory is watched.
        enable_performance_profiling: Whether time is split by phase.
        anomaly_detection_mode: What happens at the first non-finite value: ``warn`` warns and goes on, ``raise`` raises
            ``NonFiniteError`` before the optimizer's step, ``detect`` has torch's own ``detect_anomaly`` on, ``auto``
            only finds its origin, ``off`` does not look.
        gradient_checking_frequency: ``debug_training_step`` and the other ``debug_*`` methods look at gradients,
            weights and activations at each so many-th call.
        memory_profiling_frequency: The same for memory and devices.
        performance_profiling_frequency: The same for time and loading.
        save_debug_info: Whether operations are written to ``debug_output_dir``, and runs to the project's store.
        debug_output_dir: Folder of what is written; made when something is.
        log_gradients: Whether the statistics of each gradient are written down with an operation.
        log_activations: The same for what each module gave.
        log_weights: The same for each parameter.
        log_memory: Whether memory is written to the debugger's logger.
        log_performance: Whether times are written to the debugger's logger.
        enable_autograd_anomaly: Whether torch's own ``detect_anomaly`` is on in each context.
        enable_autograd_profiler: Whether time is split by phase; ``profile_model_performance`` runs torch's profiler.
        enable_tensorboard_profiler: Whether that also writes its trace for TensorBoard.
        debug_memory_usage: Whether memory is watched.
        debug_gradient_norms: Whether gradients are watched.
        debug_forward_pass: Whether what losses are given is watched.
        debug_backward_pass: Whether losses, and what they reach, are watched.
        debug_device_placement: Whether devices are watched.
        debug_mixed_precision: Whether autocast and loss scaling are watched.
        debug_data_loading: Whether batches and loaders are watched.
        debug_validation: Whether evaluations are watched.
        debug_early_stopping: Whether early stopping is watched.
        debug_lr_scheduling: Whether learning rates are watched.

    Raises:
        ValueError: If a value is wrong; one line that says what came, what was wanted, and the nearest right one.
    """

    mode: DebugMode = DebugMode.NONE
    level: DebugLevel = DebugLevel.BASIC
    enable_anomaly_detection: bool = False
    enable_gradient_checking: bool = False
    enable_memory_profiling: bool = False
    enable_performance_profiling: bool = False
    anomaly_detection_mode: str = "warn"
    gradient_checking_frequency: int = 100
    memory_profiling_frequency: int = 50
    performance_profiling_frequency: int = 10
    save_debug_info: bool = True
    debug_output_dir: str = "debug_outputs"
    log_gradients: bool = False
    log_activations: bool = False
    log_weights: bool = False
    log_memory: bool = True
    log_performance: bool = True
    enable_autograd_anomaly: bool = False
    enable_autograd_profiler: bool = False
    enable_tensorboard_profiler: bool = False
    debug_memory_usage: bool = False
    debug_gradient_norms: bool = False
    debug_forward_pass: bool = False
    debug_backward_pass: bool = False
    debug_device_placement: bool = False
    debug_mixed_precision: bool = False
    debug_data_loading: bool = False
    debug_validation: bool = False
    debug_early_stopping: bool = False
    debug_lr_scheduling: bool = False

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in FIELDS:
            raise AttributeError(unknown("configuration", name, FIELDS))
        object.__setattr__(self, name, checked(name, value))

    @property
    def probes(self) -> tuple[str, ...]:
        """The names of torchmagic's probes that the mode and the switches ask for, in their order; may be empty."""
        mode = DebugMode.PERFORMANCE_PROFILING if self.mode is DebugMode.PROFILING else self.mode
        wanted: set[str] = set(MODES[mode].get("only", ()))
        if mode is DebugMode.FULL_DEBUG:
            wanted.update(probes_of(Settings(level=self.level).level))  # type: ignore[arg-type] # a word of the same
            wanted.update(name for features in MODES.values() for name in features.get("only", ()))
        for name in SWITCHES:
            if getattr(self, name):
                wanted.update(_probes_of(name))
        return tuple(name for name in PROBES if name in wanted)

    @property
    def raises(self) -> bool:
        """Whether the first value that is not finite raises ``NonFiniteError``."""
        return self.anomaly_detection_mode == Anomaly.RAISE and "anomaly" in self.probes

    def settings(self, *, name: str = "", probes: Collection[str] | None = None) -> Settings:
        """Return the same as the settings of a watched run, as the options of ``%%torchdebug`` are.

        Args:
            name: Label of the run.
            probes: The names of those probes that are to be used now; None takes all that are asked for.
        """
        chosen = self.probes if probes is None else tuple(probes)
        detects = self.enable_autograd_anomaly and self.anomaly_detection_mode != Anomaly.RAISE
        return Settings(
            level=self.level,  # type: ignore[arg-type] # a word of the same
            only=chosen,
            without=() if chosen else PROBES,
            anomaly=Anomaly.DETECT if detects else Anomaly(self.anomaly_detection_mode),
            name=name,
            save=self.save_debug_info,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values that JSON can hold."""
        return {name: value.value if isinstance(value, Enum) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Build a configuration from plain values.

        Raises:
            ValueError: If a name or a value is wrong; one line that names the nearest right one.
        """
        for name in values:
            if name not in FIELDS:
                raise ValueError(unknown("configuration", name, FIELDS))
        return cls(**values)

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, *, defaults: Mapping[str, Any] | None = None
    ) -> Self:
        """Build a configuration from environment variables, each ``TORCHMAGIC_DEBUG_`` and a field in capitals.

        Of fields that begin with ``debug_`` the word is not written twice: ``TORCHMAGIC_DEBUG_OUTPUT_DIR``.

        Args:
            environment: The variables; None takes those of the process.
            defaults: Fields that hold where no variable does.

        Raises:
            ValueError: If a variable names no field, or its value is wrong; one line that names the nearest right one.
        """
        found = {}
        for variable, text in (os.environ if environment is None else environment).items():
            if variable.startswith(PREFIX):
                name = VARIABLES.get(variable)
                if name is None:
                    raise ValueError(unknown("environment variable", variable, tuple(VARIABLES)))
                found[name] = read(variable, name, text)
        return cls(**{**(defaults or {}), **found})


FIELDS = tuple(each.name for each in fields(DebugConfig))
VARIABLES = {f"{PREFIX}{name.removeprefix('debug_').upper()}": name for name in FIELDS}


def _probes_of(switch: str) -> tuple[str, ...]:
    """Return the probes that a switch stands for: those of the mode of its name, or its own."""
    features = MODES.get(switch.removeprefix("enable_"))
    return tuple(features["only"]) if features else (probe_named(switch.removeprefix("log_")),)
