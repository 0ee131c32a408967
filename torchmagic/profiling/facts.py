"""This file is the facts beside a profile: the probes of what makes steps fast or slow and no profiler sees."""

from collections.abc import Mapping
from typing import Any

from torchmagic.probes.names import Names
from torchmagic.probes.probe import Probe
from torchmagic.profiling.compilation_facts import Compilation
from torchmagic.profiling.copy_facts import Copies
from torchmagic.profiling.evaluation_facts import EvaluationGraphs
from torchmagic.profiling.forward_facts import Forwards
from torchmagic.profiling.optimizer_facts import Optimizers, Resets
from torchmagic.profiling.pace_facts import BatchTimes, WorkerStarts
from torchmagic.profiling.verify import Verify


def facts(namespace: Mapping[str, Any], *, verify: bool = False) -> tuple[Probe, ...]:
    """Return the probes whose records the rules on speed read beside the profile.

    Args:
        namespace: The user's names.
        verify: Whether cures are tried on copies after the run.
    """
    return (
        Forwards(namespace),
        Optimizers(namespace),
        Resets(namespace),
        EvaluationGraphs(namespace),
        Copies(),
        BatchTimes(),
        WorkerStarts(namespace),
        Compilation(),
        *([Verify(Names(namespace))] if verify else []),
    )
