"""This file is the causes: which findings follow from which others in the same run."""

# A finding of the first rule follows from findings of the others, when there are any.
FOLLOWS_FROM: dict[str, tuple[str, ...]] = {
    "exploding-gradient": ("missing-zero-grad", "nonfinite-input"),
    "nonfinite-forward": ("nonfinite-input", "exploding-gradient", "missing-zero-grad"),
    "nonfinite-gradient": ("nonfinite-input", "exploding-gradient", "missing-zero-grad"),
    "dead-relu": ("exploding-gradient", "missing-zero-grad", "nonfinite-forward"),
}
