"""This file is the facts about a scheduler: its class, its numbers, and what it begins from."""

from numbers import Real
from typing import Any

from torch.optim import lr_scheduler

from torchmagic.probes.asking import asked
from torchmagic.tensors.genuine import is_tensor
from torchmagic.tensors.presence import has_numbers

# What a scheduler's settings are not.
STATE = frozenset({"last_epoch", "best", "num_bad_epochs", "cooldown_counter", "T_cur", "T_i", "mode_worse"})
# What trainers call the length of a warm-up.
WARM_UP = "num_warmup_steps"


def schedule_facts(scheduler: Any) -> dict[str, Any]:
    """Return what a record tells of a scheduler by itself."""
    watches = isinstance(scheduler, lr_scheduler.ReduceLROnPlateau)
    return {
        "class_name": type(scheduler).__name__,
        "settings": _settings(scheduler),
        "base_lr": tuple(map(float, asked(scheduler, "base_lrs") or _initial(scheduler))),
        "parts": tuple(type(part).__name__ for part in asked(scheduler, "_schedulers", ())),
        "metric": watches,
        "mode": str(asked(scheduler, "mode", "")) if watches else "",
    }


def steps_before(scheduler: Any) -> int:
    """Return how many steps a scheduler counted before the one that it has just made."""
    counted = asked(scheduler, "last_epoch")
    return max(counted - 1, 0) if isinstance(counted, int) else 0


def number_in(metric: Any) -> float | None:
    """Return the value that a scheduler was given to watch; None for one of a kind that is not read."""
    if is_tensor(metric):
        return float(metric.item()) if metric.numel() == 1 and has_numbers(metric) else None
    return float(metric) if isinstance(metric, Real) else None


def _settings(scheduler: Any) -> dict[str, float]:
    """Return a scheduler's plain numbers, and of its milestones their count and the last one."""
    found = {
        name: float(value)
        for name, value in vars(scheduler).items()
        if not name.startswith("_")
        and name not in STATE
        and isinstance(value, (int, float))
        and not isinstance(value, bool)
    }
    milestones = sorted(asked(scheduler, "milestones") or asked(scheduler, "_milestones") or ())
    if milestones:
        found["num_milestones"], found["last_milestone"] = float(len(milestones)), float(milestones[-1])
    return found | _warm_up(scheduler)


def _warm_up(scheduler: Any) -> dict[str, float]:
    """Return how long the functions of a schedule warm up, where they are made with that number, as trainers do."""
    for function in asked(scheduler, "lr_lambdas", ()):
        length = asked(function, "keywords", {}).get(WARM_UP)
        if isinstance(length, (int, float)):
            return {WARM_UP: float(length)}
    return {}


def _initial(scheduler: Any) -> list[float]:
    """Return the rates before the schedule, as torch notes them for one that is made of others."""
    groups = asked(asked(scheduler, "optimizer"), "param_groups", ())
    return [group["initial_lr"] for group in groups if "initial_lr" in group]
