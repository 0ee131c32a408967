"""This file is the beginning of training: which random numbers, layers and first batch a run set out with."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginningRecord:
    """What training began with: at the first forward that trains, else at the first backward or optimizer step.

    Where none of these was seen it is recorded as the run ends, if torch was seeded anew or steps were made.

    Args:
        seed: What torch's generator was seeded with last before.
        random: Digest of where that generator stood: equal digests mean that the same numbers come next;
            empty where it could not be read.
        model: Name of the model that was called; empty where training began with something else.
        batch_size: Rows of the first tensor that it was given; None where that has none.
        values: Digest of the values that it was given; empty where they were not read, as on an accelerator.
        layers: Of its modules, how many there are of each class, as ``Linear layers``, and what those of torch's own
            are set to apart from their sizes, as ``Dropout p``; of several settings each once.
    """

    seed: int
    random: str
    model: str = ""
    batch_size: int | None = None
    values: str = ""
    layers: Mapping[str, str] | None = None
