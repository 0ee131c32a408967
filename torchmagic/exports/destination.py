"""This file is where an export goes: one file, replaced when the new one is whole, or one folder."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from torchmagic.exports.exporter import Exporter
from torchmagic.session.run import Run
from torchmagic.session.whole_file import file_behind, need_folder, one_line, one_whole_file


def replace_file(exporter: Exporter, runs: Sequence[Run], path: Path) -> Path:
    """Write beside the file and move the whole over it: who reads meanwhile sees the old or the new.

    Raises:
        OSError: If it cannot be written; what stood there then still stands.
    """
    with one_line(path):
        target = file_behind(path, exporter.suffixes[0])
        with one_whole_file(target) as draft:
            exporter.write(runs, draft)
    return path


def fill_folder(exporter: Exporter, runs: Sequence[Run], path: Path) -> Path:
    """Make the folder unless it is there, and write into it.

    Raises:
        OSError: If it cannot be made or written.
    """
    with one_line(path):
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(f"{path} is a file, and {exporter.name} needs a folder; name another")
        need_folder(path.resolve().parent, path)
        with _folder(path):
            exporter.write(runs, path)
    return path


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make a folder unless it is there; of one that was made and stayed empty nothing is left where writing fails."""
    is_new = not path.exists()
    path.mkdir(exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):  # something is in it
                path.rmdir()
        raise


def inside(folder: Path, name: str) -> Path:
    """Return a file or folder of that name in a folder.

    Raises:
        OSError: If a link that stands there leads out of the folder.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise OSError(f"{path} is a link that leads out of {folder}; remove it or name another folder")
    return path
