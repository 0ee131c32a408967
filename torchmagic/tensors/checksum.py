"""This file is the checksum: a few digits that tell whether two tensors have the same bits, in the same order."""

import zlib
from collections.abc import Sequence

import torch

from torchmagic.tensors.presence import PLAIN
from torchmagic.tensors.reduce import UNREADABLE_ERRORS

# On a device, the sums of the columns and of the rows of so wide a table stand for the values: one pass each, and one
# changed value changes a sum of both.
WIDTH = 4096
WHOLE_NUMBERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
NOTHING = ""


def checksums(tensors: Sequence[torch.Tensor]) -> list[str]:
    """Return eight hexadecimal digits a tensor; empty for one that cannot be read.

    Nothing is communicated: of a tensor that is spread over ranks, ask with its local part. Of tensors on a device the
    sums are made there and fetched in one transfer.

    Args:
        tensors: Of any shapes, dtypes and devices.
    """
    found = [NOTHING] * len(tensors)
    waiting: list[tuple[int, torch.Tensor]] = []
    for place, tensor in enumerate(tensors):
        try:
            if tensor.device.type == "cpu":
                found[place] = digits(_bytes_of(tensor))
            elif not tensor.is_meta:
                waiting.append((place, _sums(tensor)))
        except UNREADABLE_ERRORS:
            continue
    for device in {sums.device for _, sums in waiting}:
        alike = [(place, sums) for place, sums in waiting if sums.device == device]
        fetched, begins = torch.cat([sums for _, sums in alike]).cpu(), 0
        for place, sums in alike:
            found[place] = digits(_bytes_of(fetched[begins : begins + sums.numel()]))
            begins += sums.numel()
    return found


def digits(values: bytes | memoryview) -> str:
    """Return eight hexadecimal digits of some bytes."""
    return f"{zlib.crc32(values):08x}"


def together(sums: Sequence[str]) -> str:
    """Return eight hexadecimal digits of several checksums, in their order."""
    return digits(" ".join(sums).encode())


def is_shard(tensor: torch.Tensor) -> bool:
    """Whether this rank has only a part of a tensor's values."""
    if type(tensor) in PLAIN or not hasattr(tensor, "placements"):
        return False
    return any(not each.is_replicate() for each in tensor.placements)


def _bytes_of(tensor: torch.Tensor) -> memoryview:
    flat = tensor.detach().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data


def _sums(tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.detach().contiguous().reshape(-1)
    whole = flat.view(WHOLE_NUMBERS.get(flat.element_size(), torch.int64))
    even = whole.numel() - whole.numel() % WIDTH
    table = whole[:even].view(-1, WIDTH)
    return torch.cat([table.sum(0, dtype=torch.int64), table.sum(1, dtype=torch.int64), whole[even:].long()])
