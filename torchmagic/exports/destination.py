"""This file is where an export goes: one file, replaced when the new one is whole, or one folder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from torchmagic.exports.exporter import Exporter
from torchmagic.session.run import Run


def replace_file(exporter: Exporter, runs: Sequence[Run], path: Path) -> Path:
    """Write beside the file and move the whole over it: who reads meanwhile sees the old or the new.

    Raises:
        OSError: If it cannot be written; what stood there then still stands.
    """
    with _one_line(path):
        target = _file_behind(path, exporter)
        with one_whole_file(target) as draft:
            exporter.write(runs, draft)
    return path


def fill_folder(exporter: Exporter, runs: Sequence[Run], path: Path) -> Path:
    """Make the folder unless it is there, and write into it.

    Raises:
        OSError: If it cannot be made or written.
    """
    with _one_line(path):
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(f"{path} is a file, and {exporter.name} needs a folder; name another")
        _need_folder(path.resolve().parent, path)
        path.mkdir(exist_ok=True)
        exporter.write(runs, path)
    return path


def inside(folder: Path, name: str) -> Path:
    """Return a file or folder of that name in a folder.

    Raises:
        OSError: If a link that stands there leads out of the folder.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise OSError(f"{path} is a link that leads out of {folder}; remove it or name another folder")
    return path


@contextmanager
def one_whole_file(path: Path) -> Iterator[Path]:
    """Yield the path of a draft beside a file, and move it over the file once it is written."""
    draft = path.with_name(f".torchmagic-{uuid4().hex}.part")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _file_behind(path: Path, exporter: Exporter) -> Path:
    """Return the file to write: a link is followed as by ``open``, so that it stays a link."""
    if path.is_dir():
        example = path / f"run{exporter.suffixes[0]}"
        raise IsADirectoryError(f"{path} is a folder; name a file in it, such as {example}")
    target = path.resolve()
    _need_folder(target.parent, path)
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is no ordinary file; name another")
    return target


def _need_folder(folder: Path, path: Path) -> None:
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {folder} does not exist; make it first")


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Say in one line what could not be written and why."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:  # a line of ours
            raise
        raise type(error)(f"cannot write {path}: {error.strerror.lower()}; free it or name another place") from error
