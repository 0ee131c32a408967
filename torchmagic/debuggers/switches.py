"""This file is the switches: which probes the user wants on or off, and how closely, for all runs to come."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol

from torchmagic.debuggers.settings import PROBES, Level, Settings

if TYPE_CHECKING:  # loading the extension loads the switches, and is not to load numpy
    from torchmagic.session.run import Run

# The names that the first sketches give, without the ``debug_`` or ``enable_`` in front of them.
OTHER_NAMES: Mapping[str, str] = {
    "activation": "activations",
    "amp": "mixed-precision",
    "anomaly-detection": "anomaly",
    "autograd-anomaly": "anomaly",
    "autograd-debug": "anomaly",
    "autograd-profiler": "performance",
    "backward-pass": "backward",
    "data-loading": "data",
    "device-placement": "device",
    "devices": "device",
    "forward-pass": "forward",
    "gradient": "gradients",
    "gradient-checking": "gradients",
    "gradient-norms": "gradients",
    "learning-rate": "lr",
    "learning-rates": "lr",
    "lr-scheduling": "lr",
    "memory-profiling": "memory",
    "memory-usage": "memory",
    "operation": "performance",
    "performance-profiling": "performance",
    "tensorboard-profiler": "performance",
    "weight": "weights",
}
PREFIXES = ("debug-", "enable-", "disable-")


class Changeable(Protocol):
    """A run that goes on and can be watched in another way from its next step on."""

    @property
    def run(self) -> "Run":
        """What is seen of it."""

    @property
    def wanted(self) -> Settings:
        """The newest settings that were asked for."""

    def change(self, settings: Settings) -> None:
        """Go on with other settings."""


def probe_named(name: str) -> str:
    """Return the probe that a name stands for: its own, or one of the first sketches'.

    Raises:
        ValueError: If there is none; one line that names the nearest.
    """
    plain = name.strip().lower().replace("_", "-").replace(" ", "-")
    for prefix in PREFIXES:
        plain = plain.removeprefix(prefix)
    if plain in PROBES:
        return plain
    if plain in OTHER_NAMES:
        return OTHER_NAMES[plain]
    nearest = get_close_matches(plain, (*PROBES, *OTHER_NAMES), n=1)
    hint = f"; did you mean {OTHER_NAMES.get(nearest[0], nearest[0])!r}?" if nearest else ""
    raise ValueError(f"there is no probe {name!r}; there are {', '.join(PROBES)}{hint}")


class Switches:
    """What the user has switched on or off, whatever the level; any thread may call.

    A run that goes on changes with them, from its next step on.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: dict[str, bool] = {}
        self._level: Level | None = None
        self._runs: list[Changeable] = []

    def enable(self, *names: str) -> None:
        """Switch probes on, beyond those of the level; without a name, all.

        Raises:
            ValueError: If a name is unknown; nothing is switched then.
        """
        self._switch(names, on=True)

    def disable(self, *names: str) -> None:
        """Switch probes off; without a name, all.

        Raises:
            ValueError: If a name is unknown; nothing is switched then.
        """
        self._switch(names, on=False)

    def set_level(self, level: str | None) -> None:
        """Set how closely runs are watched; None leaves that to the defaults again.

        Raises:
            ValueError: If there is no such level.
        """
        with self._lock:
            self._level = None if level is None else Settings(level=level).level  # type: ignore[arg-type] # a word
            if self._level is not None:
                for run in self._runs:
                    run.change(replace(run.wanted, level=self._level))

    def status(self, defaults: Mapping[str, Any] | None = None) -> dict[str, bool]:
        """Return for each probe whether it takes part: in the run that goes on, or else in the next one.

        Args:
            defaults: Values of ``Settings`` fields under the switches.
        """
        with self._lock:
            running = self._runs[-1].wanted if self._runs else None
        settings = running or Settings(**self.over(defaults or {}))
        return {name: settings.watches(name) for name in PROBES}

    @property
    def running(self) -> Changeable | None:
        """The run that was opened last and goes on, or None."""
        with self._lock:
            return self._runs[-1] if self._runs else None

    def values(self) -> dict[str, Any]:
        """Return the fields of ``Settings`` that the switches decide; empty where nothing was switched."""
        return self.over({})

    def over(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of ``Settings`` fields with what was switched over them."""
        wanted, level = dict(self._wanted), self._level
        values = dict(defaults) if level is None else {**defaults, "level": level}
        on = [name for name, is_on in wanted.items() if is_on]
        off = [name for name, is_on in wanted.items() if not is_on]
        also, without = _joined(defaults.get("also", ()), on, off), _joined(defaults.get("without", ()), off, on)
        return values | ({"also": also} if also or on else {}) | ({"without": without} if without or on else {})

    def reset(self) -> None:
        """Leave everything to the defaults again; runs that go on stay as they are."""
        with self._lock:
            self._wanted, self._level = {}, None

    def follow(self, run: Changeable) -> None:
        """Change a run with the switches, until ``leave``."""
        with self._lock:
            self._runs.append(run)

    def leave(self, run: Changeable) -> None:
        """Change a run no more; safe to call twice."""
        with self._lock:
            self._runs = [each for each in self._runs if each is not run]

    def _switch(self, names: Iterable[str], *, on: bool) -> None:
        chosen = [probe_named(name) for name in names] or list(PROBES)
        with self._lock:
            self._wanted = {**self._wanted, **dict.fromkeys(chosen, on)}
            for run in self._runs:
                run.change(switched(run.wanted, chosen, on=on))


def switched(settings: Settings, names: Iterable[str], *, on: bool) -> Settings:
    """Return settings with some probes on or off."""
    names = list(names)
    if on:
        return replace(settings, also=_joined(settings.also, names, ()), without=_joined(settings.without, (), names))
    return replace(settings, also=_joined(settings.also, (), names), without=_joined(settings.without, names, ()))


def change_said(before: Settings, after: Settings) -> str:
    """Return in words what differs between two settings of one run; empty where the same is watched."""
    on = [name for name in PROBES if after.watches(name) and not before.watches(name)]
    off = [name for name in PROBES if before.watches(name) and not after.watches(name)]
    said = [f"level {after.level}"] if after.level is not before.level else []
    said += [f"with {', '.join(on)}"] if on else []
    return "; ".join([*said, *([f"without {', '.join(off)}"] if off else [])])


def _joined(names: Iterable[str], more: Iterable[str], less: Iterable[str]) -> tuple[str, ...]:
    names = names.replace(",", " ").split() if isinstance(names, str) else names
    return tuple(name for name in dict.fromkeys([*names, *more]) if name not in set(less))


switches = Switches()
