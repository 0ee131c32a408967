"""This file is the copies of a model that ranks train: where their checksums part, and whether they meet again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torchmagic.analyses.ranks_words import groups_of
from torchmagic.records.ranks import Checked, ChecksumRecord, WrapRecord
from torchmagic.session.ranked import Ranks

Looks = dict[int, dict[int, ChecksumRecord]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """The checksums of one model on all ranks that have it.

    Args:
        model: Its name.
        what: Of what they are.
        looks: Steps at which at least two ranks looked, in order.
        groups: At each look, the ranks that agree, the largest group first.
        names: Tensors that differed at the first look that tells them apart, in order of their names.
        num_names: Tensors that were compared at that look.
    """

    model: str
    what: Checked
    looks: tuple[int, ...]
    groups: Mapping[int, list[tuple[int, ...]]]
    names: tuple[str, ...]
    num_names: int

    @property
    def apart(self) -> tuple[int, ...]:
        """The looks at which not all ranks agreed."""
        return tuple(step for step in self.looks if len(self.groups[step]) > 1)

    @property
    def met_again(self) -> bool:
        """Whether copies that had parted were equal at a later look, as where they are averaged now and then."""
        return bool(self.apart) and any(step > self.apart[0] and len(self.groups[step]) == 1 for step in self.looks)


def copies(ranks: Ranks, what: Checked) -> list[Copies]:
    """Return for each model what its checksums say; without models of which ranks have different tensors."""
    found: dict[str, Looks] = {}
    for rank, records in ranks.of(ChecksumRecord).items():
        for record in records:
            if record.what is what:
                found.setdefault(record.model, {}).setdefault(record.step, {})[rank] = record
    told = (_compared(model, what, looks, _ignored(ranks, model)) for model, looks in found.items())
    return [each for each in told if each is not None]


def _compared(model: str, what: Checked, looks: Looks, ignored: frozenset[str]) -> Copies | None:
    shared = {step: records for step, records in sorted(looks.items()) if len(records) > 1}
    if not shared or not _same_tensors(shared):
        return None
    keys = {step: _keys(records, ignored) for step, records in shared.items()}
    groups = {step: groups_of(each) for step, each in keys.items() if each}
    if not groups:
        return None
    parted = [shared[step] for step, each in groups.items() if len(each) > 1]
    detailed = next((records for records in parted if all(each.digests for each in records.values())), {})
    names = tuple(_different(detailed, ignored))
    first = next(iter(detailed.values()), None)
    return Copies(
        model=model,
        what=what,
        looks=tuple(groups),
        groups=groups,
        names=names,
        num_names=len(first.digests) if first is not None else 0,
    )


def _keys(records: Mapping[int, ChecksumRecord], ignored: frozenset[str]) -> dict[int, object]:
    """Return what has to be equal on all ranks; nothing where it is not known without what is not to be compared."""
    if not ignored:
        return {rank: record.whole for rank, record in records.items()}
    if not all(record.digests for record in records.values()):
        return {}
    return {
        rank: tuple((name, digest) for name, digest in record.digests.items() if not _is_one_of(name, ignored))
        for rank, record in records.items()
    }


def _same_tensors(looks: Looks) -> bool:
    """Whether the ranks have tensors of the same names, by the first look that names them; none says nothing."""
    named = next((found for found in looks.values() if all(each.digests for each in found.values())), {})
    return len({frozenset((*each.digests, *each.shards, *each.skipped)) for each in named.values()}) <= 1


def _different(records: Mapping[int, ChecksumRecord], ignored: frozenset[str]) -> Iterator[str]:
    names = dict.fromkeys(name for record in records.values() for name in record.digests)
    for name in names:
        digests = {record.digests.get(name) for record in records.values()}
        if len(digests) > 1 and not _is_one_of(name, ignored):
            yield name


def _ignored(ranks: Ranks, model: str) -> frozenset[str]:
    records = (record for found in ranks.of(WrapRecord).values() for record in found if record.model == model)
    return frozenset(name for record in records for name in record.ignored)


def _is_one_of(name: str, ignored: frozenset[str]) -> bool:
    """Whether a name is among others that may lack the path in front, such as that of the wrapper."""
    return name in ignored or any(name.endswith(f".{each}") for each in ignored)
