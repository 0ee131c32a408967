"""This file finds the name by which code can speak of a model that a run trained."""

from torchmagic.records.model import ModelRecord
from torchmagic.session.run import Run

UNKNOWN = "model"


def model_name(run: Run, path: str | None = None) -> str:
    """Return the variable of the model that has a path, or of the only model; ``model`` where none is known.

    Args:
        run: The run.
        path: Path of a module or a parameter; None for that of no special one.
    """
    names = [each.name for each in run.of(ModelRecord) if each.name != each.class_name]
    if path is not None:
        own = [name for name in names if path == name or path.startswith(f"{name}.")]
        return max(own, key=len, default=UNKNOWN)
    return names[0] if len(names) == len(run.of(ModelRecord)) == 1 else UNKNOWN
