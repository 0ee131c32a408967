import gc
import linecache
from contextlib import contextmanager
from itertools import count
from types import FunctionType

import pytest

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.probes.notebook_text import is_cell
from torchmagic.profiling import attribute
from torchmagic.profiling.collect import Profiling
from torchmagic.profiling.lines import Lines
from torchmagic.profiling.ranges import Ranges
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.records.note import FailureRecord, NoteRecord
from torchmagic.session.session import Session

_CELLS = count(1)


@pytest.fixture(autouse=True)
def by_itself():
    """Hide what earlier tests have left: a model that one of them compiled keeps functions from getting ranges."""
    gc.freeze()
    for file in filter(is_cell, list(linecache.cache)):
        del linecache.cache[file]
    yield
    gc.unfreeze()


@pytest.fixture
def load():
    """Run a source as a cell of a notebook; the names that it leaves."""
    files = []

    def run(source, **names):
        file = f"/tmp/ipykernel_0/{next(_CELLS)}.py"  # noqa: S108 - a name, no file
        files.append(file)
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        names = {"__name__": "__main__", "FILE": file, **names}
        exec(compile(source, file, "exec", dont_inherit=True), names)  # noqa: S102 - a cell of the test
        return names

    yield run
    for file in files:
        del linecache.cache[file]


class Timed:
    """Lines whose ranges are real ones, of which the entries are counted."""

    def __init__(self):
        self.ranges = Ranges()
        self.ranges.open()
        self.lines = Lines(make_range=self.ranges.make)

    def counts(self, file):
        """Return how often each line of a file ran, by number; lines that did not run are left out."""
        ran = zip(self.lines.places, self.lines._ranges, strict=True)
        return {place.line: each.count for place, each in ran if place.file == file and each.count}


@pytest.fixture
def timed():
    timed = Timed()
    yield timed
    timed.lines.forget()


@pytest.fixture
def functions_of():
    """Find all functions of a file and their code, whoever holds them."""

    def find(file):
        found = [each for each in gc.get_objects() if type(each) is FunctionType]
        return [(each, each.__code__) for each in found if each.__code__.co_filename == file]

    return find


class Profiled:
    """A run that is profiled: its ``run``, and, once it has ended, what was ``collected``, its events as a list."""

    def __init__(self):
        self.run = self.collected = None

    @property
    def names(self):
        return [each.name for each in self.collected.events]

    @property
    def notes(self):
        return [each.text for each in self.run.of(NoteRecord)] + (self.collected.notes if self.collected else [])

    @property
    def failures(self):
        return self.run.of(FailureRecord)


@pytest.fixture
def profiled(monkeypatch):
    """Profile a block, as ``with profiled(steps=3) as seen``."""

    @contextmanager
    def profile(*, namespace=None, line_ranges=None, probe=Profiling, **settings):
        seen, read = Profiled(), attribute.attribute

        def keep(collected, **how):
            records = read(collected, **how)  # as they are when they come, in columns
            collected.events = list(collected.events)
            seen.collected = collected
            return records

        with monkeypatch.context() as patch:
            patch.setattr(attribute, "attribute", keep)
            beside = probe(ProfileSettings(**settings), namespace=namespace or {}, lines=line_ranges)
            watching = Watch(
                Settings(save=False, only=("performance",)),
                namespace=namespace or {},
                session=Session(),
                beside=(beside,),
            )
            seen.run = watching.start()
            try:
                yield seen
            except BaseException as error:
                watching.stop(error)
                raise
            else:
                watching.stop()

    return profile
