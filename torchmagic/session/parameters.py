"""This file is the parameter table of a run: latest and extreme statistics, one row a parameter."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torchmagic.records.model import ParameterRecord
from torchmagic.session.ends import greatest as greatest_of
from torchmagic.session.ends import latest as latest_of

if TYPE_CHECKING:
    from torchmagic.session.run import Run

METRICS = (
    "grad_norm",
    "grad_mean",
    "grad_std",
    "grad_abs_max",
    "grad_zero_share",
    "grad_nonfinite",
    "weight_norm",
    "weight_mean",
    "weight_std",
    "weight_abs_max",
    "weight_nonfinite",
    "update_ratio",
    "update_swallowed",
)
# Root mean squares follow from the norm and the shape, so they are worked out here and never stored.
RMS_OF = {"grad_rms": "grad_norm", "weight_rms": "weight_norm"}


def parameter_rows(run: "Run") -> list[dict[str, Any]]:
    """Return one row a parameter.

    Each row has ``name, shape, dtype, trainable``, for each metric of ``METRICS`` that was seen its latest value under
    its own name, root mean squares ``grad_rms`` and ``weight_rms``, and for the gradient norm also ``grad_norm_max``.
    None stands where nothing is known.
    """
    latest = {metric: latest_of(run, metric) for metric in METRICS}
    greatest = greatest_of(run, "grad_norm")
    rows = []
    for record in run.of(ParameterRecord):
        row: dict[str, Any] = {
            "name": record.name,
            "shape": record.shape,
            "dtype": record.dtype,
            "trainable": record.trainable,
        }
        row |= {metric: latest[metric].get(record.name) for metric in METRICS}
        if row["update_swallowed"] is not None and math.isnan(row["update_swallowed"]):
            row["update_swallowed"] = None  # so the probe says that nothing was to be seen
        row |= {name: _rms(row[norm], record.shape) for name, norm in RMS_OF.items()}
        row["grad_norm_max"] = greatest.get(record.name)
        rows.append(row)
    return rows


def _rms(norm: float | None, shape: Sequence[int]) -> float | None:
    count = math.prod(shape)
    return None if norm is None or not count else norm / math.sqrt(count)
