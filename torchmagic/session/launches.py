"""This file is the launches: where the ranks of a launch keep their runs, and how these are read side by side."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from torchmagic.records.codec import decode
from torchmagic.records.ranks import LaunchRecord, RankRecord
from torchmagic.session.beats import read_beats
from torchmagic.session.database import FOLDER, StoreError, reading
from torchmagic.session.ranked import Ranks
from torchmagic.session.run import Run
from torchmagic.session.stored import read_run

ROOM = "ranks"
STORE = ".db"
# Numbers of a rank's runs begin here, times the rank, so that no two ranks of a folder use one.
NUMBERS_APART = 10_000


def folder_of(project: Path, launch: str) -> Path:
    """Return where the ranks of a launch keep their files.

    Args:
        project: The folder in which the project's store lies, or would.
        launch: Id of the launch.
    """
    return project / FOLDER / ROOM / launch


def store_of(folder: Path, rank: int) -> Path:
    """Return the file that a rank alone writes."""
    return folder / f"{rank}{STORE}"


def is_launch(folder: Path) -> bool:
    """Whether a folder holds runs of ranks."""
    return folder.is_dir() and any(path.stem.isdecimal() for path in folder.glob(f"*{STORE}"))


class StoredRuns(Mapping[int, Run]):
    """The runs of the ranks of a launch, each read when it is asked for first, and kept.

    Args:
        where: File and id of each rank's run.
        here: Runs that are in memory already.
    """

    def __init__(self, where: Mapping[int, tuple[Path, str]], here: Mapping[int, Run]) -> None:
        self._where, self._read = dict(sorted(where.items())), dict(here)
        self._ranks = sorted({*where, *here})

    def __getitem__(self, rank: int) -> Run:
        if rank not in self._read:
            path, run_id = self._where[rank]
            self._read[rank] = read_run(path, run_id)
        return self._read[rank]

    def __iter__(self) -> Iterator[int]:
        return iter(self._ranks)

    def __len__(self) -> int:
        return len(self._ranks)


def read_launch(folder: Path, *, sequence: int | None = None, here: Mapping[int, Run] | None = None) -> Ranks:
    """Return the runs of a launch that belong together.

    A file that cannot be read is as if its rank had left none.

    Args:
        folder: The folder of the launch; it may be a copy, or hold copies of other hosts' files.
        sequence: Which runs of each process; None means the last that rank 0, or the first rank there is, made.
        here: Runs of this process, by rank, which need not be read.

    Raises:
        ValueError: If the folder holds no run of a rank.
    """
    known = {rank: _runs_in(path) for rank, path in _stores(folder)}
    known = {rank: found for rank, found in known.items() if found}
    if not known and not here:
        raise ValueError(f"{folder} holds no run of a rank; it should be a folder such as .torchmagic/ranks/<launch>")
    records = [record for _, found in sorted(known.items()) for _, record in found]
    if sequence is None:
        first = next(iter(sorted(known.items())))[1] if known else []
        sequence = first[-1][1].sequence if first else 0
    where = {
        rank: (folder / f"{rank}{STORE}", run_id)
        for rank, found in known.items()
        for run_id, record in found
        if record.sequence == sequence
    }
    runs = StoredRuns(where, here or {})
    own = [record for run in (here or {}).values() for record in run.of(RankRecord)]
    size = max((record.world_size for record in (*records, *own)), default=len(runs))
    return Ranks(runs, world_size=size, launch=folder.name, beats=read_beats(folder))


def joined(run: Run, project: Path) -> Run:
    """Let a run that was read from a project's store know the ranks of its launch, read once somebody asks.

    Args:
        run: The run; one that has nothing to do with ranks stays as it is.
        project: The project's folder.
    """
    told = next(iter(run.of(RankRecord)), None)
    started = next(iter(run.of(LaunchRecord)), None)
    launch = told.launch if told is not None else started.launch if started is not None else ""
    folder = folder_of(project, launch)
    if launch and is_launch(folder):

        def ranks() -> Ranks | None:
            with suppress(ValueError, StoreError):
                if told is None:
                    return read_launch(folder)
                return read_launch(folder, sequence=told.sequence, here={told.rank: run})
            return None

        run.join(ranks)
    return run


def _stores(folder: Path) -> list[tuple[int, Path]]:
    found = [(int(path.stem), path) for path in folder.glob(f"*{STORE}") if path.stem.isdecimal()]
    return sorted(found)


def _runs_in(path: Path) -> list[tuple[str, RankRecord]]:
    """Return the runs of a rank's file in the order in which they began, with what each says of its rank."""
    query = """SELECT record.run, record.body FROM record JOIN run ON run.id = record.run
               WHERE record.body LIKE '{"kind": "RankRecord"%' ORDER BY run.started"""
    with suppress(StoreError, ValueError), reading(path) as db:
        return [(str(run_id), decode(json.loads(body))) for run_id, body in db.execute(query).fetchall()]
    return []
