"""This file is the ranks of a launch, side by side: one run a rank, and what can be asked of all of them at once.

How it is meant to be used. A rule, an analysis or a view takes a run as always and asks ``run.ranks``:

    def weights_differ(run):
        ranks = run.ranks
        if ranks is None or ranks.num_read < 2:   # an ordinary run, or nobody to compare with: abstain
            return
        for rank, checks in ranks.of(ChecksumRecord).items(): ...
        for rank, (steps, seconds) in ranks.series("sync_wait").items(): ...

``run.ranks`` is None for an ordinary run and for a rank that was not merged. It is there for rank 0's run once it has
ended (it waits for the others' files for a moment), for the run of a cell that launched ranks, for every run that
``torchmagic.load(folder)`` or ``torchmagic.gather(run)`` gives back, and for a rank 0 read from the history. The run
itself is one of ``ranks.runs``, the very same object, unless it only launched them.

For a test, ranks are made by hand: ``run.join(Ranks({0: run, 1: other}, world_size=2))``.

What each rank records: everything that any run records (``seconds``, ``loss``, ``grad_norm``, ``batch_wait``,
``LoaderRecord``, ``NonfiniteRecord``, ``CrashRecord`` …), the records of ``records.ranks``, and these series, one row a
step:

    step_wall        seconds since the epoch, by the host's clock, as the step ended
    comm_seconds     seconds that the calling thread spent in collectives that Python sees, waiting included: those of
                     the user's, of FSDP, and DDP's sending of buffers before a forward, in which it meets a late rank
    comm_calls       how many these were
    comm_bytes       bytes that this rank handed over to them
    sync_wait        seconds that backward waited for other ranks' gradients after the last of its own was ready (DDP);
    sync_seconds     seconds from the first bucket's exchange to the last one's end (DDP). Both are DDP's own times:
                     of its first ten backward passes and then of each hundredth, told at the end of the step after
    gradient_sync    subjects ``reduced``, ``withheld``, ``bypassed``: backward passes since the step before whose
                     gradients the wrapper exchanges, does not (``no_sync``), or cannot, as the model was called around
                     its wrapper
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from torchmagic.records.rank_beats import BeatRecord
from torchmagic.records.ranks import RankRecord
from torchmagic.session.status import Status

if TYPE_CHECKING:
    from torchmagic.session.run import Run

R = TypeVar("R")
NO_BEATS: Mapping[int, BeatRecord] = {}


class Ranks:
    """The runs of one launch that belong together: one a rank.

    Args:
        runs: The runs by rank; it may read them as they are asked for.
        world_size: How many ranks the launch has.
        launch: Its id.
        beats: What each rank told last; empty where the runs were gathered rather than read from a folder.

    Attributes:
        runs: The runs by rank, in order of rank; ranks that left nothing to read are not among them.
        world_size: How many ranks there are.
        launch: Id of the launch.
        beats: What each rank told last.
    """

    def __init__(
        self,
        runs: "Mapping[int, Run]",
        *,
        world_size: int,
        launch: str = "",
        beats: Mapping[int, BeatRecord] = NO_BEATS,
    ) -> None:
        self.runs = runs if not isinstance(runs, dict) else dict(sorted(runs.items()))
        self.world_size, self.launch, self.beats = world_size, launch, beats

    def __repr__(self) -> str:
        return f"<Ranks of {self.launch or 'a launch'}: {self.num_read} of {self.world_size}>"

    @property
    def num_read(self) -> int:
        """How many ranks left a run to read."""
        return len(self.runs)

    @property
    def missing(self) -> tuple[int, ...]:
        """The ranks that left nothing to read."""
        return tuple(rank for rank in range(self.world_size) if rank not in self.runs)

    @property
    def statuses(self) -> Mapping[int, Status]:
        """How each rank's run stands or ended."""
        return {rank: run.status for rank, run in self.runs.items()}

    @property
    def lost(self) -> tuple[int, ...]:
        """The ranks whose process died while its run went on, such as one that was killed."""
        return tuple(rank for rank, status in self.statuses.items() if status is Status.LOST)

    def of(self, kind: type[R]) -> Mapping[int, Sequence[R]]:
        """Return each rank's records of one type, in order of arrival; a rank that has none has an empty sequence."""
        return {rank: run.of(kind) for rank, run in self.runs.items()}

    def series(
        self, metric: str, *, parameter: str | None = None, module: str | None = None, name: str | None = None
    ) -> Mapping[int, tuple[list[int], list[float]]]:
        """Return each rank's (steps, values) of a metric, as ``Run.series`` gives them; both empty where it has none.

        Args:
            metric: Name of the metric.
            parameter: Full name of a parameter, for a metric per parameter.
            module: Path of a module, for a metric per module.
            name: Name of the subject where there are several.
        """
        return {
            rank: run.series(metric, parameter=parameter, module=module, name=name) for rank, run in self.runs.items()
        }


def is_shown(run: "Run") -> bool:
    """Whether a run is to be shown where it was made: of the ranks of a launch only rank 0 is, unless asked."""
    return all(record.rank == 0 for record in run.of(RankRecord))
