"""This file is the passes of ranks over their loaders: who was given which batches, and how many."""

from collections.abc import Mapping

from torchmagic.analyses.ranks_words import groups_of
from torchmagic.records.model import LoaderRecord
from torchmagic.records.ranks import LoaderPassRecord
from torchmagic.session.ranked import Ranks

Passes = Mapping[int, Mapping[int, LoaderPassRecord]]


def trained_passes(ranks: Ranks) -> dict[str, Passes]:
    """Return, by loader, the passes that were trained on: by number, of each rank that made that one."""
    found: dict[str, dict[int, dict[int, LoaderPassRecord]]] = {}
    for rank, records in ranks.of(LoaderPassRecord).items():
        trained = {record.loader for record in records if record.num_trained}
        for record in records:
            if record.loader in trained:
                found.setdefault(record.loader, {}).setdefault(record.number, {})[rank] = record
    return {loader: dict(sorted(passes.items())) for loader, passes in found.items()}


def loader_named(ranks: Ranks, name: str) -> LoaderRecord | None:
    """Return what the first rank that knows it tells of a loader."""
    records = (record for found in ranks.of(LoaderRecord).values() for record in found)
    return next((record for record in records if record.name == name), None)


def sharing(passes: Passes, *, min_batches: int) -> tuple[tuple[int, ...], int]:
    """Return the largest group of ranks that were given the same batches in their first common pass, and how many.

    Args:
        passes: The passes over one loader.
        min_batches: Fewer batches than this tell nothing; a whole pass does.

    Returns:
        The ranks, none where no two agree or nothing can be told; and the batches that were the same.
    """
    for records in passes.values():
        sequences = {rank: told for rank, record in records.items() if (told := _sequence(record))}
        if len(sequences) < len(records) or len(sequences) < len((0, 1)):
            continue
        length = min(map(len, sequences.values()))
        whole = all(record.finished and record.num_batches <= length for record in records.values())
        if length < min_batches and not whole:
            continue
        group = groups_of({rank: sequence[:length] for rank, sequence in sequences.items()})[0]
        return (group if len(group) > 1 else ()), length
    return (), 0


def shuffled_alike(passes: Mapping[int, LoaderPassRecord], *, min_batches: int) -> bool:
    """Whether one rank was given the same samples in the same order in each of several passes.

    Args:
        passes: The rank's passes over one loader, by number.
        min_batches: Batches that each of them has to have.
    """
    told = [record.indices or record.contents for record in passes.values()]
    length = min(map(len, told), default=0)
    return len(told) > 1 and length >= min_batches and len({each[:length] for each in told}) == 1


def _sequence(record: LoaderPassRecord) -> tuple[str, ...]:
    """Return what tells the batches of a pass apart; nothing for values that do not, as they are all the same."""
    if record.indices:
        return record.indices
    return record.contents if len(set(record.contents)) > 1 else ()
