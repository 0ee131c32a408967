"""This file is the rare looks: the steps at which to look at what costs more than a step may, the same in every run."""

from torchmagic.probes.pacing import longest_rest

# The first steps, then one in eight, and from step 64 on one in 64, later more rarely: a thousand steps get about
# thirty looks.
FIRST_STEPS, BETWEEN, LATER = 8, 8, 64


def next_rare_look(step: int) -> int:
    """Return the first step after this one that is looked at."""
    if step + 1 < FIRST_STEPS:
        return step + 1
    between = BETWEEN if step < LATER else longest_rest(step)
    return step - step % between + between
