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
    None stands where nothing is known. Tensors of no model that were measured, as those of a loop that steps by hand,
    come last, without shape and type.
    """
    latest = {metric: latest_of(run, metric) for metric in METRICS}
    greatest = greatest_of(run, "grad_norm")
    records = run.of(ParameterRecord)
    rows: list[dict[str, Any]] = [
        {"name": each.name, "shape": each.shape, "dtype": each.dtype, "trainable": each.trainable} for each in records
    ]
    listed = {each.name for each in records} | {""}  # of all parameters together
    measured = dict.fromkeys(name for each in latest.values() for name in each if name not in listed)
    rows += [{"name": name, "shape": None, "dtype": None, "trainable": True} for name in measured]
    for row in rows:
        row |= {metric: latest[metric].get(row["name"]) for metric in METRICS}
        if row["update_swallowed"] is not None and math.isnan(row["update_swallowed"]):
            row["update_swallowed"] = None  # so the probe says that nothing was to be seen
        row |= {name: _rms(row[norm], row["shape"]) for name, norm in RMS_OF.items()}
        row["grad_norm_max"] = greatest.get(row["name"])
    return rows


def _rms(norm: float | None, shape: Sequence[int] | None) -> float | None:
    if shape is None:
        return None
    count = math.prod(shape)
    return None if norm is None or not count else norm / math.sqrt(count)
