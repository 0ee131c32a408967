"""This file tells when a device is lost: it answers nothing more before the process ends, whoever asks."""

import re

from torchmagic.probes.taps import Taps
from torchmagic.records.note import NoteRecord
from torchmagic.session.recorder import Recorder

# Errors of CUDA and of HIP that stay: https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html
_LOST = re.compile(
    r"(CUDA|HIP) (driver )?error: .*(device-side assert|illegal (memory access|instruction|address)|misaligned address|"
    r"launch (failure|failed|timed out)|invalid program counter|hardware stack error|uncorrectable ECC)",
    re.IGNORECASE,
)
SAID = "At step {:,} a device was lost ({}). From there on nothing was measured; the device can be used again once the "
SAID += "process, or the kernel of the notebook, is started anew."


def is_lost(error: Exception, taps: Taps, recorder: Recorder) -> bool:
    """Return whether an error that came of looking says that a device is lost.

    Then that is recorded once, and nothing more is heard: all that asks the device raises, the user's own code as well.

    Args:
        error: What a probe raised.
        taps: The run's.
        recorder: The run's.
    """
    said = str(error).partition("\n")[0]
    if not _LOST.search(said):
        return False
    if not taps.lost:
        taps.lost = True
        taps.listeners.clear()
        recorder.add(NoteRecord(text=SAID.format(recorder.step, said)))
    return True
