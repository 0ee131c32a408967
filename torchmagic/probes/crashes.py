"""This file explains the exception that ended a run: what stood on the failing line, and what torch was given there."""

import re
from collections.abc import Mapping
from types import MethodType
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.building_lines import line_building
from torchmagic.analyses.source_lines import line_at
from torchmagic.probes.cast import Cast
from torchmagic.probes.crash_frames import (
    RELAYS,
    Entry,
    arguments_of,
    calls_of,
    entries_of,
    expression_at,
    facts,
    message_of,
    modules_in,
    names_in,
    runs,
    torchs_error,
    users,
)
from torchmagic.probes.crash_inplace import changed_in_place
from torchmagic.probes.crash_memory import out_of_memory
from torchmagic.probes.crash_names import tensors_named
from torchmagic.probes.crash_reuse import reused_graph
from torchmagic.probes.crash_values import Extent, extent
from torchmagic.probes.device_asserts import DeviceAsserts
from torchmagic.probes.gradless import Gradless
from torchmagic.probes.module_parts import named_modules_of
from torchmagic.probes.probe import nothing_waits
from torchmagic.probes.sites import is_torchs, source_of
from torchmagic.probes.taps import Taps
from torchmagic.records.crash import CrashKind, CrashSiteRecord
from torchmagic.records.place import Place
from torchmagic.session.recorder import Recorder

# What a module was built with, as torch's own classes call it.
SETTINGS = (
    "in_features", "out_features", "in_channels", "out_channels", "kernel_size", "stride", "padding", "groups",
    "num_features", "normalized_shape", "num_channels", "num_groups", "input_size", "hidden_size", "num_layers",
    "batch_first", "num_embeddings", "embedding_dim", "padding_idx", "embed_dim", "num_heads", "ignore_index",
    "reduction",
)  # fmt: skip
_TORCHS = ("/nn/functional.py", "/torch/functional.py", "/_tensor.py", "/collate.py")


class Crashes:
    """Records the scene of a crash, once somebody says that it has ended the run; before that it does nothing.

    Args:
        cast: Models and optimizers, whose names the user knows.
        gradless: What is known of forwards without gradients.
        asserts: What is known where a device stopped at an assertion.
        namespace: The user's names.
    """

    flush = nothing_waits

    def __init__(self, cast: Cast, gradless: Gradless, asserts: DeviceAsserts, namespace: Mapping[str, Any]) -> None:
        self._cast, self._gradless, self._asserts, self._namespace = cast, gradless, asserts, namespace
        self._taps: Taps | None = None
        self._recorder: Recorder | None = None
        self._told: BaseException | None = None

    def attach(self, taps: Taps, recorder: Recorder) -> None:
        """Nothing to listen for."""
        self._taps, self._recorder = taps, recorder

    def detach(self) -> None:
        """Let go of the error."""
        self._told = None

    def explain(self, error: BaseException) -> bool:
        """Record what an error complains about, and where; whether there was anything to say."""
        taps, recorder = self._taps, self._recorder
        found = torchs_error(error)
        if found is None or taps is None or recorder is None or self._told is error:
            return False
        self._told = error
        cause, kind = found
        entries = entries_of(cause)
        theirs = users(entries)
        if not theirs:
            return False
        quiet, taps.quiet = taps.quiet, True
        try:
            self._record(kind, cause, entries, theirs, recorder)
        finally:
            taps.quiet = quiet
        return True

    def _record(
        self, kind: CrashKind, error: BaseException, entries: list[Entry], theirs: list[Entry], recorder: Recorder
    ) -> None:
        scene = self._scene(kind, error, entries, theirs)
        recorder.add(self._asserts.explained(scene) if kind is CrashKind.ASSERT else scene)
        extra: Any = None
        if kind is CrashKind.INPLACE:
            extra = changed_in_place(message_of(error), entries, self._cast, self._namespace)
        elif kind is CrashKind.BACKWARD_TWICE:
            extra = reused_graph(entries, self._cast)
        elif kind is CrashKind.NO_GRAD:
            extra = self._gradless.crashed(entries)
        elif kind is CrashKind.MEMORY:
            extra = out_of_memory(error, entries, self._cast, self._namespace)
        if extra is not None:
            recorder.add(extra)

    def _scene(
        self, kind: CrashKind, error: BaseException, entries: list[Entry], theirs: list[Entry]
    ) -> CrashSiteRecord:
        innermost = theirs[-1]
        text, tree = expression_at(innermost)
        named = tensors_named(tree, names_in(innermost.frame))
        if kind is CrashKind.INDEX and any(_is_softmax(tensor) for _, tensor in named):
            kind = CrashKind.LABEL  # a cross-entropy by hand: the index is the class
        modules = modules_in(entries)
        module = modules[-1] if modules else None
        path = None if module is None else self._path(module, modules, theirs)
        operation = _operation(entries, innermost)
        operands = arguments_of(operation) if operation is not None else []
        found = extent(kind, message_of(error), operation, named) or Extent()
        return CrashSiteRecord(
            problem=kind,
            error=type(error).__name__,
            message=message_of(error),
            step=self._taps.listeners.step if self._taps is not None else 0,
            place=innermost.place,
            called=next((each for each in theirs if not runs(each.frame)), innermost).place,
            expression=text,
            module=path,
            class_name=type(module).__name__ if module is not None else "",
            is_torchs=module is not None and is_torchs(type(module)),
            settings=_settings(module),
            weights=facts(_own(module)),
            given=facts(_in_users_words(calls_of(module, entries) if module is not None else [], named)),
            operation=operation.frame.f_code.co_name if operation is not None else "",
            operands=facts(_in_users_words(operands, named)),
            tensors=facts(named),
            built=None if path is None else _built(path, theirs, modules),
            **found._asdict(),
        )

    def _path(self, module: nn.Module, modules: list[nn.Module], theirs: list[Entry]) -> str:
        """Return a module's path: as the run knows it, below a variable of a frame, or below the model that ran."""
        known = self._cast.path_of(module)
        if known is not None:
            return known
        for names in (self._namespace, *(names_in(entry.frame) for entry in theirs)):
            for name, value in list(names.items()):
                if isinstance(value, nn.Module) and not name.startswith("_") and name != "self":
                    path = _below(value, module)
                    if path is not None:
                        return f"{name}.{path}" if path else name
        root = next(each for each in modules if _below(each, module) is not None)
        path = _below(root, module) or ""
        return f"{type(root).__name__}.{path}" if path else type(root).__name__


