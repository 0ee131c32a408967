"""This file is the watch: a run opened around user code, and closed however that code ends."""

import os
import platform
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import torch

from torchmagic.debuggers.assembly import probes_for
from torchmagic.debuggers.crash_notes import add_note, crash
from torchmagic.debuggers.settings import Settings
from torchmagic.probes.crashes import Crashes
from torchmagic.probes.hooked import load_compiler
from torchmagic.probes.nonfinite import NonFiniteError
from torchmagic.probes.probe import Probe, nothing_waits
from torchmagic.probes.taps import Taps
from torchmagic.records.note import EnvironmentRecord, FailureRecord
from torchmagic.records.notebook import RerunRecord
from torchmagic.rules.judgement import judge
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run, Status
from torchmagic.session.session import Session, session
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
    """

    def __init__(
        self,
        settings: Settings,
        *,
        namespace: Mapping[str, Any] | None = None,
        source: str = "",
        on_step: Callable[[Run], None] | None = None,
        session: Session = session,
    ) -> None:
        self.settings = settings
        self.run = Run(name=settings.name, source=source, settings=settings.to_dict(), report=report)
        self._session, self._on_step = session, on_step
        self._taps = Taps(on_failure=self._failed, loud=(NonFiniteError,))
        self._recorder = Recorder(self.run, metered=lambda: self._taps.spent)
        self._probes: list[Probe] = list(probes_for(settings, self._taps, namespace or {}))
        self._flushing: list[Probe] = []
        self._flushed: list[Probe] = []
        self._open = False
        self._loading = 0

    def start(self) -> Run:
        """Open the run: from here on torch is watched."""
        began = time.perf_counter_ns()
        if load_compiler():  # the first step would have loaded it; a run without one pays for it in the end
            self._loading = time.perf_counter_ns() - began
            began += self._loading
            self._recorder.set_back(self._loading)
        if before := self._earlier_runs():
            self._recorder.add(RerunRecord(times=len(before), steps=sum(run.steps for run in before)))
        self._session.add(self.run)
        self._recorder.add(_environment())
        for probe in tuple(self._probes):
            self._guarded(probe, probe.attach, self._taps, self._recorder)
        self._taps.on("step_end", self._close_step)
        self._flushing = [probe for probe in self._probes if type(probe).flush is not nothing_waits]
        self._wake()
        self._open = True
        try:
            self._taps.open()
        except BaseException:
            self._taps.close()
            raise
        self._write()
        self._taps.spent += time.perf_counter_ns() - began
        return self.run

    def book(self, nanoseconds: int) -> None:
        """Count time that was spent for the run elsewhere, such as on opening a panel, as torchmagic's."""
        self._taps.spent += nanoseconds

    def explain(self, error: BaseException) -> None:
        """Record what the exception that ends the run is about, and say so in a note under its traceback; once."""
        began = time.perf_counter_ns()
        for probe in tuple(self._probes):
            if isinstance(probe, Crashes) and self._open:
                self._guarded(probe, self._annotate, probe, error)
        self._taps.spent += time.perf_counter_ns() - began

    def _annotate(self, probe: Crashes, error: BaseException) -> None:
        if probe.explain(error):
            add_note(error, self.run)

    def stop(self, error: BaseException | None = None) -> Run:
        """Close the run: torch is left as it was found, findings are drawn; safe to call twice."""
        if not self._open:
            return self.run
        if error is not None:
            self.explain(error)
        self._open = False
        self._taps.close()
        began = time.perf_counter_ns()
        for probe in self._probes:
            self._guarded(probe, probe.detach)
        if error is not None:
            self._recorder.add(crash(error))
        self.run.status = _status(error)
        self.run.findings = judge(self.run, self._rule_failed)
        if not self.run.steps:
            self._recorder.set_back(-self._loading)
            self._taps.spent += self._loading
        self._taps.spent += time.perf_counter_ns() - began
        self._recorder.read_clock()
        self._write(final=True)
        return self.run

    def _earlier_runs(self) -> list[Run]:
        """Return the runs of the very same source that made steps."""
        source = self.run.source.strip()
        return [run for run in self._session.runs if source and run.source.strip() == source and run.steps]

    def _close_step(self, *_: object) -> None:
        step, probe = self.run.steps, None
        listeners = self._taps.listeners
        listeners.closing = True
        try:
            for probe in self._flushed:
                probe.flush(step)
        except Exception as error:  # noqa: BLE001 - the wall: a probe's failure is never the user's
            self._close_step_after(probe, error, step)
        listeners.closing, listeners.step = False, step + 1
        if listeners.changed or listeners.next_wake <= step + 1:
            self._wake()
        self._recorder.count_step()
        if self._on_step is not None:
            self._on_step(self.run)
        if self.settings.save:
            self._session.write(self.run)

    def _close_step_after(self, failed: Probe | None, error: Exception, step: int) -> None:
        """Go on with the probes behind one whose flush failed."""
        behind = self._flushed[self._flushed.index(failed) + 1 :] if failed is not None else []
        self._failed(failed, error)
        for probe in behind:
            self._guarded(probe, probe.flush, step)

    def _wake(self) -> None:
        """Begin a step: some probes have gone to rest, and the rest of others is over."""
        listeners = self._taps.listeners
        listeners.wake()
        listeners.changed = False
        resting = listeners.resting
        self._flushed = [probe for probe in self._flushing if id(probe) not in resting]

    def _write(self, *, final: bool = False) -> None:
        if self.settings.save:
            self._session.write(self.run, final=final)

    def _guarded(self, probe: Probe, deed: Callable[..., None], *arguments: Any) -> None:
        try:
            deed(*arguments)
        except Exception as error:  # noqa: BLE001 - the wall: a probe's failure is never the user's
            self._failed(probe, error)

    def _failed(self, owner: object, error: Exception) -> None:
        """Record a probe's failure, warn once, and go on without the probe."""
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = f"{last[0].filename.rpartition('torchmagic')[2]}:{last[0].lineno}" if last else ""
        name = type(owner).__name__
        self._recorder.add(FailureRecord(probe=name, error=f"{type(error).__name__}: {error}", where=where))
        if owner in self._probes:
            self._probes.remove(owner)
            self._flushing = [probe for probe in self._flushing if probe is not owner]
            self._flushed = [probe for probe in self._flushed if probe is not owner]
            self._taps.listeners.drop(owner)
            self._guarded_detach(owner)
        elif owner is self:
            self._on_step = None
        self._taps.warn(f"torchmagic: {name} failed and is off for this run ({type(error).__name__}: {error})")

    @staticmethod
    def _guarded_detach(probe: Probe) -> None:
        with suppress(Exception):  # it has failed already, and that is recorded
            probe.detach()

    def _rule_failed(self, rule: str, error: Exception) -> None:
        self._recorder.add(FailureRecord(probe=f"rule {rule}", error=f"{type(error).__name__}: {error}", where=""))


@contextmanager
def watch(**settings: Any) -> Iterator[Run]:
    """Watch the code inside the ``with`` block.

    Args:
        **settings: The fields of ``Settings``, such as ``level="basic"`` or ``name="lr sweep"``.

    Yields:
        The run; its findings are there once the block has ended.

    Raises:
        ValueError: If a setting is unknown or wrong.
    """
    frame = sys._getframe(2)  # noqa: SLF001 - the caller's names; one frame up is contextlib's
    watching = Watch(Settings.from_dict(settings), namespace=frame.f_globals)
    run = watching.start()
    try:
        yield run
    except BaseException as error:
        watching.stop(error)
        raise
    else:
        watching.stop()


def _status(error: BaseException | None) -> Status:
    if error is None:
        return Status.OK
    return Status.INTERRUPTED if isinstance(error, KeyboardInterrupt) else Status.ERROR


def _environment() -> EnvironmentRecord:
    device = torch.cuda.get_device_name() if torch.cuda.is_initialized() else "cpu"  # type: ignore[no-untyped-call] # torch
    return EnvironmentRecord(
        torch=torch.__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        device=device,
        num_threads=torch.get_num_threads(),
        num_cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
    )
