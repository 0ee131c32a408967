"""This file is ``torchmagic.session``: everything watched in this process and, through the store, in earlier ones."""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from torchmagic.analyses.counting import counted
from torchmagic.api.baseline import baseline_pages, comparison_pages
from torchmagic.api.reading import Which, read
from torchmagic.api.rich_repr import switch as switch_repr
from torchmagic.api.serving import serve
from torchmagic.api.shown import Shown
from torchmagic.api.switches import switch_page
from torchmagic.debuggers.switches import Switches, switches
from torchmagic.exports.catalogue import export
from torchmagic.session import session as room
from torchmagic.session.history import Entry
from torchmagic.session.run import Run, Status
from torchmagic.session.tags import noted, retagged
from torchmagic.views.findings import headline
from torchmagic.views.history import history_page
from torchmagic.views.lost import lost_pages
from torchmagic.views.metric import metric_page
from torchmagic.views.pages import run_pages

NUM_ENTRIES = 20  # rows of the history that are read at a glance; ``everything=True`` shows all
_FEWEST_TO_COMPARE = 2


class PublicSession:
    """The notebook's memory: its runs, what can be said of them, and the switches of the runs to come.

    A run is meant by its number in the history (negative ones count from the end), its id, its name (the newest of
    that name), ``"last"``, or itself.

    Args:
        session: The runs of a process, and the store of a project.
        switches: What the runs to come, and those that go on, watch beside their own settings.
    """

    def __init__(self, session: room.Session, *, switches: Switches = switches) -> None:
        self._session = session
        self._switches = switches

    def __repr__(self) -> str:
        entries = self._session.history()
        here = sum(entry.here for entry in entries)
        runs = counted(len(entries), "run")
        return f"<Session of {self.folder}: {runs}, {here} of them of this process>"

    @property
    def runs(self) -> list[Run]:
        """The runs of this process, oldest first; ``history()`` tells of all."""
        return self._session.runs

    @property
    def last(self) -> Run | None:
        """The newest run of this process; before its first one, the newest that the store has; or None."""
        return self._session.last or self._last_stored()

    @property
    def folder(self) -> Path:
        """The project's folder, in whose ``.torchmagic`` the store lies; it can be set."""
        return self._session.path.parent.parent

    @folder.setter
    def folder(self, folder: str | Path | None) -> None:
        """Go on with another project's store; None is the working directory."""
        self._session.close()
        self._session.folder = None if folder is None else Path(folder)

    @property
    def warnings(self) -> list[str]:
        """What was wrong with the store, a line each."""
        return self._session.warnings

    def __getitem__(self, which: Which) -> Run:
        return self.get(which)

    def get(self, which: Which = "last") -> Run:
        """Return a run whole, from this process or from the store.

        Raises:
            KeyError: If there is no such run; one line says which there are.
        """
        return self._newest() if which == "last" else read(self._session, which)

    def history(self, *, everything: bool = False) -> Shown:
        """Return the table of all runs; ``.content`` holds its entries, oldest first.

        Args:
            everything: Whether to show all of them; otherwise the newest 20.
        """
        entries: list[Entry] = self._session.history()
        shown = entries if everything else entries[-NUM_ENTRIES:]
        page = history_page(shown, now=time.time(), num_earlier=len(entries) - len(shown))
        return Shown(pages=[page], content=tuple(shown), num_rows=len(shown))

    def show(self, which: Which = "last") -> Shown:
        """Return a run's pages, those of its panel; of a run whose process died, what was seen up to then first.

        Raises:
            KeyError: If there is no such run.
        """
        run = self.get(which)
        pages = lost_pages(run) if run.status is Status.LOST else run_pages(run)
        return Shown(pages=[*pages, *baseline_pages(self._session, run)], title=headline(run), content=(run,))

    def compare(self, *which: Which) -> Shown:
        """Return what differs between runs: result, curves, settings, source, findings and parameters.

        Args:
            *which: Two runs or more; the first one is what the others are compared with. None means the last two.

        Raises:
            KeyError: If one of them is not there.
            ValueError: If there are fewer than two.
        """
        runs = self._read(which or [entry.number for entry in self._session.history()[-2:]])
        if len({run.id for run in runs}) < _FEWEST_TO_COMPARE:
            raise ValueError("a comparison wants two different runs or more, such as compare(1, 2)")
        return Shown(pages=comparison_pages(runs), content=tuple(runs))

    def plot(self, metric: str, *, parameter: str = "", runs: Iterable[Which] | Which | None = None) -> Shown:
        """Return the curves of one metric.

        Args:
            metric: Such as ``loss`` or ``grad_norm``.
            parameter: Of a metric that each parameter has, which ones; ``*`` stands for any letters.
            runs: Which runs; the last one without it.

        Raises:
            KeyError: If one of the runs is not there.
            ValueError: If no run has such a metric; the message names the nearest one.
        """
        chosen = self._chosen(runs)
        return Shown(pages=[metric_page(chosen, str(metric), parameter=parameter)], content=tuple(chosen))

    def note(self, which: Which, text: str) -> None:
        """Write a note to a run, in place of an earlier one; an empty text removes it.

        Raises:
            KeyError: If there is no such run.
            ValueError: If it is no text.
        """
        self._session.annotate(self.get(which).id, note=noted(text))

    def tag(self, which: Which, *tags: str) -> tuple[str, ...]:
        """Give a run tags, and take off those that are written with a minus in front; return what it has then.

        Raises:
            KeyError: If there is no such run.
            ValueError: If a tag is no text.
        """
        run = self.get(which)
        left = retagged(run.tags, tags)
        self._session.annotate(run.id, tags=left)
        return left

    def clear(self, *, stored: bool = False) -> None:
        """Forget the runs of this process.

        Args:
            stored: Whether the store forgets as well, for good: all runs but those that go on.

        Raises:
            StoreError: If the store is to forget and cannot be written.
        """
        self._session.clear(stored=stored)

    def export(self, path: str | Path, *, to: str = "", runs: Iterable[Which] | Which | None = None) -> Path:
        """Write runs to a file or folder; return where they are.

        Args:
            path: Where to; its suffix says in which form.
            to: The form by name, where the suffix does not say it, such as ``tensorboard``.
            runs: Which runs; the last one without it.

        Raises:
            KeyError: If one of the runs is not there.
            ValueError: If there is no such form, or a package that it needs is missing.
            OSError: If it cannot be written.
        """
        return export(self._chosen(runs), path, to=to)

    def enable(self, *names: str) -> None:
        """Switch probes on, for the runs to come and for those that go on; without a name, all.

        Raises:
            ValueError: If there is no probe of that name; the message names the nearest one.
        """
        self._switches.enable(*map(str, names))

    def disable(self, *names: str) -> None:
        """Switch probes off, for the runs to come and for those that go on; without a name, all.

        Raises:
            ValueError: As ``enable``.
        """
        self._switches.disable(*map(str, names))

    def status(self, defaults: Mapping[str, Any] | None = None) -> Shown:
        """Return which probes are on and why; ``.content`` holds pairs of name and whether it is on.

        Args:
            defaults: Values of ``Settings`` fields that hold where nothing was switched.
        """
        is_on = self._switches.status(defaults)
        page = switch_page(is_on, self._switches.values())
        return Shown(pages=[page], content=tuple(is_on.items()), num_rows=len(is_on))

    @property
    def level(self) -> str | None:
        """The level that all runs are watched at; None leaves each at its own. Setting takes effect at once."""
        level = self._switches.values().get("level")
        return None if level is None else str(level)

    @level.setter
    def level(self, level: str | None) -> None:
        self._switches.set_level(level)

    repr = staticmethod(switch_repr)
    serve = staticmethod(serve)

    def close(self) -> None:
        """Close the store; the next run opens it again."""
        self._session.close()

    def _chosen(self, runs: Iterable[Which] | Which | None) -> list[Run]:
        return [self._newest()] if runs is None else self._read(runs)

    def _read(self, runs: Iterable[Which] | Which) -> list[Run]:
        listed: Iterable[Which] = [runs] if isinstance(runs, str) or not isinstance(runs, Iterable) else runs
        return [self.get(which) for which in listed]

    def _newest(self) -> Run:
        run = self.last
        if run is None:
            raise KeyError(f"there is no run yet in {self.folder}: run a cell that begins with %%torchdebug")
        return run

    def _last_stored(self) -> Run | None:
        """The newest run of an earlier process; one of another kernel that is still at it is not over."""
        ended = [entry for entry in self._session.history() if entry.status is not Status.RUNNING]
        return read(self._session, ended[-1].number) if ended else None


Session = PublicSession  # as ``torchmagic`` offers it
session = PublicSession(room.session)
