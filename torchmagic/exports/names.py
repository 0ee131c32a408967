"""This file is names for files and trackers: what users call things, written so that no name leads anywhere else."""

import re
from hashlib import blake2s

from torchmagic.session.run import Run

# What file systems and trackers all take; a leading dot would hide a file or climb a folder.
_ODD_IN_FILES = re.compile(r"[^A-Za-z0-9_.-]|(?<![A-Za-z0-9])\.|\.(?![A-Za-z0-9])")
_ODD_IN_KEYS = re.compile(r"[^A-Za-z0-9_./ -]|(?<![A-Za-z0-9_])\.|\.(?![A-Za-z0-9_])|/(?=/)|^/|/$")
LONGEST_FILE, LONGEST_KEY = 80, 200


def folder_name(run: Run) -> str:
    """Return a name for a run's own file or folder: what the user called it, and its id.

    Examples:
        >>> folder_name(Run(name="../../lr sweep", run_id="3f2a"))
        'lr-sweep-3f2a'
    """
    return f"{file_word(run.name) or 'run'}-{file_word(run.id)}".rstrip("-")


def file_word(text: str) -> str:
    """Return text as a part of a file's name: letters, digits, dots inside, ``-`` and ``_``; at most 80 of them."""
    return re.sub(r"-{2,}", "-", _ODD_IN_FILES.sub("-", text)).strip("-")[:LONGEST_FILE].rstrip("-.")


def key(*parts: str) -> str:
    """Return a name for a metric or setting of a tracker: parts with slashes between, empty ones left out.

    A name that a tracker may refuse is rewritten, and then ends with a few letters made from the original, so that
    two names never become one.

    Examples:
        >>> key("loss", ""), key("grad_norm", "net.0.weight")
        ('loss', 'grad_norm/net.0.weight')
    """
    whole = "/".join(part for part in parts if part)
    plain = _ODD_IN_KEYS.sub("_", whole)
    if plain == whole and 0 < len(plain) <= LONGEST_KEY:
        return plain
    mark = blake2s(whole.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{plain[: LONGEST_KEY - len(mark) - 1]}-{mark}"


def encodable(text: str) -> str:
    r"""Return text that UTF-8 can hold: half of a surrogate pair is written as ``\udc80``."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def label(run: Run) -> str:
    """Return what to call a run that stands alone: its name, else its number, else its id."""
    return run.name or (f"run {run.number}" if run.number else run.id)
