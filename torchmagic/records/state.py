"""This file is what happened to the states of models: what ``state_dict()`` gave, and where it was put back."""

from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class AliasedStateRecord:
    """A state was put to use that is no copy: its tensors are the model's own, which have changed since.

    Args:
        model: What the model is called where the state was put to use.
        how: ``loaded`` into that model, ``saved`` to a file, or ``same``: the state, just taken, of what is called
            otherwise and is the same model.
        source: What the model is called where its state was taken.
        taken: The line that took the state.
        place: The line that put it to use.
        taken_step: Optimizer steps made before it was taken.
        step: Optimizer steps made before it was put to use, the first time.
        times: How often such a state was put to use by this line.
    """

    model: str
    how: str
    source: str
    taken: Place | None
    place: Place | None
    taken_step: int
    step: int
    times: int
