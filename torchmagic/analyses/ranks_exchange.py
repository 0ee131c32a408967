"""This file is what ranks exchange: whether they hold copies of one model, and how those are kept together."""

from collections.abc import Iterator

from torchmagic.records.model import ModelRecord
from torchmagic.records.ranks import CollectiveRecord, Wrapping, WrapRecord
from torchmagic.session.ranked import Ranks

# Who calls these hands on activations, or other parts of the work, and not gradients of copies.
PARTING = frozenset(
    {
        "send", "recv", "isend", "irecv", "batch_isend_irecv", "all_to_all", "all_to_all_single", "scatter",
        "scatter_object_list", "reduce_scatter", "reduce_scatter_tensor", "reduce_scatter_single",
    }
)  # fmt: skip
# A step that exchanges this share of a model's bytes exchanges the model: anything less may be a metric.
MODEL_SHARE = 0.5
# Exchanged in more steps than this share, it is exchanged in all of them: the first ones may be without.
EACH_STEP = 0.9


def wraps(ranks: Ranks, model: str = "") -> list[WrapRecord]:
    """Return how models are wrapped, of all ranks; with a name, that model alone."""
    found = (record for records in ranks.of(WrapRecord).values() for record in records)
    return [record for record in found if not model or record.model == model]


def wrapping_of(ranks: Ranks, model: str) -> Wrapping:
    """Return what keeps the copies of a model together; nothing, where that is not known."""
    return next((record.wrapper for record in wraps(ranks, model)), Wrapping.NONE)


def splits_work(ranks: Ranks) -> bool:
    """Whether ranks do different parts of one computation by design: stages, experts, or parts of tensors.

    Then it is no fault that they have equal data, or different weights under one name.
    """
    if any(record.wrapper is Wrapping.NONE and record.num_shards > 1 for record in wraps(ranks)):
        return True
    return any(record.function in PARTING and record.place is not None for record in _collectives(ranks))


def averages_now_and_then(ranks: Ranks) -> bool:
    """Whether ranks train apart by design and exchange their models by hand after some steps."""
    return 0 < _exchanging(ranks) < EACH_STEP


def _exchanging(ranks: Ranks) -> float:
    """Return the share of the steps, the first one left out, in which as many bytes as a model's were exchanged."""
    first = next(iter(ranks.runs.values()), None)
    if first is None:
        return 0.0
    size = max((record.num_bytes for record in first.of(ModelRecord)), default=0)
    steps, sent = first.series("comm_bytes")
    counted = [amount for step, amount in zip(steps, sent, strict=True) if 0 < step < first.steps]
    return sum(amount >= MODEL_SHARE * size for amount in counted) / len(counted) if counted and size else 0.0


def _collectives(ranks: Ranks) -> Iterator[CollectiveRecord]:
    for records in ranks.of(CollectiveRecord).values():
        yield from records
