"""This file is what a debugger says of a model's gradients: their norm, what is wrong, and each one's statistics."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import torch
from torch import nn

from torchmagic.models.gradient_checks import EXPLODED, GradientStatistics, gradients_of, total_norm
from torchmagic.rules.numerics.exploding_gradient import LARGE
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.reduce import norms
from torchmagic.tensors.reduce import total_norm as total_norm_of

# The size of gradients follows that of the loss: what stands out is far above what is usual in this training, or, as
# long as nothing is known of it, very large.
TIMES_USUAL = 10.0


def check_gradients(model: Any, loss: torch.Tensor | None = None, *, usual_norm: float | None = None) -> dict[str, Any]:
    """Look at the gradients that a model's parameters have at present, without changing them.

    Args:
        model: A module, a wrapper around one, or an object that holds some.
        loss: The loss that they are of, which is looked at as well; not followed back.
        usual_norm: Norm of all gradients that is usual in this training; None where it is not known.

    Returns:
        ``gradient_norm``: L2 norm of all gradients together, 0.0 where there are none; ``gradient_anomalies``: what is
        wrong, one sentence each, with the words NaN and Inf where there are such values; ``parameter_stats``: by
        parameter its ``norm, mean, std, abs_max, elements, nans, infs, zeros``.

    Raises:
        TypeError: If there is no model; one line.
    """
    statistics = gradients_of(model)
    norm = total_norm(statistics)
    return {
        "gradient_norm": norm,
        "gradient_anomalies": list(_anomalies(statistics, norm, loss, usual_norm)),
        "parameter_stats": {name: _plain(each) for name, each in statistics.items()},
    }


def glance_at_gradients(model: nn.Module, *, usual_norm: float | None = None) -> dict[str, Any]:
    """Return the same without statistics of each parameter, unless something is wrong: for steps at which none are due.

    Args:
        model: A module.
        usual_norm: As ``check_gradients`` takes it.
    """
    gradients = [each.grad for each in model.parameters() if each.grad is not None]
    norm = total_norm_of(norms(gradients))
    if not gradients or not math.isfinite(norm):
        return check_gradients(model, usual_norm=usual_norm)
    return {"gradient_norm": norm, "gradient_anomalies": list(_of_norm(norm, usual_norm)), "parameter_stats": {}}


def _anomalies(
    statistics: Mapping[str, GradientStatistics], norm: float, loss: torch.Tensor | None, usual_norm: float | None
) -> Iterator[str]:
    if loss is not None and not is_finite(loss):
        yield "the loss is NaN or Inf"
    if not statistics:
        yield "no parameter has a gradient; call loss.backward() first"
        return
    broken = [each for each in statistics.values() if not each.is_finite]
    for each in broken:
        kinds = ((each.nans, "NaN"), (each.infs, "Inf"))
        words = " and ".join(f"{number:,} {kind}" for number, kind in kinds if number)
        yield f"{each.parameter}: {words} among {each.elements:,} gradient values"
    if not broken:
        yield from _of_norm(norm, usual_norm)


def _of_norm(norm: float, usual_norm: float | None) -> Iterator[str]:
    most = LARGE if usual_norm is None else max(EXPLODED, TIMES_USUAL * usual_norm)
    if norm == 0:
        yield "all gradients are zero"
    elif norm > most:
        usual = "" if usual_norm is None else f"; {usual_norm:.3g} is usual"
        yield f"the gradient norm {norm:.3g} is above {most:.3g}{usual}"


def _plain(each: GradientStatistics) -> dict[str, Any]:
    fields = asdict(each)
    del fields["parameter"]
    return fields
