"""This file is the random generators of the user's own: what is one, and how it is set back."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

GENERATORS = (torch.Generator, np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)


def is_generator(value: object) -> bool:
    """Whether a value draws random numbers."""
    return issubclass(type(value), GENERATORS)


def setter(generator: Any) -> Callable[[], None]:
    """Return a function that sets a generator back to where it stands now."""
    kind = type(generator)
    if issubclass(kind, torch.Generator):
        state = generator.get_state()
        return lambda: generator.set_state(state)
    if issubclass(kind, random.Random):
        if kind is random.SystemRandom:  # has no state
            return lambda: None
        state = generator.getstate()
        return lambda: generator.setstate(state)
    if issubclass(kind, np.random.RandomState):
        state = generator.get_state(legacy=False)
        return lambda: generator.set_state(state)
    bits = generator if issubclass(kind, np.random.BitGenerator) else generator.bit_generator
    state = bits.state

    def put_back() -> None:
        bits.state = state

    return put_back
