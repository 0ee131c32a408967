"""This file explains a backward that came by a freed graph: whose graph it is, and how it got there."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.carried_names import carried, growth, loops_around, makings, reads_before
from torchmagic.analyses.source_lines import line_at
from torchmagic.analyses.syntax import function_around, tree_of
from torchmagic.probes.cast import Cast
from torchmagic.probes.crash_frames import Entry, expression_at, names_in, users
from torchmagic.probes.crash_names import value_of
from torchmagic.probes.crash_sources import modules_of
from torchmagic.probes.graph_walk import walk
from torchmagic.probes.sites import source_of
from torchmagic.probes.storages import tensors_in
from torchmagic.records.crash import Reuse, ReusedGraphRecord
from torchmagic.records.place import Place

# Nodes of a graph that are looked at.
MOST_NODES = 5_000
Found = tuple[Reuse, str, Place | None] | None


def reused_graph(entries: list[Entry], cast: Cast) -> ReusedGraphRecord:
    """Return whose graph a backward came by a second time, and how."""
    entry = users(entries)[-1]
    text, tree = expression_at(entry)
    loss = _receiver(tree) or text
    tensors = loss_of(entries)
    found = (
        _again(entry, loss)
        or _carried(entry, loss, tensors)
        or _kept_in_attributes(entries, cast, tensors)
        or _made_before(entry, loss, tensors)
    )
    reuse, name, made = found or (Reuse.UNKNOWN, "", None)
    return ReusedGraphRecord(reuse=reuse, name=name, made=made, backward=entry.place, loss=loss)


def loss_of(entries: list[Entry]) -> Any:
    """Return what torch's backward, or ``torch.autograd.grad``, was called on."""
    for entry in entries:
        code = entry.frame.f_code
        if "torch" in code.co_filename and code.co_name in ("backward", "grad"):
            names = names_in(entry.frame)
            for name in ("tensors", "outputs", "self"):
                if name in names:
                    return names[name]
    return None


def _receiver(tree: ast.expr | None) -> str:
    """Return what backward is called on, as it is written."""
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return ""
    if tree.func.attr == "backward" and not ast.unparse(tree.func.value).endswith("autograd"):
        return ast.unparse(tree.func.value)
    return ast.unparse(tree.args[0]) if tree.args else ""


def _again(entry: Entry, loss: str) -> Found:
    """Return the line of an earlier backward on the same loss, when nothing makes the loss anew in between."""
    source, line = _source(entry), entry.line
    lines = source.splitlines()
    made = [each.line for each in makings(source, loss, line)]
    loops = loops_around(source, line)
    if loops and made and not any(loops[-1].lineno <= each for each in made):
        return Reuse.OUTSIDE, loss, _place(entry, made[-1])
    last = max((each for each in made if each < line), default=0)
    calls = [at + 1 for at, text in enumerate(lines[: line - 1]) if f"{loss}.backward(" in text]
    earlier = [at for at in calls if at > last and last]
    if earlier and loss:
        return Reuse.AGAIN, loss, _place(entry, earlier[-1])
    same = lines[line - 1].count(f"{loss}.backward(") if 0 < line <= len(lines) else 0
    return (Reuse.AGAIN, loss, _place(entry, line)) if same > 1 else None


def _carried(entry: Entry, loss: str, tensors: Any) -> Found:
    """Return a variable that the loop reads before it makes it anew, and whose graph is part of the loss's."""
    names, root = {**entry.frame.f_globals, **names_in(entry.frame)}, _root(tensors)
    own = set(walk(tensors, most=MOST_NODES).nodes)
    for name, line in carried(_source(entry), entry.line).items():
        value = value_of(name, names)
        held = [each for each in tensors_in(value) if each.grad_fn is not None]
        nodes = set(walk(held, most=MOST_NODES).nodes)
        grown = rf"\b{re.escape(name)}\s*(\+=|=.*\b{re.escape(name)}\b)"
        same = name == loss or any(each.grad_fn is root for each in held)
        fits = re.search(grown, line_at(_source(entry), line)) is not None if same else root not in nodes
        if held and _interior(nodes & own) and fits:
            return Reuse.CARRIED, name, _place(entry, line)
    return None


