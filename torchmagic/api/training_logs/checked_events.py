"""This file is a training's log that also looks for NaN and infinity, without blocking the event loop."""

from collections.abc import Mapping
from typing import Any, Unpack

from torchmagic.api.training_logs.channel import LogOptions
from torchmagic.api.training_logs.checks import gradient_facts, tensor_facts
from torchmagic.api.training_logs.events import TrainingEvents
from torchmagic.api.training_logs.log_level import LogLevel


def no_checks() -> dict[str, int]:
    """Return the counts of checks before the first one."""
    return dict.fromkeys(("tensor_checks", "tensor_anomalies", "gradient_checks", "gradient_anomalies"), 0)


class CheckedEvents(TrainingEvents):
    """A log that notes down what it found in tensors and gradients; see ``TrainingEvents``."""

    def __init__(self, name: str, about: Mapping[str, Any], **options: Unpack[LogOptions]) -> None:
        super().__init__(name, about, **options)
        self._checks = no_checks()

    async def check_tensor_anomalies_async(self, tensor: Any, name: str = "") -> dict[str, Any]:
        """Look for NaN and infinity in a tensor, in a thread.

        Wait for it before the tensor is written to: up to 32,768 elements it is copied at once, a larger one is read
        where it lies, and ``changed_during_check`` says whether something wrote to it meanwhile.

        Args:
            tensor: A tensor of any kind, a parameter, a NumPy array or a NumPy number.
            name: What to call it.

        Returns:
            ``name``, ``shape``, ``dtype``, ``device``, ``requires_grad``, ``num_elements``, ``memory_usage`` (MB, 2**20
            bytes), ``has_nan``, ``has_inf``, ``num_nan``, ``num_inf``, ``num_zero``; of the finite values
            ``mean_value``, ``std_value`` (divisor n - 1; 0 of a single one), ``min_value``, ``max_value`` and ``norm``
            (L2), None where there is none; ``changed_during_check``; ``notes``.

        Raises:
            TypeError: If it is something else; one line.
            ValueError: If it is a parameter that has no values yet; one line.
        """
        found = await tensor_facts(tensor, name)
        is_odd = found["has_nan"] or found["has_inf"]
        said = (
            f"{name or 'tensor'}: {found['num_nan']:,} NaN, {found['num_inf']:,} infinite of {found['num_elements']:,}"
        )
        self._tell_check("tensor", said, found, is_odd=is_odd)
        return found

    async def check_gradient_anomalies_async(self, model: Any) -> dict[str, Any]:
        """Look for NaN and infinity in the gradients of a model, in a thread; wait for it before the next step.

        Args:
            model: A module, a wrapper around one, or an object that holds some, such as a pipeline.

        Returns:
            Counts of parameter tensors that require gradients: ``total_params``, ``params_with_grad``,
            ``params_without_grad``, ``params_with_nan_grad``, ``params_with_inf_grad``, ``params_with_zero_grad``; the
            names ``nan_params`` and ``inf_params`` (the first 100); ``grad_norm`` (L2 of all together),
            ``max_grad_norm`` and ``max_grad_param``; ``changed_during_check``.

        Raises:
            TypeError: If there is no model; one line.
        """
        found = await gradient_facts(model)
        num_odd = found["params_with_nan_grad"] + found["params_with_inf_grad"]
        said = f"gradients of {found['params_with_grad']:,} parameters, norm {found['grad_norm']:.4g}"
        self._tell_check("gradient", said, found, is_odd=num_odd > 0)
        return found

    def _tell_check(self, what: str, said: str, found: Mapping[str, Any], *, is_odd: bool) -> None:
        with self._counting:
            self._checks[f"{what}_checks"] += 1
            self._checks[f"{what}_anomalies"] += is_odd
        self._tell(LogLevel.WARNING if is_odd else LogLevel.DEBUG, f"{what}_check", said, fields=found, depth=3)
