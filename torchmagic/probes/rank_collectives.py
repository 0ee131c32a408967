"""This file counts what a rank exchanges with the others through Python, and how long it is in there."""

from types import FrameType
from typing import Any

from torchmagic.probes.sites import Site, place_of, site_of, user_frame
from torchmagic.probes.taps import Taps
from torchmagic.records.ranks import CollectiveRecord
from torchmagic.session.recorder import Recorder
from torchmagic.tensors.glance import tensors_in

# Functions and lines that are told apart; what comes later counts as called by torch.
MOST_SITES = 64


class _Use:
    """One function at one line."""

    __slots__ = ("count", "longest", "longest_step", "num_bytes", "seconds")

    def __init__(self) -> None:
        self.count = self.num_bytes = self.longest_step = 0
        self.seconds = self.longest = 0.0


class Collectives:
    """Records ``comm_seconds``, ``comm_calls`` and ``comm_bytes`` per step, and as the run ends ``CollectiveRecord``.

    DDP's own exchange happens inside torch's engine and is not seen here.
    """

    def __init__(self) -> None:
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._uses: dict[tuple[str, Site | None], _Use] = {}
        self._seconds, self._calls, self._bytes = 0.0, 0, 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Have collectives told, and listen."""
        self._taps, self._recorder = taps, recorder
        taps.see("collectives", seen=True)
        taps.see("waits", seen=True)
        taps.on("collective_end", self._ended)

    def flush(self, step: int) -> None:
        """Close the step."""
        if self._recorder is not None and self._uses:
            self._recorder.append("comm_seconds", (self._seconds,))
            self._recorder.append("comm_calls", (self._calls,))
            self._recorder.append("comm_bytes", (self._bytes,))
        self._seconds, self._calls, self._bytes = 0.0, 0, 0

    def detach(self) -> None:
        """Hand over, and have collectives told no more."""
        recorder, self._recorder = self._recorder, None
        if self._taps is not None:
            self._taps.see("collectives", seen=False)
            self._taps.see("waits", seen=False)
            self._taps = None
        if recorder is None:
            return
        for (function, site), use in self._uses.items():
            recorder.add(
                CollectiveRecord(
                    function=function,
                    count=use.count,
                    seconds=use.seconds,
                    longest=use.longest,
                    longest_step=use.longest_step,
                    num_bytes=use.num_bytes,
                    place=place_of(site),
                )
            )

    def _ended(self, name: str, args: Any, kwargs: Any, nanoseconds: int, frame: FrameType) -> None:
        site = site_of(user_frame(frame))
        if (name, site) not in self._uses and len(self._uses) >= MOST_SITES:
            site = None
        use = self._uses.setdefault((name, site), _Use())
        seconds, num_bytes = nanoseconds / 1e9, 0 if name == "wait" else _bytes_of(args, kwargs)
        use.count += 1
        use.seconds += seconds
        use.num_bytes += num_bytes
        if seconds > use.longest and self._recorder is not None:
            use.longest, use.longest_step = seconds, self._recorder.step
        self._seconds += seconds
        self._bytes += num_bytes
        self._calls += name != "wait"


def _bytes_of(args: Any, kwargs: Any) -> int:
    """Return the bytes of the first tensors that a collective was given; those it fills count as well."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors_in((args, kwargs)))
