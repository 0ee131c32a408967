"""The workers of a loader all draw the same random numbers.

*Symptom*: augmentation does less than it should; the same noise comes several times in an epoch, or in every epoch.

*Why it happens*: a generator that the dataset keeps is copied into every worker, and each copy goes on from the same
state; or ``worker_init_fn`` gives every worker the same seed.

*What to try*: draw from torch's, numpy's or Python's global generator, which torch seeds for each worker, or make the
generator in the worker from ``torch.utils.data.get_worker_info().seed``.

*Source*: PyTorch documentation, "Randomness in multi-process data loading"; PyTorch issue 5059.
"""

from collections.abc import Iterator, Sequence

from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.seed_lines import KINDS, line_making_generator, line_seeding
from torchmagic.analyses.source_lines import lines_calling
from torchmagic.analyses.texts import places_by
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.records.place import Place
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Below two workers nobody draws the same numbers as another one.
MIN_WORKERS = 2


@rule
def duplicated_worker_seed(run: Run, *, min_workers: int = MIN_WORKERS) -> Iterator[Finding]:
    """Report each loader whose workers go on from one random state."""
    for record in run.of(LoaderRecord):
        if record.num_workers < min_workers:
            continue
        if record.worker_init_constant:
            yield _constant_seed(run, record)
        elif record.random_read and not record.worker_init:
            yield _copied(run, record)


def _constant_seed(run: Run, record: LoaderRecord) -> Finding:
    return Finding(
        rule="duplicated-worker-seed",
        severity=Severity.WARNING,
        confidence=0.9,
        title=f"worker_init_fn gives all {record.num_workers} workers of {record.name} the same seed",
        **_located(record, places_by(run, lambda text: line_seeding(text, record.worker_init))),
        evidence={"workers": record.num_workers, "worker_init_fn": record.worker_init},
        why="It uses neither the worker's number nor its seed, so that all workers draw the same numbers.",
        fix="np.random.seed(torch.initial_seed() % 2**32)  # torch's seed differs from worker to worker",
    )


def _copied(run: Run, record: LoaderRecord) -> Finding:
    name = record.random_read[0]
    return Finding(
        rule="duplicated-worker-seed",
        severity=Severity.WARNING,
        confidence=0.85,
        title=f"each of the {record.num_workers} workers of {record.name} draws from its own copy of {name}",
        **_located(record, _made(run, name.rpartition(".")[2])),
        evidence={"workers": record.num_workers, "generator": ", ".join(record.random_read), "dataset": record.dataset},
        why="A worker begins with a copy of the dataset, and of the generator's state with it: the copies draw "
        "the same numbers, and in the next epoch again.",
        fix="np.random.default_rng(torch.utils.data.get_worker_info().seed)  # made in the worker, at its first sample",
    )


def _made(run: Run, name: str) -> list[Place]:
    """Return the lines that make a generator of this name, or the only one that makes any of numpy or Python."""
    named = places_by(run, lambda text: line_making_generator(text, name))
    every = [] if named else places_by(run, lambda text: lines_calling(text, KINDS))
    return named or (every if len(every) == 1 else [])


def _located(record: LoaderRecord, places: Sequence[Place]) -> Located:
    """Return a line of this cell, else that of an earlier one, else the loader's."""
    return line_of(next(iter(places), record.seeded or line_of_loader(record)))
