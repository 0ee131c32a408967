"""This file is whom a debugger tells of an operation: its logger, a training's log, and a file."""

import logging
import traceback
from typing import Any

from torchmagic.api.debugging.config import DebugConfig
from torchmagic.api.debugging.info import DebugInfo
from torchmagic.api.debugging.written import OperationFile
from torchmagic.records.finding import Finding

# Findings that were told once are not told again; so many are known.
_MOST_TOLD = 1_000
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO}
# What a training's log is told of an operation under another name, or not at all.
_OTHER_NAMES = {"level": "debug_level", "mode": "debug_mode"}
_LEFT_OUT = ("timestamp", "operation", "findings", "details")


class Telling:
    """Tells of the operations of one debugger.

    Args:
        config: Says what is written down.
        logger: Is told findings, each once, and exceptions.
        training_logger: Is told each operation, by ``log_training_event``; None for none.
    """

    def __init__(self, config: DebugConfig, *, logger: logging.Logger, training_logger: Any = None) -> None:
        self._config, self._logger = config, logger
        self._event = getattr(training_logger, "log_training_event", None)
        self._file = OperationFile(config.debug_output_dir, logger=logger)
        self._told: dict[tuple[str, str | None, str | None], Finding] = {}

    @property
    def findings(self) -> list[Finding]:
        """What runs said, each once."""
        return list(self._told.values())

    def clear(self) -> None:
        """Forget what was told."""
        self._told.clear()

    def tell(self, info: DebugInfo, error: BaseException | None, *, is_outermost: bool) -> None:
        """Tell of an operation that has ended.

        Args:
            info: What is known of it.
            error: What ended it, or None.
            is_outermost: Whether the run's findings are its own.
        """
        if isinstance(error, Exception):
            # as text: a record that a handler keeps would hold the exception, its frames, and all that they hold
            whole = "".join(traceback.format_exception(error)).rstrip()
            self._logger.error("%s ended with %s: %s\n%s", info.operation, type(error).__name__, str(error), whole)
        for finding in info.findings if is_outermost else ():
            self._tell_once(info.operation, finding)
        if self._config.save_debug_info:
            self._file.add(info)
        if self._event is not None:
            given = info.to_dict().items()
            fields = {_OTHER_NAMES.get(name, name): value for name, value in given if name not in _LEFT_OUT}
            self._event("debug_operation", info.operation, "warning" if info.anomaly_detected else "debug", **fields)

    def _tell_once(self, operation: str, finding: Finding) -> None:
        key = finding.rule, finding.module, finding.parameter
        if key not in self._told and len(self._told) < _MOST_TOLD:
            self._told[key] = finding
            self._logger.log(_LEVELS[finding.severity.value], "%s: %s", operation, finding.title)
