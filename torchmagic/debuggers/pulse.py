"""This file is the pulse of a rank: a thread that says what the rank does, and sees when it does nothing."""

import linecache
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from torchmagic.probes.rank_progress import Progress
from torchmagic.probes.sites import is_users_file
from torchmagic.probes.stacks import stack_of
from torchmagic.records.place import Place
from torchmagic.records.rank_beats import BeatRecord, HangRecord
from torchmagic.records.ranks import RankRecord
from torchmagic.session.beats import lives, read_beats, write_beat

BETWEEN = 1.0
# A shorter silence is looked for more often, but no more often than this.
LEAST_BETWEEN = 0.1
FAREWELL = 0.5
MOST_ERROR = 300


class Pulse:
    """Writes the rank's beat file, and records what all ranks did last when this one has been silent for too long.

    The thread is there only while the run of a rank is open.

    Args:
        rank: Who this is.
        folder: The folder of the launch.
        progress: What the rank did last.
        hang_after: Seconds of silence that are too long.
        tell: Takes the ``HangRecord``; called from the thread.
    """

    def __init__(
        self,
        rank: RankRecord,
        folder: Path,
        progress: Progress,
        *,
        hang_after: float,
        tell: Callable[[HangRecord], None],
    ) -> None:
        self._rank, self._folder, self._progress = rank, folder, progress
        self._hang_after, self._tell = hang_after, tell
        self._watched = threading.get_ident()
        self._done = threading.Event()
        self._silent, self._error = False, ""
        self._thread = threading.Thread(target=self._go_on, name="torchmagic-pulse", daemon=True)

    def start(self) -> None:
        """Begin."""
        self.beat("running")
        try:
            self._thread.start()
        except RuntimeError:  # no more threads to be had: the rank tells only how it begins and ends
            self._done.set()

    def stop(self) -> None:
        """End the thread, and a silence that is over; safe to call twice."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(FAREWELL)
        self._look()

    def beat(self, status: str, error: BaseException | None = None) -> None:
        """Say what the rank did last, and how it stands; what ended it is said from then on."""
        if error is not None:
            self._error = " ".join(f"{type(error).__name__}: {error}".split())[:MOST_ERROR]
        event, inside, since = self._progress.last
        write_beat(
            self._folder,
            BeatRecord(
                rank=self._rank.rank,
                host=self._rank.host,
                pid=self._rank.pid,
                status=status,
                step=self._progress.step,
                event=event,
                inside=inside,
                seconds=time.monotonic() - since,
                place=self._place(),
                wall=time.time(),
                error=self._error,
            ),
        )

    def _go_on(self) -> None:
        between = max(LEAST_BETWEEN, min(BETWEEN, self._hang_after / 4))
        while not self._done.wait(between):
            self.beat("running")
            self._look()

    def _look(self) -> None:
        silence = time.monotonic() - self._progress.last[2]
        if (silence > self._hang_after) is not self._silent:
            self._silent = not self._silent
            self._tell_silence(silence)

    def _tell_silence(self, silence: float) -> None:
        beats = tuple(read_beats(self._folder).values())
        record = HangRecord(step=self._progress.step, seconds=silence, over=not self._silent, beats=beats)
        self._tell(record)
        speaker = min((each.rank for each in beats if lives(each)), default=self._rank.rank)
        if self._silent and speaker == self._rank.rank:
            sys.stderr.write(hang_said(record, self._rank.world_size))

    def _place(self) -> Place | None:
        stands = next((each for each in stack_of(self._watched) if is_users_file(each.file)), None)
        if stands is None:
            return None
        source = linecache.getline(stands.file, stands.line).strip()
        return Place(file=stands.file, line=stands.line, source=source, function=stands.function)


def hang_said(record: HangRecord, world_size: int) -> str:
    """Return what is printed of a silence: a line a rank, with what it did last and where it stands."""
    told = {beat.rank: beat for beat in record.beats}
    lines = [f"torchmagic: nothing has happened for {record.seconds:,.0f} s; what the {world_size} ranks did last:"]
    for rank in range(world_size):
        beat = told.get(rank)
        if beat is None:
            lines.append(f"  rank {rank}: has told nothing")
            continue
        doing = f"{'in ' if beat.inside else 'after '}{beat.event} for {beat.seconds + beat.age:,.0f} s"
        where = f", {beat.place.file}:{beat.place.line}  {beat.place.source}" if beat.place is not None else ""
        dead = "" if beat.status != "running" or lives(beat) else "; its process is gone"
        lines.append(f"  rank {rank} ({beat.host}, pid {beat.pid}): step {beat.step:,}, {doing}{where}{dead}")
    return "\n".join(lines) + "\n"
