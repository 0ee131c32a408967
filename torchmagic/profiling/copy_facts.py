"""This file looks at copies between host and device: which of them bring what had been brought before."""

import ctypes
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from torchmagic.probes.pacing import next_look
from torchmagic.probes.sites import Site, place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.speed import RepeatedCopyRecord
from torchmagic.session.recorder import Recorder

# Copies that are remembered at once, and lines that are told, the dearest first.
MOST_KNOWN, MOST_LINES = 4096, 8
# Bytes of a tensor on the host that are compared; whoever writes through numpy changes no version.
SAMPLE = 4096
# Copies after which a run without steps has shown enough.
MOST_COPIES = 10_000
_Key = tuple[object, ...]


class _Known(NamedTuple):
    """What had been copied: its storage, its version, and some of its values."""

    storage: StorageWeakRef
    version: int
    sample: object


class _Line:
    """The copies of one line in one direction."""

    def __init__(self) -> None:
        self.copies = self.repeats = self.nanoseconds = self.num_bytes = 0
        self.shape: tuple[int, ...] = ()


class Copies:
    """Records a ``RepeatedCopyRecord`` for each line that copies again what it, or another line, had copied before.

    What had been copied is known by its storage, which is not kept alive, by torch's count of the changes to it, and by
    some of the values as the host sees them. Only steps that are looked at count, of which the first may prepare.
    """

    def __init__(self) -> None:
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._known: dict[_Key, _Known] = {}
        self._lines: dict[tuple[Site | None, str, bool], _Line] = {}
        self._num_steps, self._num_copies = -1, 0
        self._looks, self._next = True, 0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Look at the first steps."""
        self._taps, self._recorder = taps, recorder
        taps.on("moved", self._moved)
        taps.see("moves", seen=True)

    def flush(self, step: int) -> None:
        """Count a step that was looked at; look at the next one, or rest."""
        if self._taps is None:
            return
        if self._looks:
            if self._num_steps < 0:
                self._lines.clear()
            self._num_steps += 1
            self._next = next_look(step)
        looks = self._next == step + 1
        if looks is not self._looks:
            self._looks = looks
            self._taps.see("moves", seen=looks)
        if not looks:
            self._taps.rest(self, until=self._next - 1)

    def detach(self) -> None:
        """Hand over the lines, and let go of everything."""
        taps, self._taps = self._taps, None
        recorder, self._recorder = self._recorder, None
        if taps is not None:
            taps.see("moves", seen=False)
        lines = [each for each in self._lines.items() if each[1].repeats]
        for (site, device, back), line in sorted(lines, key=lambda each: -each[1].nanoseconds)[:MOST_LINES]:
            if recorder is not None:
                recorder.add(
                    RepeatedCopyRecord(
                        device=device,
                        back=back,
                        steps=max(0, self._num_steps),
                        copies=line.copies,
                        repeats=line.repeats,
                        seconds=line.nanoseconds / 1e9,
                        num_bytes=line.num_bytes,
                        shape=line.shape,
                        place=place_of(site),
                    )
                )
        self._lines.clear()
        self._known.clear()

    def _moved(self, tensor: torch.Tensor, output: Any, frame: FrameType, nanoseconds: int) -> None:
        self._num_copies += 1
        if self._taps is None or (self._num_steps < 0 and self._num_copies > MOST_COPIES):
            return
        target = output.device if isinstance(output, torch.Tensor) else torch.device("cpu")
        back = target.type == "cpu"
        line = self._lines.setdefault((site_of(frame), str(tensor.device if back else target), back), _Line())
        line.copies += 1
        try:
            repeated = self._is_repeated(tensor, target, _sample(output if back else tensor))
        except RuntimeError:  # it has no memory of its own, as within a transform of functions
            return
        if repeated:
            line.repeats += 1
            line.nanoseconds += nanoseconds
            line.num_bytes += tensor.numel() * tensor.element_size()
            line.shape = tuple(tensor.shape)

    def _is_repeated(self, tensor: torch.Tensor, target: torch.device, sample: object) -> bool:
        """Whether the same was copied there before, and is as it was; from now on it was."""
        if tensor.layout is not torch.strided or sample is None:
            return False
        storage = tensor.untyped_storage()
        version = -1 if tensor.is_inference() else tensor._version
        part = tensor.storage_offset(), tuple(tensor.shape), tensor.stride()
        key = storage._cdata, part, target, type(sample)  # a number and a tensor of it compare as different
        known = self._known.get(key)
        alive = known is not None and not known.storage.expired()  # type: ignore[no-untyped-call] # torch
        if known is not None and alive and (known.version, known.sample) == (version, sample):
            return True
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[key] = _Known(StorageWeakRef(storage), version, sample)  # type: ignore[no-untyped-call] # torch
        return False


def _sample(value: Any) -> object:
    """Return some of the values that the host has, without a call of torch's; None where it has none to compare."""
    if not isinstance(value, torch.Tensor):
        return repr(value)
    if value.device.type != "cpu" or value.layout is not torch.strided:
        return None
    span = 1 + sum((size - 1) * stride for size, stride in zip(value.shape, value.stride(), strict=True))
    address, size = value.data_ptr(), span * value.element_size() if value.numel() else 0
    if not address or not size:
        return b""
    # An odd distance meets each byte of the numbers in turn.
    return bytes(memoryview((ctypes.c_ubyte * size).from_address(address))[:: size // SAMPLE | 1])
