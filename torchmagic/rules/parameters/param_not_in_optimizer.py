"""Parameters receive gradients, but no optimizer updates them.

*Symptom*: part of a model never changes; training is slower or ends worse than it should.

*Why it happens*: the optimizer holds the parameters it was given. A layer that was replaced or added afterwards, a
second model, or learnable weights of a loss are not among them.

*What to try*: build the optimizer after the model is complete, or call ``optimizer.add_param_group``. What is meant to
stay as it is should say so: ``requires_grad_(False)``.

*Source*: PyTorch issues 14467 and 54765; Humbatova et al., ICSE 2020.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from torchmagic.analyses.counting import few
from torchmagic.analyses.gradient_lines import reads_gradients
from torchmagic.analyses.optimizer_lines import place_of_building
from torchmagic.analyses.source_lines import lines_assigning, lines_calling
from torchmagic.analyses.texts import places_by, says
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.model import OptimizerRecord, ParameterRecord
from torchmagic.records.objective import GroupRecord
from torchmagic.records.protocol import UnownedGradientsRecord
from torchmagic.rules.rule import Located, line_of, rule
from torchmagic.session.run import Run

# Iterations in which the same parameter must have received a gradient.
MIN_ITERATIONS = 3
# Of more models than this the first stands for all.
MOST_MODELS = 3


@rule
def param_not_in_optimizer(run: Run) -> Iterator[Finding]:
    """Report, per model, parameters with gradients that no optimizer owns and nothing else changed."""
    found = []
    for model in dict.fromkeys(record.model for record in run.of(UnownedGradientsRecord)):
        records = [record for record in run.of(UnownedGradientsRecord) if record.model == model]
        if records[-1].owned == 0 and (records[-1].scores or not records[-1].training):
            continue  # a fixed network that gradients only pass through: in evaluation mode, or as others' critic
        names = _steady(records)
        if names and not _is_read(run, records):
            found.append(_finding(run, names, records))
    if len(found) <= MOST_MODELS:
        yield from found
    else:
        yield replace(found[0], title=f"{found[0].title}, and so for {len(found) - 1} other models")


def _is_read(run: Run, records: Sequence[UnownedGradientsRecord]) -> bool:
    """Whether the code reads gradients, and these are of a copy of a model that is trained, or of no model."""
    if records[-1].owned or not says(run, reads_gradients):
        return False
    if not records[-1].model:
        return True
    shapes: dict[str, dict[str, tuple[int, ...]]] = {}
    for each in run.of(ParameterRecord):
        shapes.setdefault(each.model, {})[each.name.removeprefix(each.model)] = each.shape
    unowned = {record.model for record in run.of(UnownedGradientsRecord)}
    own = shapes.get(records[-1].model)
    return own is not None and any(theirs == own for model, theirs in shapes.items() if model not in unowned)


def _steady(records: Sequence[UnownedGradientsRecord]) -> list[str]:
    """Return the parameters seen often enough and never changed by anybody."""
    changed = {name for record in records for name in record.changed}
    seen = [name for record in records for name in record.parameters if name not in changed]
    return [name for name in dict.fromkeys(seen) if seen.count(name) >= MIN_ITERATIONS]


def _finding(run: Run, names: list[str], records: Sequence[UnownedGradientsRecord]) -> Finding:
    optimizer = _optimizer(run, records[-1].model)
    module = names[0].rpartition(".")[0]
    place = _place(run, module, optimizer or next(iter(run.of(OptimizerRecord)), None))
    return Finding(
        rule="param-not-in-optimizer",
        severity=Severity.ERROR,
        confidence=0.9 if records[-1].owned else 0.8,
        title=f"{few(names)} {'gets' if len(names) == 1 else 'get'} gradients but no optimizer updates them",
        module=module or None,
        parameter=names[0],
        optimizer=optimizer.name if optimizer else None,
        **place,
        step=records[0].step,
        evidence={
            "parameters": len(names),
            "iterations with a gradient": len(records),
            "threshold": MIN_ITERATIONS,
            **({"parameters of the model that an optimizer owns": records[-1].owned} if records[-1].owned else {}),
        },
        why="The optimizer was given other tensors: these were made or replaced after it was built, or were left out.",
        fix=_fix(run, optimizer, _written(names, records[-1])),
    )


def _optimizer(run: Run, model: str) -> OptimizerRecord | None:
    """Return the optimizer that the parameters should belong to: the only one, or one that owns others of the model."""
    every = run.of(OptimizerRecord)
    owners = [each for each in every if any(name.startswith(f"{model}.") for name in each.parameters)]
    return next(iter(owners), None) or (every[0] if len(every) == 1 else _twin(every, model))


def _twin(every: Sequence[OptimizerRecord], model: str) -> OptimizerRecord | None:
    """Return an optimizer that was given just what another one has: by its name for this model, else the later one."""
    held = [frozenset(each.parameters) for each in every]
    twins = [each for each, own in zip(every, held, strict=True) if own and held.count(own) > 1]
    return max(reversed(twins), key=lambda each: _ends_alike(each.name, model), default=None)


def _ends_alike(name: str, other: str) -> int:
    """Return how many letters two names have in common at their ends, as ``optG`` and ``netG`` have one."""
    pairs = zip(reversed(name), reversed(other), strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def _fix(run: Run, optimizer: OptimizerRecord | None, given: str) -> str:
    group = f"add_param_group({{'params': {given}}})"
    if optimizer is not None:
        return f"build {optimizer.name} when the model is complete, or: {optimizer.name}.{group}"
    every = [each.name for each in run.of(OptimizerRecord)]
    names = list(dict.fromkeys(every))
    told = few(names) if len(names) > 1 else f"the {len(every)} that are called {names[0]}"
    return f"give them to an optimizer of their own, or to one of {told}: {group}"


def _written(names: Sequence[str], record: UnownedGradientsRecord) -> str:
    """Return the parameters as code has them: of the whole model, of the layers that hold them, or by themselves."""
    if not record.model:
        return f"[{', '.join(names)}]"
    if not record.owned:
        return f"{record.model}.parameters()"
    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in names))
    if record.model in layers:
        return f"[{', '.join(_indexed(name) for name in names)}]"
    if len(layers) == 1:
        return f"{_indexed(layers[0])}.parameters()"
    return f"[{', '.join(f'*{_indexed(layer)}.parameters()' for layer in layers)}]"


def _indexed(path: str) -> str:
    """Return a path of a module as one writes it: ``net[0].bias`` for ``net.0.bias``."""
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", path)


def _place(run: Run, module: str, optimizer: OptimizerRecord | None) -> Located:
    """Return the cell's line that replaces the module, else the one that builds the optimizer, else its first step."""
    replaced = places_by(run, lambda text: lines_assigning(text, module.rpartition(".")[2])) if module else ()
    if replaced:
        return line_of(replaced[0])
    groups = (place_of_building(run, g) for g in run.of(GroupRecord) if optimizer and g.optimizer == optimizer.name)
    built = next(filter(None, groups), None)
    if built is not None:  # a method that a trainer calls may stand in another cell
        return line_of(built)
    if optimizer is None:
        return line_of(None)
    made = places_by(run, lambda text: lines_calling(text, (optimizer.class_name,)))
    return line_of(next(iter(made), optimizer.place))
