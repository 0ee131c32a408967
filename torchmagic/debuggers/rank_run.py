"""This file is the run of a rank: where it is kept, when that is known, and how the others' runs join it in the end."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from torchmagic.debuggers.carrying import Carried, Opens, origin
from torchmagic.debuggers.pulse import Pulse
from torchmagic.debuggers.settings import Settings
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.rank_progress import Progress
from torchmagic.probes.ranks import agreed_launch, is_rank, launch_by_environment, new_launch, rank_record, will_be_rank
from torchmagic.probes.sites import place_of, site_of
from torchmagic.probes.taps import Taps
from torchmagic.records.finding import Finding
from torchmagic.records.rank_beats import HangRecord
from torchmagic.records.ranks import LaunchRecord, RankRecord
from torchmagic.session.beats import lives, read_beats
from torchmagic.session.database import StoreError
from torchmagic.session.launches import NUMBERS_APART, folder_of, read_launch, store_of
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run
from torchmagic.session.session import Session

# Rank 0 waits so long for the files of the others, whose runs end at about the same time.
PATIENCE, BETWEEN_LOOKS = 2.5, 0.02
# Of a rank that nobody looks at while it runs, findings are wanted in the end; should it be killed, those so far.
UNSEEN = 8
# A rank that failed waits so long to hear whether another one ends too: an error in the code ends all at once.
HEARING = 1.0
# Of more ranks the runs are read when somebody asks for them, and not at the end of rank 0's.
MOST_MERGED = 64
# Watched runs of this process in each launch.
_sequences: dict[str, int] = {}


class RankRun:
    """Knows whether a run is one of a rank, and keeps it where it belongs; of an ordinary run it is its session.

    It is a probe as well: it hears when ``torch.distributed`` begins.

    Args:
        run: The run.
        session: Where an ordinary run is kept.
        settings: How it is watched.
        on_join: Called once the run is known to be one of a rank.
        watch: What opens runs, for the processes that this run starts.

    Attributes:
        record: Which rank it is; None where it is none, or that is not known yet.
        progress: What the rank did last.
    """

    flush = nothing_waits

    def __init__(
        self, run: Run, session: Session, settings: Settings, *, on_join: Callable[[], None], watch: type[Opens]
    ) -> None:
        self.record: RankRecord | None = None
        self.progress = Progress()
        self._run, self._session, self._settings, self._on_join = run, session, settings, on_join
        self._watch = watch
        self._recorder: Recorder | None = None
        self._own: Session | None = None
        self._pulse: Pulse | None = None
        self._folder = Path()
        self._launched = ""

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Join at once where this process is a rank already; else listen for that."""
        self._recorder = recorder
        taps.carry = self._carry
        taps.on("ranked", self._ranked)

    def detach(self) -> None:
        """Nothing is held."""
        self._recorder = None

    def begin(self) -> None:
        """Join where this process is a rank already, once all probes listen."""
        self._ranked()

    def write(self, *, final: bool = False, urgent: bool = False) -> None:
        """Have what is new written to where the run belongs; while that is not known yet, nothing is."""
        if not self._settings.save:
            return
        if self.record is None and (will_be_rank() or origin() is not None):
            if not final:
                return
            self._join()
        target = self._own or self._session
        target.write(self._run, **({"urgent": True} if urgent else {"final": final}))
        if final and self._own is not None and self._represents:
            self._session.write(self._run, final=True)

    def end(self, error: BaseException | None) -> None:
        """Say at once that the rank has ended, and let rank 0 read what the others have left."""
        if self._pulse is not None:
            self._pulse.stop()
            self._pulse.beat("running" if error is None else "error", error)
        if self._launched:
            with suppress(ValueError, StoreError):
                self._run.join(read_launch(self._folder))
        record = self.record
        if record is None or self._own is None or record.rank != 0:
            return
        if record.world_size <= MOST_MERGED:
            self._wait_for_others()
            self._run.join(read_launch(self._folder, sequence=record.sequence, here={0: self._run}))

    def close(self) -> None:
        """Say how the run ended, once it is written."""
        if self._pulse is not None:
            self._pulse.beat(self._run.status.value)
            self._pulse = None
        if self._own is not None:
            self._own.close()

    def beside(self, found: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return findings with those that rank 0 has by itself, where the run only started the ranks."""
        known = {(each.rule, each.title) for each in found}
        ranks = self._run.ranks if self._launched else None
        more = ranks.runs[min(ranks.runs)].findings if ranks is not None and ranks.runs else ()
        return (*found, *(each for each in more if (each.rule, each.title) not in known))

    @property
    def patience(self) -> int:
        """How many times as long to wait between judgements of a run that goes on: nobody sees another rank's then."""
        return 1 if self.record is None or self.record.rank == 0 else UNSEEN

    def speaks(self, error: BaseException | None) -> bool:
        """Whether this process tells what became of the launch, once its run is over: rank 0, and any ordinary run.

        Another rank does where it failed and no rank before it ends as well: those may wait for it for ever.

        Args:
            error: What ended the run.
        """
        record = self.record
        if record is None or record.rank == 0:
            return True
        if error is None or self._own is None:
            return False
        deadline = time.monotonic() + HEARING
        while time.monotonic() < deadline:
            if any(beat.status != "running" for beat in read_beats(self._folder).values() if beat.rank < record.rank):
                return False
            time.sleep(BETWEEN_LOOKS)
        return True

    @property
    def _represents(self) -> bool:
        """Whether the run stands for all ranks in the project's history: rank 0's does, unless a run started them."""
        return self.record is not None and self.record.rank == 0 and origin() is None

    def _ranked(self) -> None:
        if self.record is None and is_rank():
            self._join()

    def _join(self) -> None:
        started = origin()
        launch = started.launch if started is not None else agreed_launch() if is_rank() else launch_by_environment()
        sequence = _sequences.get(launch, 0)
        _sequences[launch] = sequence + 1
        record = rank_record(launch, sequence=sequence, launcher="" if started is None else "processes")
        if started is not None and not is_rank():  # it ended before the ranks had found together
            record = replace(record, rank=started.number, world_size=started.num_processes)
        self.record = record
        if self._recorder is not None:
            self._recorder.add(record)
        else:
            self._run.records.append(record)
        if self._settings.save:
            self._folder = folder_of(self._project, launch)
            self._own = Session(file=store_of(self._folder, record.rank))
            self._run.number = 1 + record.rank * NUMBERS_APART + sequence
            self._folder.mkdir(parents=True, exist_ok=True)
        if self._recorder is not None:
            self._on_join()
            if self._own is not None:
                after = self._settings.hang_after
                self._pulse = Pulse(record, self._folder, self.progress, hang_after=after, tell=self._hang)
                self._pulse.start()
            self.write(urgent=True)

    @property
    def _project(self) -> Path:
        return self._session.path.parent.parent

    def _hang(self, record: HangRecord) -> None:
        self._run.records.append(record)
        self.write(urgent=True)

    def _wait_for_others(self) -> None:
        """Wait until the ranks that are there have written how their runs ended, but not long."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            others = [beat for beat in read_beats(self._folder).values() if beat.rank != 0]
            if not any(beat.status == "running" and lives(beat) for beat in others):
                return
            time.sleep(BETWEEN_LOOKS)

    def _carry(self, function: Any, num_processes: int, frame: Any) -> Any:
        """Have what is about to run in processes of its own watched there, each as a rank of one launch."""
        if self.record is not None or will_be_rank() or not self._settings.save or isinstance(function, Carried):
            return function
        self._launched = new_launch()
        self._folder = folder_of(self._project, self._launched)
        place = place_of(site_of(frame))
        self._run.records.append(LaunchRecord(launch=self._launched, num_processes=num_processes, place=place))
        return Carried(
            function,
            watch=self._watch,
            launch=self._launched,
            num_processes=num_processes,
            settings=self._run.settings,
            source=self._run.source,
            project=str(self._project),
        )
