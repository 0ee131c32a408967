"""This file is the refusal: no training step was found in a cell, or none that can be run on copies."""


class NoStepError(ValueError):
    """No step can be measured; the message is one line that says what to write."""