def _kept_in_attributes(entries: list[Entry], cast: Cast, tensors: Any) -> Found:
    """Return the attribute of a module, or of an object whose method ran, that is kept from call to call."""
    own, root = set(walk(tensors, most=MOST_NODES).nodes), _root(tensors)
    for owner, path, file in _owners(entries, cast):
        held_by = {**vars(owner), **(owner._buffers if isinstance(owner, nn.Module) else {})}
        for name, value in held_by.items():
            held = [] if name.startswith("_") else [each for each in tensors_in(value) if each.grad_fn is not None]
            nodes = set(walk(held, most=MOST_NODES).nodes)
            if not held or not _interior(nodes & own) or root in nodes:
                continue
            source = source_of(file)
            lines = [each.line for each in makings(source, f"self.{name}", 0)]
            kept = [line for line in lines if reads_before(source, f"self.{name}", line)]
            around = [function_around(tree_of(source), line) for line in lines]
            once = bool(lines) and all(each is not None and each.name == "__init__" for each in around)
            if kept or once:
                line = (kept or lines)[0]
                place = Place(file=file, line=line, source=line_at(source, line))
                return Reuse.CARRIED if kept else Reuse.OUTSIDE, f"{path}.{name}", place
    return None


def _owners(entries: list[Entry], cast: Cast) -> Iterator[tuple[Any, str, str]]:
    """Yield modules of the user's classes and objects whose methods ran: each with its path and its source's file."""
    for module in modules_of(cast):
        code = getattr(inspect.unwrap(type(module).forward), "__code__", None)
        if code is not None:
            yield module, cast.path_of(module) or type(module).__name__, code.co_filename
    for entry in users(entries):
        owner = names_in(entry.frame).get("self")
        if (
            owner is not None
            and not isinstance(owner, nn.Module)
            and isinstance(getattr(owner, "__dict__", None), dict)
        ):
            yield owner, "self", entry.frame.f_code.co_filename


def _made_before(entry: Entry, loss: str, tensors: Any) -> Found:
    """Return the variable whose graph the loss is built on: made before the loop, or shared with another loss."""
    own, source = set(walk(tensors, most=MOST_NODES).nodes), _source(entry)
    found = []
    for name, value in _tensors(names_in(entry.frame)):
        if name == loss or value.grad_fn is None or value.grad_fn not in own or value.grad_fn is _root(tensors):
            continue
        grows = growth(source, name, entry.line)
        if grows:
            return Reuse.CARRIED, name, _place(entry, grows)
        made = makings(source, name, entry.line)
        if made:
            found.append((not made[-1].in_loop, len(walk(value, most=MOST_NODES).nodes), name, made[-1]))
    if not found:
        return None
    outside, _, name, making = max(found)
    outside = outside and bool(loops_around(source, entry.line))
    return (Reuse.OUTSIDE if outside else Reuse.SHARED), name, _place(entry, making.line)


def _tensors(names: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in list(names.items()):
        if isinstance(value, torch.Tensor) and not name.startswith("_"):
            yield name, value
        elif type(value) in (list, tuple) and not name.startswith("_"):
            yield from ((name, each) for each in tensors_in(value))


def _interior(nodes: set[Any]) -> bool:
    """Whether nodes are more than the leaves that any two graphs of one model share."""
    return any(type(node).__name__ != "AccumulateGrad" and any(True for _ in node.next_functions) for node in nodes)


def _root(tensors: Any) -> Any:
    return next((each.grad_fn for each in tensors_in(tensors)), None)


def _source(entry: Entry) -> str:
    return source_of(entry.frame.f_code.co_filename)


def _place(entry: Entry, line: int) -> Place:
    code = entry.frame.f_code
    return Place(file=code.co_filename, line=line, source=line_at(_source(entry), line), function=code.co_name)
