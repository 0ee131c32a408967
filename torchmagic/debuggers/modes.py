"""This file is the modes of the first sketches, each told in today's settings."""

from collections.abc import Mapping
from typing import Any

from torchmagic.debuggers.settings import PROBES, Level

MODES: Mapping[str, Mapping[str, Any]] = {
    "anomaly_detection": {"only": ("anomaly",)},
    "gradient_checking": {"only": ("forward", "backward", "gradients", "weights")},
    "memory_profiling": {"only": ("memory",)},
    "performance_profiling": {"only": ("performance",)},
    "full_debug": {"level": Level.EXPERT},
    "none": {"without": PROBES},
}
