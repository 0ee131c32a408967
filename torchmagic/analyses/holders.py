"""This file is the table of tensors that only the notebook itself keeps."""

from dataclasses import dataclass

from torchmagic.records.memory import HolderRecord
from torchmagic.session.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What one keeper holds that nobody else does: the largest's record, all names, bytes in all."""

    largest: HolderRecord
    names: tuple[str, ...]
    num_bytes: int


def held_by(run: Run, keeper: str) -> Held | None:
    """Return what a keeper alone holds, or None."""
    records = [record for record in run.of(HolderRecord) if record.keeper == keeper and not record.also]
    if not records:
        return None
    largest = max(records, key=lambda record: record.num_bytes)
    names = tuple(dict.fromkeys(record.name for record in records))
    return Held(largest=largest, names=names, num_bytes=sum(record.num_bytes for record in records))
