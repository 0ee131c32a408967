"""This file is the rare looks: the steps at which to look at what costs more than a step may, the same in every run."""

# The first steps, then one in eight, and from step 64 on one in 64: a thousand steps get about thirty looks.
FIRST_STEPS, BETWEEN, LATER, BETWEEN_LATER = 8, 8, 64, 64


def next_rare_look(step: int) -> int:
    """Return the first step after this one that is looked at."""
    if step + 1 < FIRST_STEPS:
        return step + 1
    between = BETWEEN if step < LATER else BETWEEN_LATER
    return step - step % between + between
