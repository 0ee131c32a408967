"""This file explains a backward that found a tensor changed in place: which one, and the line that changed it."""

import ast
import re
from collections.abc import Mapping
from typing import Any

import torch

from torchmagic.analyses.inplace_lines import Change, changes, written
from torchmagic.analyses.made_by import makes
from torchmagic.analyses.source_lines import line_at
from torchmagic.probes.cast import Cast
from torchmagic.probes.crash_frames import Entry, expression_at, names_in, users
from torchmagic.probes.crash_names import value_of
from torchmagic.probes.crash_reuse import loss_of
from torchmagic.probes.crash_sources import attribute_classes, inplace_attributes, scopes
from torchmagic.probes.graph_walk import walk
from torchmagic.probes.sites import source_of
from torchmagic.probes.variables import variables
from torchmagic.records.crash import InplaceRecord
from torchmagic.records.place import Place

_MODIFIED = re.compile(r"\[torch\.\S+ \[([\d, ]*)\]\](?:, which is output \d+ of (\w+))?")
_VIEW = re.compile(r"Output \d+ of (\w+) is a view")
MOST_NODES = 5_000
_NEEDED = "modified by an inplace operation"


def changed_in_place(message: str, entries: list[Entry], cast: Cast, namespace: Mapping[str, Any]) -> InplaceRecord:
    """Return what was changed in place, and the line that did it."""
    theirs = users(entries)
    if _NEEDED not in message:
        return _at_the_line(message, theirs[-1])
    said = _MODIFIED.search(message)
    shape = tuple(int(size) for size in said[1].split(",") if size.strip()) if said else ()
    made_by = said[2] or "" if said else ""
    node, tensor = _needed(loss_of(entries))
    parameter, optimizer = ("", "") if tensor is None else _parameter(tensor, cast)
    if optimizer:
        return InplaceRecord(
            name=parameter, made_by=made_by, needed_by=node, shape=shape, optimizer=optimizer, place=None, sure=True
        )
    names = {parameter.rpartition(".")[2]} if parameter else set()
    if tensor is not None and not parameter:
        names = _names_of(tensor, theirs, namespace)
    place, target, sure = _best(theirs, cast, namespace, names, made_by)
    return InplaceRecord(
        name=parameter or target or next(iter(sorted(names)), ""),
        made_by=made_by,
        needed_by=node,
        shape=shape,
        optimizer="",
        place=place,
        sure=sure,
    )


def _at_the_line(message: str, entry: Entry) -> InplaceRecord:
    """Return the change that raised by itself: the failing line is the one that changes."""
    text, tree = expression_at(entry)
    name = written(tree) if isinstance(tree, ast.Name | ast.Attribute | ast.Subscript) else ""
    if isinstance(tree, ast.Tuple) and tree.elts:
        name = written(tree.elts[0])
    elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        name = written(tree.func.value)
    value = None if tree is None or not name else value_of(name, names_in(entry.frame))
    view = _VIEW.search(message)
    return InplaceRecord(
        name=name or text,
        made_by=view[1] if view else "",
        needed_by="",
        shape=tuple(value.shape) if isinstance(value, torch.Tensor) else (),
        optimizer="",
        place=entry.place,
        sure=True,
    )


def _needed(loss: Any) -> tuple[str, torch.Tensor | None]:
    """Return the node whose saved tensor no longer is what it was, and that tensor."""
    for node in walk(loss, most=MOST_NODES).nodes:
        for raw in (name for name in dir(type(node)) if name.startswith("_raw_saved_")):
            try:
                held = getattr(node, raw)
                if any(getattr(each, "unpack_hook", None) is not None for each in _each(held)):
                    continue
                getattr(node, raw.replace("_raw_saved_tensors", "saved_tensors").replace("_raw_saved_", "_saved_"))
            except RuntimeError as error:
                if _NEEDED in str(error):
                    return node.name(), next((each.data for each in _each(held) if _changed(each)), None)
    return "", None


def _each(held: Any) -> tuple[Any, ...]:
    return tuple(each for each in (held if isinstance(held, tuple) else (held,)) if each is not None)


def _changed(saved: Any) -> bool:
    data = getattr(saved, "data", None)
    return isinstance(data, torch.Tensor) and data._version > 0


def _parameter(tensor: torch.Tensor, cast: Cast) -> tuple[str, str]:
    """Return the parameter whose memory a tensor shares, and the optimizer that owns it and has stepped."""
    address = _address(tensor)
    for entry in cast.optimizers:
        for name, ref in zip(entry.names, entry.refs, strict=True):
            value = ref()
            if value is not None and address and _address(value) == address:
                return name, entry.name
    for model in cast.models:
        for name, owned in model.parameters.items():
            value = owned()
            if value is not None and address and _address(value) == address:
                return name, ""
    return "", ""


def _address(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError, ValueError):
        return 0


def _names_of(tensor: torch.Tensor, theirs: list[Entry], namespace: Mapping[str, Any]) -> set[str]:
    """Return the user's variables that lie in the same memory as a tensor."""
    address = _address(tensor)
    found = set()
    for names in (namespace, *(names_in(entry.frame) for entry in theirs)):
        for name, value in variables(names):
            if isinstance(value, torch.Tensor) and address and _address(value) == address:
                found.add(name.rpartition(".")[2])
    return found


def _best(
    theirs: list[Entry], cast: Cast, namespace: Mapping[str, Any], names: set[str], made_by: str
) -> tuple[Place | None, str, bool]:
    """Return the line that most likely changed the tensor, what it changes, and whether no other line can have."""
    classes, inplace = attribute_classes(cast), inplace_attributes(cast)
    ranked: list[tuple[int, str, Change]] = []
    for file, where in scopes(theirs, cast, namespace).items():
        for change in changes(source_of(file), scopes=where, inplace=inplace):
            if _is_no_tensor(change, file, theirs):
                continue
            makers = [*change.made_by, *(classes.get(maker, "") for maker in change.made_by)]
            fits = bool(made_by) and any(makes(maker, made_by) for maker in makers)
            named = change.target.rpartition(".")[2] in names
            ranked.append((4 * named + 2 * fits + bool(change.made_by), file, change))
    if not ranked:
        return None, "", False
    ranked.sort(key=lambda each: -each[0])
    score, file, best = ranked[0]
    place = Place(file=file, line=best.line, source=line_at(source_of(file), best.line))
    return place, best.target, len(ranked) == 1 or score > ranked[1][0]


def _is_no_tensor(change: Change, file: str, theirs: list[Entry]) -> bool:
    """Whether a frame of the file holds something else under the name that is changed, such as a counter or a dict."""
    for entry in theirs:
        if entry.frame.f_code.co_filename == file:
            try:
                value = value_of(change.target, names_in(entry.frame))
            except SyntaxError:
                return False
            if value is not None:
                return not isinstance(value, torch.Tensor | torch.nn.Module)
    return False
