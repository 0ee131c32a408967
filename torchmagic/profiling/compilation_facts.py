"""This file looks at what torch compiled in a run: how often, how long, why again, and where it was cut."""

import linecache
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import is_users_file
from torchmagic.probes.taps import Taps
from torchmagic.records.compilation import CompilationRecord, CompiledFunction
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder

# What torch calls the part of a function that follows a cut.
RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<name>.+)_at_(?P<line>\d+)")
EXPLANATION = re.compile(r"Explanation: (.+)")
NUMBER = re.compile(r"^\d+/\d+: ")
MOST_FUNCTIONS, MOST_TEXTS, LONGEST_TEXT = 16, 4, 200


class Compilation:
    """Records a ``CompilationRecord`` at the end of a run in which something was compiled."""

    def __init__(self) -> None:
        self._recorder: Recorder | None = None
        self._began = 0.0

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Remember when the run began."""
        self._recorder, self._began = recorder, time.time()

    flush = nothing_waits

    def detach(self) -> None:
        """Hand over what torch notes of its compilations."""
        recorder, self._recorder = self._recorder, None
        dynamo = sys.modules.get("torch._dynamo.utils")
        if recorder is None or dynamo is None:
            return
        notes = [each for each in dynamo.get_compilation_metrics() if (each.start_time or 0.0) >= self._began]
        if notes:
            functions = sorted(_functions(notes, dynamo.counters["graph_break"]), key=lambda each: -each.times)
            total = sum(each.seconds for each in functions)
            took = time.time() - self._began
            most = tuple(functions[:MOST_FUNCTIONS])
            recorder.add(CompilationRecord(seconds=total, run_seconds=took, functions=most))


def _functions(notes: Iterable[Any], breaks: Counter[str]) -> Iterable[CompiledFunction]:
    """Yield each function that was compiled, with the parts into which it was cut."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for note in notes:
        resumed = RESUMED.fullmatch(note.co_name or "")
        name = resumed["name"] if resumed else note.co_name or ""
        groups.setdefault((note.co_filename or "", name), []).append(note)
    for (file, name), group in groups.items():
        whole = [note for note in group if note.co_name == name]
        cuts = [resumed for note in group if (resumed := RESUMED.fullmatch(note.co_name))]
        first = (whole or group)[0].co_firstlineno or 0
        reasons = [note.recompile_reason for note in group if note.recompile_reason]
        broken = [reason for note in group for reason in note.restart_reasons or () if reason in breaks]
        yield CompiledFunction(
            times=max(Counter(note.co_name for note in group).values()),
            seconds=sum(note.entire_frame_compile_time_s or 0.0 for note in group),
            reasons=_once(NUMBER.sub("", reason).partition("\n")[0] for reason in reasons),
            breaks=_once(_explained(reason) for reason in broken),
            cuts=tuple(_place(file, int(line), name) for line in dict.fromkeys(cut["line"] for cut in cuts))[
                :MOST_TEXTS
            ],
            place=_place(file, first, name),
        )


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text[:LONGEST_TEXT] for text in texts))[:MOST_TEXTS]


def _explained(reason: str) -> str:
    """Return the sentence of a reason that says what the matter is; its first line where it has none."""
    found = EXPLANATION.search(reason)
    return (found[1] if found else reason.strip().partition("\n")[0]).strip().rstrip(".")


def _place(file: str, line: int, function: str) -> Place:
    source = linecache.getline(file, line).strip() if is_users_file(file) else ""
    return Place(file=file, line=line, source=source, function=function)
