"""This file runs programs of training frameworks as a notebook runs a cell: watched, with nothing to configure."""

import contextlib
import io
import linecache
import warnings
from pathlib import Path

import pytest
import torch

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.records.finding import Severity
from torchmagic.records.model import LoaderRecord, ModelRecord, OptimizerRecord
from torchmagic.records.note import FailureRecord
from torchmagic.session.session import Session

PROGRAMS = Path(__file__).parent / "programs"


class Seen:
    """What a watched program left: its names, and its run.

    Attributes:
        names: The program's own names.
        run: The run.
    """

    def __init__(self, names, run):
        self.names, self.run = names, run

    @property
    def alarms(self):
        """The findings that are more than a hint."""
        grave = [each for each in self.run.findings if each.severity != Severity.INFO]
        return [(each.rule, each.title, dict(each.evidence)) for each in grave]

    @property
    def rules(self):
        return {each.rule for each in self.run.findings}

    @property
    def models(self):
        return [each.name for each in self.run.of(ModelRecord)]

    @property
    def optimizers(self):
        return [each.name for each in self.run.of(OptimizerRecord)]

    @property
    def loaders(self):
        return [each.name for each in self.run.of(LoaderRecord)]

    def curve(self, metric, name):
        return list(zip(*self.run.series(metric, name=name), strict=True))

    def rates(self, name):
        """Return the learning rate of each step; one that is recorded holds until the next."""
        known, rates = dict(self.curve("lr", name)), []
        for step in range(self.run.steps):
            rates.append(known.get(step, rates[-1] if rates else None))
        return rates


@contextlib.contextmanager
def one_thread():
    """Keep sums in one order: two runs of a program then have the same bits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def text_of(program, planted):
    """Return a program with some of its text replaced by a mistake."""
    text = (PROGRAMS / f"{program}.py").read_text(encoding="utf-8")
    for right, wrong in planted.items():
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    return text


def execute(text, names, folder):
    """Run a text as a cell is run: under a name of its own, by which its lines are found."""
    file = f"<cell {len(text)} {id(names)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    with (
        one_thread(),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # libraries warn of each other
        exec(compile(text, file, "exec"), names)  # noqa: S102 - the programs are ours


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Return a function that runs a program unwatched, and returns what it ends with."""

    def run(program):
        names = {"__name__": "__main__"}
        execute(text_of(program, {}), names, tmp_path_factory.mktemp("alone"))
        return names["result"]

    return run


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """Return a function that runs a program watched, with mistakes planted into it."""

    def run(program, planted=None):
        text = text_of(program, planted or {})
        names = {"__name__": "__main__"}
        watching = Watch(Settings(save=False), namespace=names, source=text, session=Session())
        found = watching.start()
        try:
            execute(text, names, tmp_path_factory.mktemp("watched"))
        finally:
            watching.stop()
        assert not found.of(FailureRecord)
        return Seen(names, found)

    return run


@pytest.fixture(scope="session")
def same_bits():
    """Return a function that compares lists of tensors, bit for bit."""

    def same(ours, theirs):
        return len(ours) == len(theirs) > 0 and all(map(torch.equal, ours, theirs))

    return same
