"""This file is the part of an assembly that looks for non-finite values, and whether torch's own detection is on."""

from collections.abc import Iterator

from torchmagic.debuggers.parts import Parts
from torchmagic.debuggers.settings import Anomaly, Level, Settings
from torchmagic.probes.cast import Cast
from torchmagic.probes.gradients import Gradients
from torchmagic.probes.nonfinite import Nonfinite
from torchmagic.probes.probe import Probe
from torchmagic.probes.replay_wrappers import Detection
from torchmagic.probes.taps import Taps


def anomaly_parts(parts: Parts, settings: Settings, cast: Cast, taps: Taps, gradients: Gradients) -> Iterator[Probe]:
    """Yield the probe of non-finite values where it is wanted, and switch torch's detection as the settings say."""
    chosen, detection = settings.anomaly, Detection.OFF
    if chosen is not Anomaly.OFF and settings.watches("anomaly"):
        raises, warns, detects = (chosen is each for each in (Anomaly.RAISE, Anomaly.WARN, Anomaly.DETECT))
        if detects or (chosen is None and settings.level is Level.EXPERT):
            detection = Detection.RAISES if detects else Detection.REMEMBERS
        yield parts(Nonfinite, cast, taps, gradients, raises=raises, warns=warns, detects=detects)
    taps.detect_anomalies(detection)
