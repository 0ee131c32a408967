"""This file is the table of a run for pandas: one row a step, one column a metric and subject."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchmagic.session.run import Run


def as_frame(run: "Run") -> Any:
    """Return a ``pandas.DataFrame`` whose index is the step.

    A metric of the whole run, or of one subject, is a column of its name; one of several subjects is a column
    ``metric[subject]`` each. Where a step has several values, the last one stands; where it has none, NaN.

    Raises:
        ImportError: If pandas is not installed.
    """
    try:
        pd = import_module("pandas")  # only who asks for it needs it
    except ImportError:
        raise ImportError("a run becomes a table only where pandas is installed: pip install pandas") from None
    columns = {}
    for metric in dict.fromkeys(frame.metric for frame in run.frames):
        subjects = dict.fromkeys(name for frame in run.frames if frame.metric == metric for name in frame.subjects)
        for subject in subjects:
            steps, values = run.series(metric, name=subject)
            name = metric if len(subjects) == 1 or not subject else f"{metric}[{subject}]"
            columns[name] = pd.Series(dict(zip(steps, values, strict=True)), dtype="float64")
    table = pd.DataFrame(columns)
    table.index = table.index.astype("int64")
    table.index.name = "step"
    return table.sort_index()
