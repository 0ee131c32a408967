"""One class has at least ten times as many samples as another.

*Symptom*: accuracy looks high at once; rare classes are hardly ever predicted.

*Why it happens*: the loss is a mean over samples, so that frequent classes decide it.

*What to try*: ``CrossEntropyLoss(weight=...)``, a ``WeightedRandomSampler``, and a score that counts classes
alike, such as balanced accuracy.

*Source*: Amazon SageMaker Debugger, rule ClassImbalance (10 to 1); Buda et al., Neural Networks 106, 2018.
"""

from collections.abc import Iterator

from torchmagic.analyses.class_targets import class_targets
from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.records.finding import Finding, Severity
from torchmagic.rules.rule import line_of, rule
from torchmagic.session.run import Run

# Samples of the largest class over those of the smallest one.
MIN_RATIO = 10.0
# Fewer samples say little of how rare a class is; of many classes some are always rare.
MIN_SAMPLES, MOST_CLASSES = 200, 100


@rule
def class_imbalance(run: Run, *, min_ratio: float = MIN_RATIO, min_samples: int = MIN_SAMPLES) -> Iterator[Finding]:
    """Report each loader that is trained on, in random order, of which one class is rare."""
    for each in class_targets(run):
        counts = each.counts.counts
        if each.loader.shuffle is not True or len(counts) > MOST_CLASSES or sum(counts.values()) < min_samples:
            continue
        most, least = max(counts, key=lambda name: counts[name]), min(counts, key=lambda name: counts[name])
        ratio = counts[most] / counts[least]
        if ratio < min_ratio or most == least:
            continue
        # what a sampler draws, and draws again in each pass, is no count of the samples that there are
        what = "samples" if each.use.num_passes <= 1 else "draws"
        yield Finding(
            rule="class-imbalance",
            severity=Severity.INFO,
            confidence=0.8,
            title=f"class {most} comes {ratio:.0f} times as often as class {least} in batches of {each.loader.name}",
            **line_of(line_of_loader(each.loader)),
            evidence={
                f"{what} of class {most}": counts[most],
                f"{what} of class {least}": counts[least],
                "ratio": ratio,
                "threshold": min_ratio,
                "batches looked at": each.counts.num_batches,
            },
            why="A mean over the samples hardly notices the rare class.",
            fix="nn.CrossEntropyLoss(weight=counts.sum() / counts)  # or sampler=WeightedRandomSampler(...)",
        )
