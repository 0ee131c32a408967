"""This file is the view of a run's parameters: gradients, weights and updates, one row each."""

import math
from typing import Any

from torchmagic.session.run import Run
from torchmagic.views.page import Page, Table, Text

COLUMNS = (
    ("grad norm", "grad_norm"),
    ("highest", "grad_norm_max"),
    ("abs max", "grad_abs_max"),
    ("zeros", "grad_zero_share"),
    ("weight norm", "weight_norm"),
    ("update ratio", "update_ratio"),
)


def parameters_page(run: Run) -> Page:
    """Return the per-parameter table; rows that a finding names, or that hold no finite gradient, are marked."""
    rows = run.parameters
    if not rows:
        return Page(title="Parameters", blocks=[Text(text="No model with parameters ran.")])
    named = {finding.parameter for finding in run.findings}
    marked = frozenset(i for i, row in enumerate(rows) if row["name"] in named or _is_broken(row))
    shown = [c for c in COLUMNS if any(row[c[1]] is not None for row in rows)]
    table = Table(
        columns=("parameter", "shape", *(title for title, _ in shown)),
        rows=[
            (row["name"], "×".join(map(str, row["shape"])) or "scalar", *(row[key] for _, key in shown)) for row in rows
        ],
        marked=marked,
    )
    frozen = sum(not row["trainable"] for row in rows)
    note = f"{len(rows)} parameters, {frozen} frozen" if frozen else f"{len(rows)} parameters"
    return Page(
        title="Parameters",
        blocks=[
            Text(text=f"{note}. Gradient, weight and update ratio at the latest step looked at; highest over all."),
            table,
        ],
    )


def _is_broken(row: dict[str, Any]) -> bool:
    norm = row["grad_norm"]
    return norm is not None and not math.isfinite(norm)