def _below(root: nn.Module, module: nn.Module) -> str | None:
    return next((path for path, part in named_modules_of(root) if part is module), None)


def _is_softmax(tensor: torch.Tensor) -> bool:
    return tensor.grad_fn is not None and "Softmax" in tensor.grad_fn.name()


def _settings(module: nn.Module | None) -> dict[str, str]:
    """Return what one of torch's modules was built with."""
    if module is None or not is_torchs(type(module)):
        return {}
    held = {name: vars(module)[name] for name in SETTINGS if name in vars(module)}
    return {name: str(value) for name, value in held.items() if isinstance(value, int | str | tuple)}


def _own(module: nn.Module | None) -> list[tuple[str, torch.Tensor]]:
    """Return a module's own parameters and buffers."""
    if module is None:
        return []
    inside = vars(module)  # empty where the class never set itself up
    held = {**inside.get("_parameters", {}), **inside.get("_buffers", {})}
    return [(name, value) for name, value in held.items() if isinstance(value, torch.Tensor)]


def _operation(entries: list[Entry], innermost: Entry) -> Entry | None:
    """Return torch's function that the user's innermost line led to, the innermost that is no mere relay."""
    below = entries[entries.index(innermost) + 1 :]
    found = [entry for entry in below if entry.frame.f_code.co_filename.endswith(_TORCHS)]
    return next((entry for entry in reversed(found) if entry.frame.f_code.co_name not in RELAYS), None)


def _in_users_words(
    given: list[tuple[str, torch.Tensor]], named: list[tuple[str, torch.Tensor]]
) -> list[tuple[str, torch.Tensor]]:
    """Call each tensor what the user's line calls it, where it does."""
    words = {id(tensor): name for name, tensor in named}
    return [(words.get(id(tensor), name), tensor) for name, tensor in given]


def _built(path: str, theirs: list[Entry], modules: list[nn.Module]) -> Place | None:
    """Return the line that makes a module, from the files in which the user's frames and modules stand."""
    parts = path.split(".")
    files = dict.fromkeys(entry.frame.f_code.co_filename for entry in reversed(theirs))
    for module in modules:
        init = getattr(type(module), "__init__", None)
        code = getattr(init, "__code__", None) if not isinstance(init, MethodType) else None
        if code is not None and not is_torchs(type(module)):
            files.setdefault(code.co_filename)
    for file in files:
        source = source_of(file)
        line = line_building(source, parts)
        if line:
            return Place(file=file, line=line, source=re.sub(r"\s+", " ", line_at(source, line)))
    return None
