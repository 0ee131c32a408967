"""This file is the code that took part in a run: the other cells and files in which its lines and classes stand."""

from collections.abc import Iterator, Mapping
from inspect import isfunction
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader

from torchmagic.analyses.finding_files import places_in
from torchmagic.analyses.syntax import names_in
from torchmagic.probes.cast import Cast
from torchmagic.probes.module_parts import modules_of
from torchmagic.probes.notebook_text import name_of_cell
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import is_users_file, source_of
from torchmagic.probes.taps import Taps
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run

# Of a longer text nobody finds a line; of many, the first are the likeliest.
MOST_CHARACTERS, MOST_IN_ALL = 60_000, 120_000


class TakenPart:
    """Gives the run its texts at the end: of lines that records tell, of models, and of what the cell has by name."""

    flush = nothing_waits

    def __init__(self, cast: Cast, namespace: Mapping[str, Any]) -> None:
        self._cast, self._namespace = cast, namespace
        self._recorder: Recorder | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Listen for nothing."""
        self._recorder = recorder

    def detach(self) -> None:
        """Gather the texts; of all probes the last."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.keep_texts(self._texts, name=_name)

    def _texts(self, run: Run) -> dict[str, str]:
        found: dict[str, str] = {}
        left = MOST_IN_ALL
        for file in dict.fromkeys(self._files(run)):
            text = source_of(file) if is_users_file(file) else ""
            if text.strip() and len(text) <= min(left, MOST_CHARACTERS) and not _is_own(text, run.source):
                found[file] = text
                left -= len(text)
        return found

    def _files(self, run: Run) -> Iterator[str]:
        for place in places_in(run.records):
            yield place.file
        for model in self._cast.models:
            for each in () if (module := model.ref()) is None else modules_of(module):
                yield from _of_class(type(each))
        for name in names_in(run.source):
            yield from _of_value(self._namespace.get(name))


def _is_own(text: str, source: str) -> bool:
    """Whether a text is what runs of a source, in which the shell has put its own calls in the place of magics."""
    lines, typed = text.strip().splitlines(), source.strip().splitlines()
    if len(lines) != len(typed):
        return False
    pairs = zip(lines, typed, strict=True)
    return all(line in (was, f"# {was}") or "get_ipython()" in line for line, was in pairs)


def _name(file: str) -> str:
    """Return what to call a file: its path from where the program runs, or the number of a cell that tells it."""
    return name_of_cell(file, unnumbered="another cell") or _below(Path(file))


def _below(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # it lies elsewhere, or there is no working directory any more
        return path.name


def _of_value(value: Any) -> Iterator[str]:
    """Yield the files of what a name stands for: a function, a class, or a thing of a class."""
    if isfunction(value):
        yield value.__code__.co_filename
    elif isinstance(value, DataLoader):
        yield from _of_value(value.collate_fn)
        yield from _of_class(type(value.dataset))
    elif value is not None:
        yield from _of_class(value if isinstance(value, type) else type(value))


def _of_class(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        for each in vars(base).values():
            if isfunction(each) and is_users_file(each.__code__.co_filename):
                yield each.__code__.co_filename
