"""The workers of a loader all draw the same random numbers.

*Symptom*: augmentation does less than it should; the same noise comes several times in an epoch, or in every epoch.

*Why it happens*: a generator that the dataset keeps is copied into every worker, and each copy goes on from the same
state; or ``worker_init_fn`` gives every worker the same seed.

*What to try*: draw from torch's, numpy's or Python's global generator, which torch seeds for each worker, or make the
generator in the worker from ``torch.utils.data.get_worker_info().seed``.

*Source*: PyTorch documentation, "Randomness in multi-process data loading"; PyTorch issue 5059.
"""

import ast
from collections.abc import Iterator

from torchmagic.analyses.data_lines import lines_giving
from torchmagic.analyses.loader_lines import line_of_loader
from torchmagic.analyses.source_lines import line_at, nodes_of
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import LoaderRecord
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Below two workers nobody draws the same numbers as another one.
MIN_WORKERS = 2
MAKERS = ("default_rng", "RandomState", "Random", "Generator", "manual_seed", "PCG64", "MT19937")


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
        **(_seeding(run, record.worker_init) or line_of(line_of_loader(record))),
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
        **(_making(run, name.rpartition(".")[2]) or line_of(line_of_loader(record))),
        evidence={"workers": record.num_workers, "generator": ", ".join(record.random_read), "dataset": record.dataset},
        why="A worker begins with a copy of the dataset, and of the generator's state with it: the copies draw "
        "the same numbers, and in the next epoch again.",
        fix="np.random.default_rng(torch.utils.data.get_worker_info().seed)  # made in the worker, at its first sample",
    )


def _making(run: Run, name: str) -> Located | None:
    """Return the line that makes the generator."""
    for line, value in lines_giving(run.source, name):
        if any(isinstance(each, ast.Call) and _last(each.func) in MAKERS for each in ast.walk(value)):
            return Located(line=line, source=line_at(run.source, line))
    return None


def _seeding(run: Run, function: str) -> Located | None:
    """Return the line of a function for workers that seeds."""
    for node in nodes_of(run.source):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            calls = (each for each in ast.walk(node) if isinstance(each, ast.Call) and "seed" in _last(each.func))
            line = next((each.lineno for each in calls), node.lineno)
            return Located(line=line, source=line_at(run.source, line))
    return None


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
