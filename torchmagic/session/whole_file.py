"""This file is how a file is written for the user: whole or not at all, and in one line why not."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


def write_whole(path: Path, text: str, *, suffix: str, errors: str = "strict") -> None:
    """Write a text as UTF-8 beside the file and move it over the file: who reads meanwhile sees the old or the new.

    Args:
        path: Where to.
        text: What.
        suffix: Of the file that is named as an example where the path is a folder.
        errors: What becomes of what UTF-8 cannot hold, as ``open`` takes it.

    Raises:
        OSError: If it cannot be written; what stood there then still stands.
    """
    with one_line(path), one_whole_file(file_behind(path, suffix)) as draft:
        draft.write_text(text, encoding="utf-8", errors=errors)


@contextmanager
def one_whole_file(path: Path) -> Iterator[Path]:
    """Yield the path of a draft beside a file, and move it over the file once it is written."""
    draft = path.with_name(f".torchmagic-{uuid4().hex}.part")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def one_line(path: Path) -> Iterator[None]:
    """Say in one line what could not be written and why."""
    try:
        yield
    except OSError as error:
        if error.strerror is None:  # a line of ours
            raise
        raise type(error)(f"cannot write {path}: {error.strerror.lower()}; free it or name another place") from error


def file_behind(path: Path, suffix: str) -> Path:
    """Return the file to write: a link is followed as by ``open``, so that it stays a link.

    Raises:
        OSError: If no file can be there.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it, such as {path / f'run{suffix}'}")
    target = path.resolve()
    need_folder(target.parent, path)
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is no ordinary file; name another")
    return target


def need_folder(folder: Path, path: Path) -> None:
    """Refuse a path whose folder is not there.

    Raises:
        FileNotFoundError: If it is not.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"cannot write {path}: the folder {folder} does not exist; make it first")
