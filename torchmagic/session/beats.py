"""This file is the beats: what each rank of a launch says of itself in a small file that it writes again and again."""

import json
import os
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from torchmagic.records.codec import decode, encode
from torchmagic.records.rank_beats import BeatRecord

ENDING = ".beat"


def write_beat(folder: Path, beat: BeatRecord) -> None:
    """Write what a rank says in one stroke, so that whoever reads sees the old or the new; a full disk is let be."""
    path = folder / f"{beat.rank}{ENDING}"
    with suppress(OSError):
        part = path.with_suffix(f".{beat.pid}.part")
        part.write_text(json.dumps(encode(beat)), encoding="utf-8")
        part.replace(path)


def read_beats(folder: Path) -> dict[int, BeatRecord]:
    """Return what each rank said last, by rank; what cannot be read is left out."""
    found = {}
    for path in folder.glob(f"*{ENDING}"):
        with suppress(OSError, ValueError, KeyError, TypeError):
            told = decode(json.loads(path.read_text(encoding="utf-8")))
            if isinstance(told, BeatRecord):
                found[told.rank] = replace(told, age=max(0.0, time.time() - path.stat().st_mtime))
    return dict(sorted(found.items()))


def lives(beat: BeatRecord) -> bool:
    """Whether a rank's process may still be there; of another machine nobody knows, and it counts as living."""
    if beat.host != _host() or os.name != "posix":
        return True
    try:
        os.kill(beat.pid, 0)
        return Path(f"/proc/{beat.pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except ProcessLookupError:
        return False
    except OSError:
        return True


def _host() -> str:
    return os.uname().nodename if hasattr(os, "uname") else ""
