"""This file is the history of weights whose units began alike: whether they stayed so, and which line filled them."""

from dataclasses import dataclass

from torchmagic.analyses.data_lines import lines_making
from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import places_by
from torchmagic.records.place import Place
from torchmagic.records.structure import EqualUnitsRecord
from torchmagic.session.run import Run

# Units count as alike up to rounding, which matrix products do in an order that depends on the place.
WEIGHT_TOLERANCE, GRADIENT_TOLERANCE = 1e-4, 1e-2
# Looks that tell whether units part at once.
FEW_STEPS = 8
# Functions and methods that give all values of a tensor the same number.
MAKING = ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like")
FILLING = ("constant_", "zeros_", "ones_", "fill_", "zero_", "full", "full_like", "zeros_like", "ones_like")


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualUnitsHistory:
    """A weight whose units began alike, over all looks.

    Args:
        parameter: Its full name.
        module: Path of its module; empty for a tensor of none.
        num_units: Its units.
        first_step: Step of the first look.
        steps: Steps from first to last look.
        class_name: Class of the module; empty for a tensor of none.
        is_filled: Whether it began with numbers other than zero.
        stays_equal: Whether weights and gradients were alike at each look.
        drift: How far its units were apart after a few steps, as a share of the greatest magnitude.
        stays_zero: Whether all its values were zero at each look.
        has_gradient: Whether it held a gradient at any look.
        gradient_stays_zero: Whether each gradient it held was zero.
        place: Line that filled it in this run; None where none was seen.
    """

    parameter: str
    module: str
    num_units: int
    first_step: int
    steps: int
    class_name: str
    is_filled: bool
    stays_equal: bool
    drift: float
    stays_zero: bool
    has_gradient: bool
    gradient_stays_zero: bool
    place: Place | None

    @property
    def model(self) -> str:
        """Name of the model; empty for a tensor of none."""
        return self.module.partition(".")[0]


def equal_units(run: Run) -> list[EqualUnitsHistory]:
    """Return the weights whose units began alike, in the order in which the optimizer holds them."""
    found: dict[str, list[EqualUnitsRecord]] = {}
    for record in run.of(EqualUnitsRecord):
        found.setdefault(record.parameter, []).append(record)
    return [_history(records) for records in found.values()]


def line_of_filling(run: Run, weight: EqualUnitsHistory) -> Place | None:
    """Return the line that was seen to fill a weight, else one of the cell that may have, by what it calls."""
    if weight.place is not None:
        return weight.place
    made = places_by(run, lambda text: lines_making(text, weight.parameter.rpartition(".")[2], MAKING))
    if made:
        return made[0]
    found = places_by(run, lambda text: lines_calling(text, FILLING))
    name = weight.module.rpartition(".")[2]
    own = [each for each in found if name and not name.isdigit() and name in each.source]
    weights = [each for each in found if "bias" not in each.source]
    return next(iter([*own, *weights]), None)


def _history(records: list[EqualUnitsRecord]) -> EqualUnitsHistory:
    first, last = records[0], records[-1]
    return EqualUnitsHistory(
        parameter=first.parameter,
        module=first.module,
        num_units=first.num_units,
        first_step=first.step,
        steps=last.step - first.step,
        class_name=first.class_name,
        is_filled=not first.is_zero,
        stays_equal=all(_is_equal(record) for record in records),
        drift=max(record.weight_deviation for record in records if record.step - first.step <= FEW_STEPS),
        stays_zero=all(record.is_zero for record in records),
        has_gradient=any(record.has_gradient for record in records),
        gradient_stays_zero=all(record.gradient_is_zero for record in records if record.has_gradient),
        place=first.place,
    )


def _is_equal(record: EqualUnitsRecord) -> bool:
    return record.weight_deviation <= WEIGHT_TOLERANCE and record.gradient_deviation <= GRADIENT_TOLERANCE
