"""A loader gives the classes one after the other: most batches hold one or two of many.

*Symptom*: the loss falls within each stretch of a class and jumps at the next; the model answers with the class that it
saw last.

*Why it happens*: the dataset is sorted by class, as folders of images are, and ``shuffle`` is off, which is the default
of ``DataLoader``. An ``IterableDataset`` has an order of its own, that of its files for example.

*What to try*: ``DataLoader(..., shuffle=True)`` for training, or permute the samples once. Mix a stream where it is
made: read its files in turn, or draw from a buffer of some thousand samples.

*Source*: Humbatova et al., "Taxonomy of real faults in deep learning systems", ICSE 2020 (order of training data);
Humbatova et al., DeepCrime, ISSTA 2021.
"""

import itertools
from collections.abc import Iterator

from torchmagic.analyses.class_targets import ClassTargets, class_targets, family_of
from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# The share of the batches looked at that hold two classes at most, or one of two.
MIN_SHARE = 0.8
# Fewer batches can be so by chance.
MIN_BATCHES = 5
# Such batches must be rare in a random order: small batches, or one class that is nearly everything, say nothing.
MOST_BY_CHANCE = 0.25
# The largest classes decide how likely a batch of two classes is.
MOST_CLASSES = 30
# Of an order that the user's own sampler makes, so many batches must go on with the classes where the last one ended.
MIN_IN_ORDER = 0.7
# What torch puts in the place of a sampler where an IterableDataset decides on the order.
STREAMING = "_InfiniteConstantSampler"


@rule
def unshuffled_loader(
    run: Run, *, min_share: float = MIN_SHARE, min_batches: int = MIN_BATCHES, most_by_chance: float = MOST_BY_CHANCE
) -> Iterator[Finding]:
    """Report each loader in a fixed order whose batches hold few classes."""
    told: set[str] = set()
    for each in class_targets(run):
        counts, record = each.counts, each.loader
        share = counts.num_few / max(counts.num_batches, 1)
        chance = _by_chance(each)
        streams = record.sampler == STREAMING
        in_order = record.shuffle is None and counts.num_in_order >= MIN_IN_ORDER * (counts.num_batches - 1)
        judged = (streams or in_order or record.shuffle is False) and family_of(record.name) not in told
        if not judged or share <= min_share or counts.num_batches < min_batches or chance > most_by_chance:
            continue
        told.add(family_of(record.name))
        few = "a single class" if len(counts.counts) == 2 else "one or two classes"  # noqa: PLR2004 - of two
        # What comes in order is known whole only when all of it was looked at.
        least = "" if 0 < (record.num_batches or 0) <= counts.num_batches else "at least "
        yield Finding(
            rule="unshuffled-loader",
            severity=Severity.WARNING,
            confidence=0.9,
            title=f"{share:.0%} of the batches of {record.name} hold {few} of {least}{len(counts.counts)}",
            **line_of(line_of_loader(record)),
            evidence={
                "batches looked at": counts.num_batches,
                "with few classes": counts.num_few,
                "expected in random order": f"{chance:.1%}",
                "threshold": f"{min_share:.0%}",
                "classes seen": len(counts.counts),
                "sampler": record.sampler,
            },
            why=f"The samples come sorted by class{'' if streams else ' and in a fixed order'}: each step follows one "
            "class and forgets the others.",
            fix=_fix(record),
        )


def _fix(record: LoaderRecord) -> str:
    """Return where the order is made, and what mixes it."""
    if record.sampler == STREAMING:
        return f"random.shuffle(samples)  # in {record.dataset}.__iter__, or draw from a buffer of samples"
    if record.shuffle is None:
        return f"random.shuffle(indices)  # in {record.sampler}.__iter__"
    return "DataLoader(..., shuffle=True)  # for training"


def _by_chance(each: ClassTargets) -> float:
    """Return a bound on how likely a batch of so few classes is in a random order."""
    numbers = sorted(each.counts.counts.values(), reverse=True)
    total = sum(numbers)
    size = total / max(each.counts.num_batches, 1)
    shares = [number / total for number in numbers]
    if len(shares) < 2:  # noqa: PLR2004 - one class is in every batch
        return 1.0
    if len(shares) == 2:  # noqa: PLR2004 - a single class of two
        return min(1.0, sum(float(share**size) for share in shares))
    pairs = itertools.combinations(shares[:MOST_CLASSES], 2)
    return min(1.0, sum(float((one + other) ** size) for one, other in pairs))
