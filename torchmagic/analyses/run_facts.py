"""This file is the facts of a run that were given and not measured: what two runs may differ in before they begin."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from torchmagic.records.beginning import BeginningRecord
from torchmagic.records.model import LoaderRecord, ModelRecord
from torchmagic.records.note import EnvironmentRecord
from torchmagic.records.objective import GroupRecord, ObjectiveRecord
from torchmagic.records.schedule import ScheduleRecord
from torchmagic.session.run import Run

Value = str | float | int | bool
Facts = dict[str, Value]

# Settings that say where a run is kept or how it is shown, and nothing of how it was trained or watched.
NOT_COMPARED = frozenset({"name", "save", "report", "panel", "baseline", "sort_by", "top"})
ENVIRONMENT_WORDS = {
    "num_threads": "threads",
    "num_cores": "cores",
    "python": "Python",
    "changed": "files not committed",
    "deterministic": "deterministic algorithms only",
}


def training_facts(run: Run) -> Facts:
    """Return what was trained with what: optimizers, schedules, models, losses, loaders, each by its place in the run.

    Names of variables play no part, so that ``opt`` and ``optimizer`` do not differ.
    """
    found = [*_optimizers(run), *_schedules(run), *_models(run), *_loaders(run)]
    return dict(found) | finer_facts(run)


def finer_facts(run: Run) -> Facts:
    """Return those facts of the training that not every run keeps, or that only some optimizers have.

    They are compared only where both runs have them.
    """
    return dict([*_hyperparameters(run), *_objectives(run), *_batch_given(run)])


def layer_facts(run: Run) -> Facts:
    """Return how many layers of each class the model has that was trained first, and what torch's own are set to."""
    beginning = beginning_of(run)
    return {} if beginning is None else dict(beginning.layers or {})


def beginning_of(run: Run) -> BeginningRecord | None:
    """Return what the run's training began with; None where nothing was trained or it was not recorded."""
    return next(iter(run.of(BeginningRecord)), None)


def seed_of(run: Run) -> int | None:
    """Return the seed that counts: the one that training began with, else the one that the run began with."""
    beginning = beginning_of(run)
    environment = next(reversed(run.of(EnvironmentRecord)), None)
    return beginning.seed if beginning is not None else None if environment is None else environment.seed


def setting_facts(run: Run) -> Facts:
    """Return the settings by which the run was watched."""
    return {name: _plain(value) for name, value in run.settings.items() if name not in NOT_COMPARED}


def environment_facts(run: Run) -> Facts:
    """Return where the run took place."""
    record = next(reversed(run.of(EnvironmentRecord)), None)
    if record is None:
        return {}
    known = {field.name: getattr(record, field.name) for field in fields(record)}
    seed = seed_of(run)
    known["seed"] = None if seed is None else str(seed)  # a name, whose digits all count
    return {
        ENVIRONMENT_WORDS.get(name, name.replace("_", " ")): _plain(value)
        for name, value in known.items()
        if isinstance(value, bool) or value not in (None, "", 0, ())
    }


def differing(facts: Sequence[Mapping[str, Value]]) -> dict[str, tuple[Value | None, ...]]:
    """Return what is not the same in all runs, with the value of each; None where a run has none.

    Args:
        facts: The facts of each run.
    """
    names = dict.fromkeys(name for each in facts for name in each)
    values = {name: tuple(each.get(name) for each in facts) for name in names}
    return {name: row for name, row in values.items() if any(value != row[0] for value in row)}


def _optimizers(run: Run) -> Iterator[tuple[str, Value]]:
    for number, members in enumerate(_groups(run)):
        yield _nth("optimizer", number), members[0].class_name
        for of, group in _named(number, members):
            if group.lr is not None:
                yield f"lr{of}", group.lr
            yield f"weight decay{of}", group.weight_decay
            yield f"decay apart from the gradient{of}", group.decoupled
            yield f"maximize{of}", group.maximize
            yield f"parameters in the optimizer{of}", group.num_elements


def _hyperparameters(run: Run) -> Iterator[tuple[str, Value]]:
    for number, members in enumerate(_groups(run)):
        for of, group in _named(number, members):
            for name, value in group.settings.items():
                if name != "initial_lr" or value != group.lr:  # which a schedule notes, and has not changed yet
                    yield f"{name.replace('_', ' ')}{of}", value


def _groups(run: Run) -> list[list[GroupRecord]]:
    """Return the groups of each optimizer."""
    groups: dict[str, list[GroupRecord]] = {}
    for record in run.of(GroupRecord):
        groups.setdefault(record.optimizer, []).append(record)
    return list(groups.values())


def _named(number: int, members: Sequence[GroupRecord]) -> Iterator[tuple[str, GroupRecord]]:
    """Yield each group of an optimizer with the words that tell it from others."""
    for place, group in enumerate(members):
        parts = [_nth("optimizer", number)] * (number > 0) + [f"group {place + 1}"] * (len(members) > 1)
        yield f" of {', '.join(parts)}" if parts else "", group


def _objectives(run: Run) -> Iterator[tuple[str, Value]]:
    first: dict[str, ObjectiveRecord] = {}
    for each in run.of(ObjectiveRecord):
        first.setdefault(each.loss, each)
    for number, record in enumerate(first.values()):
        which = _nth("loss function", number)
        if record.criteria:
            yield which, ", ".join(record.criteria)
        yield f"{which} with smoothing, weights or another reduction", record.altered


def _batch_given(run: Run) -> Iterator[tuple[str, Value]]:
    beginning = beginning_of(run)
    if beginning is not None and beginning.batch_size is not None:
        yield "batch size given to the model", beginning.batch_size


def _schedules(run: Run) -> Iterator[tuple[str, Value]]:
    for number, record in enumerate({each.name: each for each in run.of(ScheduleRecord)}.values()):
        settings = ", ".join(f"{name} {value}" for name, value in record.settings.items())
        yield _nth("schedule", number), f"{record.class_name} ({settings})" if settings else record.class_name


def _models(run: Run) -> Iterator[tuple[str, Value]]:
    for number, record in enumerate({each.name: each for each in run.of(ModelRecord)}.values()):
        which = _nth("model", number)
        yield which, record.class_name
        yield f"parameters of the {which}", record.num_parameters
        yield f"trainable parameters of the {which}", record.num_trainable
        yield f"{which} compiled", record.compiled


def _loaders(run: Run) -> Iterator[tuple[str, Value]]:
    for number, record in enumerate({each.name: each for each in run.of(LoaderRecord)}.values()):
        of = "" if number == 0 else f" of {_nth('loader', number)}"
        known = {
            "batch size": record.batch_size,
            "samples": record.num_samples,
            "order": record.sampler,
            "workers": record.num_workers,
            "last batch dropped": record.drop_last,
        }
        yield from ((f"{name}{of}", value) for name, value in known.items() if value is not None)


def _nth(word: str, number: int) -> str:
    return word if number == 0 else f"{word} {number + 1}"


def _plain(value: Any) -> Value:
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items()) or "none"
    if isinstance(value, Sequence):
        return ", ".join(map(str, value)) or "none"
    return "not set" if value is None else str(value)
