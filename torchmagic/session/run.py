"""This file is the run: one watched execution, and everything known about it."""

import math
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from torchmagic.records.finding import Finding
from torchmagic.records.series import Frame
from torchmagic.session.document import to_json
from torchmagic.session.frames import frame_for
from torchmagic.session.parameters import parameter_rows
from torchmagic.session.progress import Progress
from torchmagic.session.record_list import RecordList
from torchmagic.session.status import Status as Status  # noqa: PLC0414 - who asks a run asks how it ended
from torchmagic.session.table import as_frame
from torchmagic.session.whole_file import write_whole

if TYPE_CHECKING:
    from torchmagic.session.ranked import Ranks

R = TypeVar("R")
_NOTHING_DRAWS = "this run has nothing to draw it with; load it with torchmagic.load(path)"


@dataclass(slots=True, kw_only=True)
class Clock:
    """Where a run's wall time stands: seconds since the epoch, and seconds spent inside torchmagic."""

    started: float = field(default_factory=time.time)
    seconds: float = 0.0
    cost: float = 0.0


class Run:
    """One watched execution.

    Args:
        name: Label given by the user, or empty.
        source: Source of the cell, or empty.
        settings: Settings as plain values.
        run_id: Unique id; made up when empty.
        report: Turns the run into an HTML document; None where nothing can draw.
        text: Turns it into plain text, and takes ``full``; None as above.

    Attributes:
        number: Number in the history, from 1; 0 until it is known.
        note: What the user noted; ``Session.annotate`` changes it in the store as well.
        tags: The user's tags; the same.
        texts: Of other cells and files whose code took part, by the file name that places give.
        file_names: What to call these files, such as ``cell 3``.
    """

    def __init__(
        self,
        *,
        name: str = "",
        source: str = "",
        settings: Mapping[str, Any] | None = None,
        run_id: str = "",
        report: Callable[["Run"], str] | None = None,
        text: Callable[..., str] | None = None,
    ) -> None:
        self.id = run_id or uuid.uuid4().hex[:12]
        self.name = name
        self.source = source
        self.texts: dict[str, str] = {}
        self.file_names: dict[str, str] = {}
        self.settings = dict(settings or {})
        self.number = 0
        self.note = ""
        self.tags: tuple[str, ...] = ()
        self.status = Status.RUNNING
        self.clock = Clock()
        self.findings: tuple[Finding, ...] = ()
        self.progress: Progress | None = None  # while it goes on
        self.records: list[Any] = RecordList()
        self.frames: list[Frame] = []
        self.steps = 0
        self.newest: dict[str, Frame] = {}
        self._report, self._text = report, text
        self._ranks: Ranks | Callable[[], Ranks | None] | None = None

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        return f"<Run{label} {self.status}: {self.steps} steps, {len(self.findings)} findings>"

    def of(self, kind: type[R]) -> Sequence[R]:
        """Return the records of one type, in order of arrival."""
        records = self.records
        if isinstance(records, RecordList):
            return records.of(kind)
        return [record for record in records if isinstance(record, kind)]  # a list that somebody put in its place

    def series(
        self, metric: str, *, parameter: str | None = None, module: str | None = None, name: str | None = None
    ) -> tuple[list[int], list[float]]:
        """Return (steps, values) of a metric.

        Args:
            metric: Name of the metric, such as ``loss`` or ``grad_norm``.
            parameter: Full name of a parameter, for a metric per parameter.
            module: Path of a module, for a metric per module.
            name: Name of the subject where there are several, such as one of two losses.

        Returns:
            Steps (optimizer steps made before) and values; two empty lists when nothing was recorded. Without a
            subject, the metric of the whole run, or, where there is none, all its subjects merged in order of step.
        """
        subject = parameter or module or name
        found = [frame.column(subject or "") for frame in self.frames if frame.metric == metric]
        if subject is None and not any(steps for steps, _ in found):
            found = [frame.column(each) for frame in self.frames if frame.metric == metric for each in frame.subjects]
        points = [point for steps, values in found for point in zip(steps, values, strict=True)]
        points.sort(key=lambda point: point[0])
        return [step for step, _ in points], [value for _, value in points]

    def subjects(self, metric: str) -> tuple[str, ...]:
        """Return the named subjects of a metric, in order of appearance."""
        names = (name for frame in self.frames if frame.metric == metric for name in frame.subjects if name)
        return tuple(dict.fromkeys(names))

    def frame(self, metric: str, subjects: Sequence[str]) -> Frame:
        """Return the frame to append to; a new one begins where the subjects change."""
        return frame_for(self.newest, self.frames, metric, tuple(subjects))

    def room_for(self, metric: str, subjects: Sequence[str], values: Sequence[float]) -> tuple[Frame, Sequence[float]]:
        """Return the frame to append a row to, and the row in the order of its subjects."""
        frame = self.frame(metric, subjects)
        if frame.subjects == tuple(subjects):
            return frame, values
        given = dict(zip(subjects, values, strict=True))
        return frame, [given.get(subject, math.nan) for subject in frame.subjects]

    @property
    def ranks(self) -> "Ranks | None":
        """The runs of all ranks of its launch, where they were merged; None for an ordinary run."""
        if callable(self._ranks):
            self._ranks = self._ranks()
        return self._ranks

    def join(self, ranks: "Ranks | Callable[[], Ranks | None] | None") -> None:
        """Give a run the ranks of its launch, or what reads them once somebody asks."""
        self._ranks = ranks

    @property
    def overhead(self) -> float:
        """Share of the wall time spent inside torchmagic, 0 to 1."""
        return min(1.0, self.clock.cost / self.clock.seconds) if self.clock.seconds else 0.0

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """One row a parameter: name, shape, latest and extreme statistics."""
        return parameter_rows(self)

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``: one row a step, a column a metric, ``metric[subject]`` for several subjects.

        Raises:
            ImportError: If pandas is not installed.
        """
        return as_frame(self)

    def to_json(self) -> str:
        """Return the whole run as a JSON document."""
        return to_json(self)

    def to_text(self, *, full: bool = False) -> str:
        """Return the run as plain text: findings, and in a few lines what one would ask first.

        Args:
            full: Whether all that the panel shows is told.

        Raises:
            ValueError: As ``report``.
        """
        if self._text is None:
            raise ValueError(_NOTHING_DRAWS)
        return self._text(self, full=full)

    def save(self, path: str | Path) -> None:
        """Write the whole run as a JSON document that ``torchmagic.load`` reads.

        Raises:
            OSError: If it cannot be written; what stood there then still stands.
        """
        write_whole(Path(path).expanduser(), self.to_json(), suffix=".json")

    def draw_with(self, report: Callable[["Run"], str], text: Callable[..., str]) -> None:
        """Give a run that was read from a file what turns it into an HTML document and into text."""
        self._report, self._text = report, text

    def report(self, path: str | Path) -> None:
        """Write the run as a self-contained HTML page.

        Raises:
            ValueError: If the run was made by hand and nothing that draws was given.
            OSError: As ``save``.
        """
        if self._report is None:
            raise ValueError(_NOTHING_DRAWS)
        write_whole(Path(path).expanduser(), self._report(self), suffix=".html", errors="xmlcharrefreplace")
