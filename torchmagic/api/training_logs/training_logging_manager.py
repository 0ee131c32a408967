"""This file is the log of a training's metrics: by batch, and by epoch."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Unpack

from torchmagic.api.training_logs.channel import LogOptions
from torchmagic.api.training_logs.events import TrainingEvents
from torchmagic.api.training_logs.later import Later, number_in
from torchmagic.api.training_logs.log_level import LogLevel

# Values on an accelerator that wait to be added up; the oldest is waited for beyond.
MOST_PENDING = 1_000


class TrainingLoggingManager(TrainingEvents):
    """Logs a training's metrics to a file, one JSON object a line, without waiting for the disk.

    Args:
        experiment_name: What to call the training; it becomes a part of the file's name, and no path.
        **options: ``log_dir``, ``terminal_level``, ``max_bytes``, ``backups``, ``handlers``; see ``LogOptions``.

    Raises:
        ValueError: If an option is wrong; one line.

    Attributes:
        num_batches: Batches that were logged.
        num_epochs: Epochs that were logged.

    Example:
        >>> with TrainingLoggingManager("debug_experiment", log_dir=folder, terminal_level=None) as manager:
        ...     manager.log_batch_metrics({"loss": 2.0})
        ...     manager.log_batch_metrics({"loss": 1.0})
        ...     manager.log_epoch_metrics()
        {'loss': 1.5}
    """

    def __init__(self, experiment_name: str | None = None, **options: Unpack[LogOptions]) -> None:
        self.experiment_name = "" if experiment_name is None else str(experiment_name)
        super().__init__(self.experiment_name, {"experiment": self.experiment_name}, **options)
        self.num_batches = self.num_epochs = 0
        self._newest: dict[str, float | Later] = {}
        self._pending: deque[tuple[str, Later]] = deque()
        self._sums: dict[str, tuple[float, int]] = {}

    @property
    def latest(self) -> dict[str, float]:
        """The newest number of each metric; what lies on an accelerator is waited for."""
        with self._counting:
            return {name: float(_read(value)) for name, value in self._newest.items()}

    def log_batch_metrics(self, metrics: Mapping[str, Any], **fields: Any) -> None:
        """Log the metrics of one batch, to the file only.

        Args:
            metrics: Values by name; numbers, tensors of one value, or anything else. An accelerator is not waited for.
            **fields: What belongs to it, such as ``epoch`` and ``batch``.

        Raises:
            TypeError: If the metrics are not given by name; one line.
        """
        given = _by_name(metrics)
        with self._counting:
            number = self.num_batches
            self.num_batches += 1
            self._add(numbers := _numbers(given))
        later = {name: value for name, value in numbers.items() if isinstance(value, Later)}
        self._tell(LogLevel.DEBUG, "batch_metrics", f"batch {number}", fields={**fields, **given, **later})

    def log_epoch_metrics(
        self, metrics: Mapping[str, Any] | None = None, epoch: int | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Log the metrics of an epoch.

        Args:
            metrics: Values by name; None takes the means of the batches since the last epoch, NaN where a value was.
            epoch: Its number; None counts from 0.
            **fields: What belongs to it.

        Returns:
            The metrics that were logged.

        Raises:
            TypeError: If the metrics are not given by name; one line.
        """
        given = self._means() if metrics is None else _by_name(metrics)
        with self._counting:
            number = self.num_epochs if epoch is None else epoch
            self.num_epochs += 1
            self._newest |= {} if metrics is None else _numbers(given)
        self._tell(LogLevel.INFO, "epoch_metrics", f"epoch {number}", fields={"epoch": number, **fields, **given})
        return given

    def _add(self, numbers: Mapping[str, float | Later]) -> None:
        self._newest |= numbers
        for name, value in numbers.items():
            if isinstance(value, Later):
                self._pending.append((name, value))
            else:
                self._sum(name, value)
        while self._pending and (len(self._pending) > MOST_PENDING or self._pending[0][1].is_there):
            name, value = self._pending.popleft()
            self._sum(name, float(value.read()))

    def _sum(self, name: str, value: float) -> None:
        total, count = self._sums.get(name, (0.0, 0))
        self._sums[name] = total + value, count + 1

    def _means(self) -> dict[str, Any]:
        with self._counting:
            for name, value in self._pending:
                self._sum(name, float(value.read()))
            self._pending.clear()
            sums, self._sums = self._sums, {}
        return {name: total / count for name, (total, count) in sums.items()}


def _numbers(metrics: Mapping[str, Any]) -> dict[str, float | Later]:
    return {name: number for name, value in metrics.items() if (number := number_in(value)) is not None}


def _read(value: float | Later) -> float:
    return float(value.read()) if isinstance(value, Later) else value


def _by_name(metrics: Any) -> dict[str, Any]:
    if not isinstance(metrics, Mapping):
        raise TypeError(f"metrics are given by name, such as {{'loss': 0.5}}; {type(metrics).__qualname__} came")
    return {str(name): value for name, value in metrics.items()}
