"""This file is the watch: a run opened around user code, and closed however that code ends."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from torchmagic.analyses.ranks_steps import told_steps
from torchmagic.debuggers.assembly import Assembly
from torchmagic.debuggers.commit import commit_of
from torchmagic.debuggers.crash_notes import add_note, crash
from torchmagic.debuggers.crew import Crew
from torchmagic.debuggers.express import Express, express_of
from torchmagic.debuggers.followed import followed
from torchmagic.debuggers.happened import ended_well, failure, rerun, status_of
from torchmagic.debuggers.live_judgement import ONLY_ON_THE_WHOLE, SECONDS_BETWEEN, SHARE_OF_BUDGET, LiveJudgement
from torchmagic.debuggers.loading_ahead import load_ahead
from torchmagic.debuggers.lost_devices import is_lost
from torchmagic.debuggers.open_watches import WATCHING
from torchmagic.debuggers.rank_run import RankRun
from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.speed import SECONDS_BETWEEN_LOOKS, Speed
from torchmagic.debuggers.surroundings import changed_surroundings, surroundings
from torchmagic.debuggers.switches import change_said, switches
from torchmagic.probes.crashes import Crashes
from torchmagic.probes.nonfinite import NonFiniteError
from torchmagic.probes.probe import Probe
from torchmagic.probes.taps import Taps
from torchmagic.records.note import NoteRecord
from torchmagic.rules.judgement import judge
from torchmagic.session.interrupts import Postponed, pass_on
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run
from torchmagic.session.session import Session, session
from torchmagic.views.brief import run_text
from torchmagic.views.report import report


class Watch:
    """Puts probes, recorder and rules around code that someone else runs.

    Args:
        settings: What is measured, and how.
        namespace: The user's names, from which models and optimizers take theirs.
        source: Source of the cell.
        on_step: Called with the run after each optimizer step; what it raises is the user's only when it is a
            KeyboardInterrupt.
        session: Where the run is kept.
        beside: Probes beside those that the settings choose.

    Attributes:
        settings: What is in force.
        wanted: The newest settings that were asked for.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        namespace: Mapping[str, Any] | None = None,
        source: str = "",
        on_step: Callable[[Run], None] | None = None,
        session: Session = session,
        beside: Sequence[Probe] = (),
    ) -> None:
        self.settings = self.wanted = settings
        self.run = Run(name=settings.name, source=source, settings=settings.to_dict(), report=report, text=run_text)
        self._session, self._on_step, self._beside = session, on_step, tuple(beside)
        self._taps = Taps(on_failure=self._failed, loud=(NonFiniteError,))
        self._recorder = Recorder(self.run, metered=lambda: self._taps.spent)
        self._crew = Crew(self._taps, self._recorder, self._failed)
        self._assembly = Assembly(settings, self._taps, namespace or {})
        self.rank = RankRun(self.run, session, settings, on_join=self._become, watch=type(self))
        self._judgement = LiveJudgement(self.run, share=settings.budget_share * SHARE_OF_BUDGET)
        self._speed = Speed(self.run, self._assembly.passes)
        self._next_judgement, self._next_look = SECONDS_BETWEEN, 0.0
        self._express: Express | None = None
        self._open = self._changed = False
        self._loading = 0

    def start(self) -> Run:
        """Open the run: from here on torch is watched."""
        began = time.perf_counter_ns()
        commit_of()  # git answers while the compiler is loaded
        self._loading = load_ahead(self.run.source, self._assembly.namespace)
        began += self._loading
        self._recorder.set_back(self._loading)
        self.run.records.extend(rerun(self.run, self._session.runs))
        self._session.add(self.run)
        self._recorder.add(surroundings())
        self._become()
        for event in ("step_end", "update_end"):
            self._taps.on(event, self._close_step)
        self._open = True
        try:
            self._taps.open()
        except BaseException:
            self._taps.close()
            raise
        switches.follow(self)
        WATCHING.append(self)
        self.rank.begin()
        self.rank.write()
        self._taps.spent += time.perf_counter_ns() - began
        return self.run

    def change(self, settings: Settings) -> None:
        """Go on with other probes or another level from the end of the present step on; any thread may call.

        Args:
            settings: Of these, ``level``, ``only``, ``also`` and ``without`` are taken; the rest stays as it was.
        """
        chosen = {name: getattr(settings, name) for name in ("level", "only", "also", "without")}
        self.wanted = replace(self.wanted, **chosen)
        self._taps.listeners.unlike()

    def book(self, nanoseconds: int) -> None:
        """Count time that was spent for the run elsewhere, such as on opening a panel, as torchmagic's."""
        self._taps.spent += nanoseconds

    def explain(self, error: BaseException) -> None:
        """Record what the exception that ends the run is about, and say so in a note under its traceback; once."""
        began = time.perf_counter_ns()
        for probe in tuple(self._crew.probes):
            if isinstance(probe, Crashes) and self._open:
                self._crew.guarded(probe, self._annotate, probe, error)
        self._taps.spent += time.perf_counter_ns() - began

    def _annotate(self, probe: Crashes, error: BaseException) -> None:
        if probe.explain(error):
            add_note(error, self.run)

    def stop(self, error: BaseException | None = None) -> Run:
        """Close the run: torch is left as it was found, findings are drawn; safe to call twice."""
        if self._open:
            with Postponed():  # an interrupt halfway would leave torch hooked
                self._stop(error)
        return self.run

    def _stop(self, error: BaseException | None) -> None:
        if error is not None:
            self.explain(error)
        self._crew.end(error)
        self.leave()
        began = time.perf_counter_ns()
        self._crew.detach()
        self._taps.let_go()
        for record in (*changed_surroundings(self.run), *([] if error is None else [crash(error)])):
            self._recorder.add(record)
        self.rank.end(error)
        self.run.status, self.run.progress = status_of(error), None
        found = self.rank.beside(judge(self.run, self._rule_failed))
        self.run.findings = tuple(each for each in found if not (self._changed and each.rule in ONLY_ON_THE_WHOLE))
        if not told_steps(self.run):
            self._recorder.set_back(-self._loading)
            self._taps.spent += self._loading
        self._taps.spent += time.perf_counter_ns() - began
        self._recorder.read_clock()
        self.rank.write(final=True)
        self.rank.close()

    def __enter__(self) -> Run:
        return self.start()

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        self.stop(None if ended_well(error) else error)

    def _close_step(self, *_: object) -> None:
        step, listeners = self.run.steps, self._taps.listeners
        listeners.closing = True
        try:
            self._crew.flush(step)
        finally:  # which a handler of the user's can end
            listeners.closing, listeners.step = False, step + 1
        if listeners.changed or listeners.next_wake <= step + 1:
            self._crew.wake()
        self._recorder.count_step()
        seconds = self.run.clock.seconds
        if seconds >= self._next_look:
            self._next_look = seconds + SECONDS_BETWEEN_LOOKS
            self._speed.look()
            self.rank.write()
        if seconds >= self._next_judgement:
            self._next_judgement = seconds + self.rank.patience * self._judgement.go_on()
            if self._judgement.has_news():
                self.rank.write(urgent=True)
        if self.wanted is not self.settings:
            self._switch()
        if self._on_step is not None:
            self._on_step(self.run)
        if self._express is not None:
            due = min(self._next_look, self._next_judgement)
            self._express.arm(self.run.steps, due=due, closer=self, on_step=self._on_step)

    def _switch(self) -> None:
        """Go on with the probes that are wanted now."""
        before, self.settings = self.settings, self.wanted
        said = change_said(before, self.settings)
        if said:
            self._changed = True
            self._become()
            self._recorder.add(NoteRecord(text=f"From step {self.run.steps:,} on: {said}."))

    def _become(self) -> None:
        self._assembly.progress = self.rank.progress if self.rank.record is not None else None
        self._crew.become((self.rank, *self._assembly.probes(self.settings), *self._beside))
        self._express = express_of(self._taps, self._crew, self._recorder, self.run, on_failure=self._failed)

    def leave(self) -> None:
        """Leave torch as it was found, with nothing judged or written; a run that is to be read ends by ``stop``."""
        self._open = False
        switches.leave(self)
        WATCHING.remove(self)
        self._taps.close()

    def _failed(self, owner: object, error: Exception) -> None:
        """Record a probe's failure, warn once, and go on without the probe; what a handler raised is the user's."""
        pass_on(error)
        if is_lost(error, self._taps, self._recorder):
            return
        record = failure(type(owner).__name__, error)
        self._recorder.add(record)
        if not self._crew.drop(owner) and owner is self:
            self._on_step = None
        self._taps.warn(f"torchmagic: {record.probe} failed and is off for this run ({record.error})")

    def _rule_failed(self, rule: str, error: Exception) -> None:
        self._recorder.add(failure(f"rule {rule}", error, where=""))


@contextmanager
def watch(**settings: Any) -> Iterator[Run]:
    """Watch the code inside the ``with`` block.

    Args:
        **settings: The fields of ``Settings``, such as ``level="basic"`` or ``name="lr sweep"``.

    Yields:
        The run; its findings are there once the block has ended.

    Raises:
        ValueError: If a setting is unknown or wrong.
        OSError: If the report could not be written where it is to be; before the block begins.
        FindingsError: If the block ended well and has findings that ``fail_on`` names; a RuntimeError.
    """
    frame = sys._getframe(2)  # noqa: SLF001 - the caller's names; one frame up is contextlib's
    with followed(Watch(Settings.from_dict({**switches.values(), **settings}), namespace=frame.f_globals)) as run:
        yield run
