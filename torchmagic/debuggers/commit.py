"""This file is the commit: which state of a git repository a run's folder is in, read without a wait."""

import atexit
import subprocess
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from torchmagic.session.ignored_warnings import uncounted_changes

# Seconds that git may take to compare the files with the commit; in a huge repository the answer stays unknown.
PATIENCE = 5.0
MOST_BYTES = 1_000_000


class Commit(NamedTuple):
    """A commit's id, empty where there is no repository, and whether files differ from it; None while unknown."""

    id: str = ""
    changed: bool | None = None


class _Asked(NamedTuple):
    process: subprocess.Popen[bytes] | None
    until: float


_asked: dict[tuple[str, str], _Asked] = {}


def commit_of(folder: Path | None = None) -> Commit:
    """Return the commit that a folder stands at; it never raises, and waits for no process.

    Whether files differ from it is asked of git in the background: the first call sets out, a later one knows.

    Args:
        folder: The folder; None takes the working directory.
    """
    try:
        place = folder or Path.cwd()
        repository = next((each for each in (place, *place.parents) if (each / ".git").exists()), None)
        found = _head(_git_folder(repository)) if repository is not None else ""
        if repository is None or not found:
            return Commit()
        return Commit(found, _changed(str(repository), found))
    except (OSError, ValueError):
        return Commit()


def _git_folder(repository: Path) -> Path:
    """Return where git keeps its things; a work tree of another repository has a file that says where."""
    git = repository / ".git"
    if git.is_dir():
        return git
    return (repository / _text(git).removeprefix("gitdir:").strip()).resolve()


def _head(git: Path) -> str:
    """Return the commit of HEAD: written there, or in the file of its branch, or in the list of packed ones."""
    head = _text(git / "HEAD").strip()
    if not head.startswith("ref:"):
        return _checked(head)
    branch = head.removeprefix("ref:").strip()
    shared = git / "commondir"
    folders = [git, (git / _text(shared).strip()).resolve()] if shared.is_file() else [git]
    for folder in folders:
        if (folder / branch).is_file():
            return _checked(_text(folder / branch).strip())
    for folder in folders:
        if (folder / "packed-refs").is_file():
            for line in _text(folder / "packed-refs").splitlines():
                if line.endswith(f" {branch}"):
                    return _checked(line.partition(" ")[0])
    return ""


def _text(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(MOST_BYTES)


def _checked(text: str) -> str:
    return text if len(text) in (40, 64) and set(text) <= set("0123456789abcdef") else ""


def _changed(repository: str, commit: str) -> bool | None:
    _ask(repository, commit)
    asked = _asked[repository, commit]
    if asked.process is not None and asked.process.poll() is None and monotonic() > asked.until:
        asked.process.kill()
    code = asked.process.poll() if asked.process is not None else None
    return {0: False, 1: True}.get(code) if code is not None else None


@uncounted_changes()  # Python looks for the program with other filters
def _ask(repository: str, commit: str) -> None:
    """Ask git, once a process, whether files differ from a commit; its answer is its exit status, read later."""
    if (repository, commit) in _asked:
        return
    # Without locks, so that a git of the user's at the same moment is not disturbed, and without programs that the
    # repository's own settings name.
    options = ["--no-optional-locks", "-c", "core.fsmonitor=false", "-C", repository]
    command = ["git", *options, "diff", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "HEAD"]
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere)  # noqa: S603 - a fixed command
    except (OSError, subprocess.SubprocessError):
        process = None
    _asked[repository, commit] = _Asked(process, monotonic() + PATIENCE)


@atexit.register
def _let_go() -> None:
    """End what git has not answered by the end of the process."""
    for asked in _asked.values():
        if asked.process is not None and asked.process.poll() is None:
            asked.process.kill()
            asked.process.wait()
