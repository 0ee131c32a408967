"""This file is the causes: which findings follow from which others in the same run."""

# The loop leaves the weights as they are.
NO_UPDATE = ("zero-grad-after-backward", "backward-missing", "step-missing")
# What the loss depends on is not what is trained.
CUT_OFF = ("detached-loss", "detached-subgraph", "stale-optimizer", "unregistered-parameter")
# Nothing that a step does lasts, or it does nothing.
IDLE = (*NO_UPDATE, "model-recreated", "optimizer-recreated", *CUT_OFF)
# Steps lead away, or go too far.
TOO_FAST = ("ascending-loss", "lr-too-high", "input-not-normalised", "target-not-normalised")
# Values grow until they are no numbers.
GROWN = ("nonfinite-input", "exploding-gradient", "missing-zero-grad", *TOO_FAST, "all-targets-ignored")

# A finding of the first rule follows from findings of the others, when there are any.
FOLLOWS_FROM: dict[str, tuple[str, ...]] = {
    "exploding-gradient": (
        "missing-zero-grad",
        "nonfinite-input",
        *TOO_FAST,
        "clip-ineffective",
        "not-log-probabilities",
    ),
    "nonfinite-forward": GROWN,
    "nonfinite-gradient": GROWN,
    "dead-relu": (
        "exploding-gradient",
        "missing-zero-grad",
        "nonfinite-forward",
        "zero-init",
        "symmetric-init",
        "input-not-normalised",
        "output-range-mismatch",
        "constant-batch",
    ),
    "uniform-prediction": (
        "zero-init",
        "symmetric-init",
        "dead-relu",
        "vanishing-gradient",
        "saturated-activation",
        "exploding-gradient",
        "missing-zero-grad",
        "nonfinite-forward",
        "nonfinite-input",
        "amp-overflow-skips",
        "batch-mixing",
        "input-not-normalised",
        "constant-batch",
        *NO_UPDATE,
        *CUT_OFF,
        "weight-decay-dominates",
        "lr-too-high",
        "wrong-dim-softmax",
        "degenerate-logits",
        "output-range-mismatch",
        "softmax-before-cross-entropy",
        "sigmoid-before-bce-with-logits",
        "loss-broadcast",
    ),
    "vanishing-gradient": (
        "zero-init",
        "saturated-activation",
        "dead-relu",
        "input-not-normalised",
        "zero-grad-after-backward",
        "degenerate-logits",
        "softmax-before-cross-entropy",
        "output-range-mismatch",
    ),
    "saturated-activation": (
        "exploding-gradient",
        "missing-zero-grad",
        "symmetric-init",
        "input-not-normalised",
        "output-range-mismatch",
        "softmax-before-cross-entropy",
        "lr-too-high",
    ),
    "symmetric-init": ("zero-init", *NO_UPDATE),
    "detached-loss": ("no-grad-training",),
    "global-mode-left": ("no-grad-training",),
    "fp16-headroom": ("exploding-gradient", "amp-overflow-skips"),
    "param-not-in-optimizer": ("stale-optimizer", "unregistered-parameter", "module-created-in-forward"),
    "unused-parameter": (
        "stale-optimizer",
        "detached-loss",
        "backward-missing",
        "zero-grad-after-backward",
    ),
    "lr-too-high": (
        "missing-zero-grad",
        "nonfinite-input",
        "input-not-normalised",
        "target-not-normalised",
        "ascending-loss",
        "grad-accumulation-unscaled",
        "unscaled-step",
        "not-log-probabilities",
        "output-range-mismatch",
    ),
    "lr-zero": ("scheduler-step-frequency", "scheduler-not-stepped"),
    "params-unchanged": (
        "lr-zero",
        "scheduler-step-frequency",
        "amp-overflow-skips",
        "detached-loss",
        *NO_UPDATE,
        "zero-init",
        "degenerate-logits",
    ),
    "scheduler-before-optimizer": ("step-missing",),
    "swallowed-update": ("params-unchanged", "lr-zero", "scheduler-step-frequency"),
    "update-too-large": (
        "lr-too-high",
        "missing-zero-grad",
        "unscaled-step",
        "grad-accumulation-unscaled",
        "ascending-loss",
        "exploding-gradient",
    ),
    "update-too-small": (
        "lr-zero",
        "scheduler-step-frequency",
        "scheduler-not-stepped",
        "params-unchanged",
        "swallowed-update",
        "vanishing-gradient",
        "detached-loss",
        "zero-init",
        "zero-grad-after-backward",
        "backward-missing",
        "degenerate-logits",
    ),
    "weight-decay-dominates": ("missing-zero-grad", "detached-loss"),
    "unshuffled-loader": ("constant-batch",),
    "class-imbalance": ("constant-batch",),
    "loss-not-decreasing": IDLE,
    "plateau": IDLE,
    "zero-init": NO_UPDATE,
    "grad-accumulation-unscaled": ("missing-zero-grad",),
    "optimizer-recreated": ("model-recreated",),
    "batch-mixing": ("wrong-dim-softmax", "module-created-in-forward"),
    "target-not-normalised": ("output-range-mismatch",),
    "backward-missing": ("degenerate-logits",),
}

# A finding of these is dropped when any other error or warning explains the run better.
LAST_RESORTS = frozenset({"loss-not-decreasing"})
