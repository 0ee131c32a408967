"""This file makes a training's logger from a configuration, whatever that is."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from torchmagic.api.training_logs.async_training_logger import AsyncTrainingLogger
from torchmagic.api.training_logs.channel import LogOptions

OPTIONS = (
    "user_id",
    "model_name",
    "enable_autograd_debug",
    "progress",
    "debug_settings",
    *LogOptions.__annotations__,
)
# What other configurations call the same.
OTHER_NAMES = {"experiment_name": "model_name", "log_folder": "log_dir", "output_dir": "log_dir"}
# Attributes of objects that are configurations of something else as well, such as ``DebugConfig``.
OF_OBJECTS = {**OTHER_NAMES, "debug_output_dir": "log_dir"}


def create_training_logger(config: Any = None) -> AsyncTrainingLogger:
    """Return a logger for a training.

    Args:
        config: The arguments of ``AsyncTrainingLogger`` by name; or an object that has some of them as attributes, such
            as a ``DebugConfig``, whose ``debug_output_dir`` is where the files go; or the name of the model or the
            experiment; or None.

    Raises:
        ValueError: If a name in a mapping is unknown, or a value is wrong; one line.
    """
    if config is None or isinstance(config, str):
        return AsyncTrainingLogger(model_name=config or "")
    if isinstance(config, Mapping):
        return AsyncTrainingLogger(**_renamed(config))
    found = {name: getattr(config, name, None) for name in (*OF_OBJECTS, *OPTIONS)}
    given = {OF_OBJECTS.get(name, name): value for name, value in found.items() if value is not None}
    return AsyncTrainingLogger(**given)


def _renamed(config: Mapping[Any, Any]) -> dict[str, Any]:
    for name in config:
        if name not in OPTIONS and name not in OTHER_NAMES:
            nearest = get_close_matches(str(name), (*OPTIONS, *OTHER_NAMES), n=1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise ValueError(f"a training logger has no {name!r}; it has {', '.join(OPTIONS)}{hint}")
    return {OTHER_NAMES.get(name, name): value for name, value in config.items()}
