"""This file is the schedule: what changes an optimizer's learning rate, and when it was first asked to."""

from collections.abc import Mapping
from dataclasses import dataclass

from torchmagic.records.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRecord:
    """A learning rate scheduler that was stepped, or was built and never stepped.

    How often it was stepped is the series ``schedule_steps`` under its name.

    Args:
        name: Its variable, else its class.
        class_name: Its class.
        optimizer: Name of its optimizer, else the optimizer's class.
        settings: Its plain numbers, such as ``step_size``, ``T_max``, ``total_steps``, ``gamma`` and ``patience``.
        base_lr: Learning rate a group, before the schedule.
        parts: Classes of the schedulers inside a sequential or chained one.
        step: Optimizer steps made before its first step; None where it was never stepped.
        stepped: Whether it was stepped at all in this run.
        before_optimizer: Whether its first step came before the optimizer's first one since it was built.
        metric: Whether it is given a value to watch, as ``ReduceLROnPlateau`` is: the series ``schedule_metric``.
        mode: Whether that value should come down (``min``) or go up (``max``); empty where there is none.
        scaled: Whether a gradient scaler was in use, which may have skipped the optimizer's step.
        built: Line that built it; None where that was not seen in this run.
        place: Line of its first step.
        began: Steps that it counted before its first one here, as one does whose state was loaded.
    """

    name: str
    class_name: str
    optimizer: str
    settings: Mapping[str, float]
    base_lr: tuple[float, ...]
    parts: tuple[str, ...]
    step: int | None
    stepped: bool
    before_optimizer: bool
    metric: bool
    scaled: bool
    built: Place | None
    place: Place | None
    began: int = 0
    mode: str = ""
