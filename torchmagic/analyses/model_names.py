"""This file finds the names by which code can speak of a model that a run trained, and of its parameters."""

from torchmagic.records.loop import HandStepsRecord
from torchmagic.records.model import ModelRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.session.run import Run

UNKNOWN = "model"
# Tensors that are named one by one.
MOST_NAMES = 6


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


def parameters_in(run: Run, path: str | None = None) -> str:
    """Return code for what is trained: ``net.parameters()``, or ``[w, b]`` where a loop steps on tensors of no model.

    Where one optimizer trains more than one model, all that it holds.

    Args:
        run: The run.
        path: Path of a module or a parameter; None for that of no special one.
    """
    if together := _optimizer_of_several(run, path):
        return f'[p for group in {together}.param_groups for p in group["params"]]'
    names = [name for record in run.of(HandStepsRecord) for name in record.parameters]
    model = model_name(run, path or next(iter(names), None))
    if model == UNKNOWN and 0 < len(names) <= MOST_NAMES and all(name.isidentifier() for name in names):
        return f"[{', '.join(names)}]"
    return f"{model}.parameters()"


def _optimizer_of_several(run: Run, path: str | None) -> str | None:
    """Return the variable of the optimizer that trains what a path names, where it trains other models as well."""
    groups = run.of(GroupRecord)
    holders = {
        (group.optimizer, group.class_name)
        for group in groups
        if path is None or any(name == path or name.startswith(f"{path}.") for name in group.parameters)
    }
    optimizer, class_name = holders.pop() if len(holders) == 1 else ("", "")
    held = [name for group in groups if group.optimizer == optimizer for name in group.parameters]
    models = {model_name(run, name) for name in held}
    return optimizer if len(models) > 1 and optimizer != class_name else None
