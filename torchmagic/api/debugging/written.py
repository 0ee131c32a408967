"""This file is the file of operations: a line of JSON each, in one file of bounded size."""

import json
import logging
import math
from pathlib import Path
from typing import Any

from torchmagic.api.debugging.info import DebugInfo

NAME = "debug_info.jsonl"
# Past this size the older half of the lines is dropped.
MOST_BYTES = 16 * 2**20


class OperationFile:
    """Writes operations down; a disk that cannot be written is told once, and training goes on.

    Args:
        folder: Where the file is; made when the first operation is written.
        logger: Is told what is wrong.
        most_bytes: Past this size the older half is dropped.
    """

    def __init__(self, folder: str | Path, *, logger: logging.Logger, most_bytes: int = MOST_BYTES) -> None:
        # Absolute, as a program may go to another folder while it runs.
        self.path = Path(folder).absolute() / NAME
        self._logger, self._most_bytes = logger, most_bytes
        self._is_well = True

    def add(self, info: DebugInfo) -> None:
        """Append an operation that has ended."""
        line = json.dumps(plain(info.to_dict()), allow_nan=False)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
                size = file.tell()
            if size > self._most_bytes:
                self._halve()
            self._is_well = True
        except OSError as error:
            if self._is_well:
                self._logger.warning("cannot write %s: %s; operations are kept in memory only", self.path, error)
            self._is_well = False

    def _halve(self) -> None:
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        draft = self.path.with_suffix(".part")
        draft.write_text("".join(lines[len(lines) // 2 + 1 :]), encoding="utf-8")
        draft.replace(self.path)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers that are not finite, and what JSON has no form for, as text."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bool | int | None) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
