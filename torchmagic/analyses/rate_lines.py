"""This file is the lines of rates: where in the user's code a learning rate is made what it is."""

from torchmagic.analyses.optimizer_lines import place_of_setting
from torchmagic.analyses.rates import ZERO, Rate
from torchmagic.analyses.source_lines import lines_assigning, lines_computing_rates
from torchmagic.analyses.texts import places_by
from torchmagic.records.place import Place
from torchmagic.session.run import Run


def place_of_rate(run: Run, rate: Rate) -> Place | None:
    """Return the line that builds the schedule, else one that sets the rate by hand, else that of the optimizer.

    A schedule that is never stepped has made only the first rate.
    """
    moves = rate.values.max() > rate.values.min()
    for schedule in rate.schedules:
        if any(schedule.base_lr) and (schedule.stepped or not moves) and (schedule.built or schedule.place):
            return schedule.built or schedule.place
    by_hand = places_by(run, lines_computing_rates) or places_by(run, lambda text: lines_assigning(text, "lr"))
    if by_hand and rate.values.max() >= ZERO:
        return by_hand[0]
    return place_of_setting(run, rate.group, "lr")
