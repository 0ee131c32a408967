"""This file gathers the runs of all ranks on rank 0, for those whose ranks share no folder."""

from datetime import timedelta

from torch import distributed

from torchmagic.debuggers.loading import judged_together
from torchmagic.probes.ranks import is_rank
from torchmagic.records.ranks import RankRecord
from torchmagic.session.loading import from_json
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run

PATIENCE = 120.0


def gather(run: Run, *, timeout: float = PATIENCE) -> Run:
    """Bring the runs of all ranks together on rank 0; every rank must call it, once its watch has ended.

    It is one exchange over a gloo group of its own, so that runs need no shared folder. The process group must still be
    there: call it before ``destroy_process_group``::

        with torchmagic.watch() as run:
            train()
        run = torchmagic.gather(run)

    Args:
        run: This rank's run.
        timeout: Seconds after which a rank that does not come is an error.

    Returns:
        On rank 0 the run with ``run.ranks``, judged with what all ranks recorded; on the others the run as it was.

    Raises:
        TypeError: If something else than a run came.
        ValueError: If this process is no rank, or the run was not watched as one.
        RuntimeError: If a rank does not come in time.
    """
    if not isinstance(run, Run):
        raise TypeError(f"gather wants the run that `with torchmagic.watch() as run` gives, {type(run).__name__} came")
    told = next(iter(run.of(RankRecord)), None)
    if not is_rank() or told is None:
        raise ValueError("gather wants a run of a rank, while torch.distributed is initialised; this one is not")
    size = distributed.get_world_size()
    group = distributed.new_group(backend="gloo", timeout=timedelta(seconds=timeout))
    try:
        found: list[str] | None = [""] * size if distributed.get_rank() == 0 else None
        distributed.gather_object(run.to_json(), found, dst=0, group=group)
    finally:
        distributed.destroy_process_group(group)
    if found is None:
        return run
    runs = {rank: run if rank == told.rank else from_json(text) for rank, text in enumerate(found)}
    return judged_together(Ranks(runs, world_size=size, launch=told.launch))
