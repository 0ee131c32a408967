"""This file is the forward of a model on its twins: once to see, then a few times to measure how long it takes."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.counting import counted
from torchmagic.models.calls import Call
from torchmagic.models.forward import ordinary_tensors, timed, watched
from torchmagic.models.seen import Called, Seen
from torchmagic.models.shapes import arguments_of, bytes_of, tensors_in
from torchmagic.models.spared import Spared, storage_key, storages_of
from torchmagic.models.tree import Tree, is_lazy, module_parts, tree_of
from torchmagic.models.twin import Twin
from torchmagic.records.modelinfo import ForwardFacts, ModulePart
from torchmagic.tensors.accelerators import wait_for

# A forward that takes longer is measured once; a shorter one some times more, and the fastest is told.
_SHORT, _REPEATS = 0.3, 3
_MOST_WORDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Forward:
    """What a forward showed: facts about it, the modules with what was seen of each, and the tree that they are of."""

    facts: ForwardFacts
    parts: tuple[ModulePart, ...]
    tree: Tree
    notes: tuple[str, ...] = ()


def forward_of(model: nn.Module, tree: Tree, call: Call) -> Forward:
    """Run twins of a model; the model, its inputs and everything global stay as they are.

    Args:
        model: The model.
        tree: The model taken apart.
        call: How to call it.

    Returns:
        What was seen; of a forward that failed, where and on what.
    """
    with ordinary_tensors():
        return _forward(model, tree, call)


def watched_twin(
    model: nn.Module, tree: Tree, call: Call, *, training: bool | None, results: list[Any] | None = None
) -> tuple[Twin, Seen]:
    """Run one twin of a model, as the user is outside of inference mode.

    Args:
        model: The model.
        tree: The model taken apart.
        call: How to call it.
        training: The mode to run it in; None leaves each module in its own.
        results: Where to put what comes out.
    """
    twin = Twin(model)
    if training is not None:
        twin.module.train(training)
    twin_tree = tree_of(twin.module)
    args, kwargs = call.fresh()
    held = [*tree.tensors.values(), *twin_tree.tensors.values()]
    held = [each for each in held if not is_lazy(each)]
    ignored = {*storages_of(held), *storages_of(tensors_in((args, kwargs)))}
    spared = Spared(each for each in tree.tensors.values() if not is_lazy(each))
    deed = partial(twin.module, *args, **kwargs)
    kept = deed if results is None else partial(_keep, results, deed)
    return twin, watched(twin.module, kept, spared=spared, ignored=ignored)


def _forward(model: nn.Module, tree: Tree, call: Call) -> Forward:
    twin, seen = watched_twin(model, tree, call, training=None)
    notes = list(_hook_notes(twin))
    mode = _mode(model)
    if seen.error is not None and mode != "evaluation":
        second, again = watched_twin(model, tree, call, training=False)
        if again.error is None:
            notes.append(f"in {mode} mode its forward raises {told(seen.error)}; what is shown is of evaluation mode")
            twin, seen, mode = second, again, "evaluation"
    twin_tree = tree_of(twin.module)
    # What had no shape before has one in the twin; the model itself stays as it is.
    grown = seen.error is None and any(map(is_lazy, tree.tensors.values()))
    if grown:
        notes.append("parameters without a shape were given one on a copy, by this input; the model still has none")
    shown = twin_tree if grown else tree
    seconds = None
    durations: dict[str, Called] = {}
    if seen.error is None and not seen.wrote and not _is_meta(tree):
        seconds, durations = _durations(model, call, mode)
    if seen.uncounted:
        notes.append(f"operations of {', '.join(sorted(seen.uncounted))} are not counted")
    return Forward(
        facts=_facts(call, seen, mode, seconds, tree_paths=_paths(twin_tree)),
        parts=tuple(_parts(module_parts(shown), twin_tree, seen, durations)),
        tree=shown,
        notes=tuple(notes),
    )


def _keep(results: list[Any], deed: Callable[[], Any]) -> Any:
    results.append(deed())
    return results[-1]


def _durations(model: nn.Module, call: Call, mode: str) -> tuple[float | None, dict[str, Called]]:
    """Return the seconds of the fastest of some forwards, and what was seen of each module, by path."""
    best: float | None = None
    calls: dict[str, Called] = {}
    for _ in range(_REPEATS):
        twin, (args, kwargs) = Twin(model).module, call.fresh()
        if mode == "evaluation":
            twin.eval()
        seen = timed(twin, partial(twin, *args, **kwargs), synchronise=_waiting(model))
        if seen.error is not None:
            return None, {}
        if best is None or seen.seconds < best:
            best = seen.seconds
            calls = {path: seen.calls[part] for path, part in tree_of(twin).places if part in seen.calls}
        if seen.seconds > _SHORT:
            break
    return best, calls


def _waiting(model: nn.Module) -> Callable[[], None]:
    devices = {each.device for each in (*model.parameters(), *model.buffers())}

    def wait() -> None:
        for device in devices:
            wait_for(device)

    return wait


def _parts(parts: tuple[ModulePart, ...], twin: Tree, seen: Seen, durations: dict[str, Called]) -> Iterator[ModulePart]:
    by_path = dict(twin.places)
    failed = seen.error is not None
    for part in parts:
        module = by_path.get(part.path)
        called = seen.calls.get(module) if module is not None else None
        if module is None or part.shared_with:
            yield part
            continue
        used = called is not None or _is_read(twin, module, seen)
        known = called or Called()
        duration = durations.get(part.path)
        yield replace(
            part,
            calls=known.count if called or not isinstance(module, torch.jit.ScriptModule) else None,
            inputs=known.inputs,
            output=known.output,
            flops=known.flops,
            saved_bytes=known.saved_bytes,
            seconds=duration.seconds if duration else None,
            is_used=None if failed or _is_hidden(part.path, by_path) else used,
        )


def _is_read(twin: Tree, module: nn.Module, seen: Seen) -> bool:
    below = [tensor for each in module.modules() for tensor in twin.own.get(id(each), [])]
    called = any(each in seen.calls for each in module.modules())
    return called or any(storage_key(tensor) in seen.used for tensor in below)


def _is_hidden(path: str, by_path: dict[str, nn.Module]) -> bool:
    """Whether Python does not see the calls of a module, because TorchScript makes them."""
    above = path
    while "." in above:
        above = above.rpartition(".")[0]
        if isinstance(by_path.get(above), torch.jit.ScriptModule):
            return True
    return bool(path) and isinstance(by_path.get(""), torch.jit.ScriptModule)


def _facts(
    call: Call, seen: Seen, mode: str, seconds: float | None, *, tree_paths: dict[nn.Module, str]
) -> ForwardFacts:
    failed = seen.failed
    return ForwardFacts(
        call=call.words,
        inputs=arguments_of(call.args, call.kwargs),
        output=seen.output,
        mode=mode,
        input_bytes=bytes_of(tensors_in((call.args, call.kwargs))),
        flops=seen.flops,
        saved_bytes=seen.saved_bytes,
        seconds=seconds,
        error="" if seen.error is None else told(seen.error),
        failed_in="" if failed is None else tree_paths.get(failed, ""),
        failed_class="" if failed is None else type(failed).__name__,
        failed_inputs=seen.failed_inputs,
    )


def _paths(tree: Tree) -> dict[nn.Module, str]:
    return {module: path for path, module in reversed(tree.places)}


def _mode(model: nn.Module) -> str:
    modes = {module.training for module in model.modules()}
    return "mixed" if len(modes) > 1 else "training" if True in modes else "evaluation"


def _is_meta(tree: Tree) -> bool:
    return any(each.is_meta for each in tree.tensors.values())


def _hook_notes(twin: Twin) -> Iterator[str]:
    if twin.num_left_hooks:
        count = twin.num_left_hooks
        yield f"{counted(count, 'hook')} of the model did not run, since hooks may change other things"


def told(error: BaseException) -> str:
    """Return what was raised, in one line."""
    said = " ".join(str(error).split())
    said = said if len(said) <= _MOST_WORDS else f"{said[: _MOST_WORDS - 1]}…"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
