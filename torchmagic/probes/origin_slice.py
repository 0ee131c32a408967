"""This file is the slice: the statements from which a loss was made, cut out of the source so that they run again."""

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from torchmagic.probes.changed_names import changed_names
from torchmagic.probes.loop_members import loop_members
from torchmagic.probes.origin_choice import Choice, stored_names
from torchmagic.probes.origin_memory import Call
from torchmagic.probes.origin_names import names_of
from torchmagic.probes.origin_purity import body_of, is_pure, tree_of, value_of
from torchmagic.probes.origin_quiet import quieted
from torchmagic.probes.origin_target import Target, target_of
from torchmagic.probes.sites import user_frame

LOSS, GRADIENT, SERVE = "__torchmagic_loss", "__torchmagic_gradient", "__torchmagic_call_"
# What a slice may be made of; anything else changes the world.
STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.With, ast.Pass)


@dataclass(frozen=True, slots=True)
class Slice:
    """Code that makes a loss again, and the names with which it runs."""

    code: CodeType
    names: dict[str, Any]
    text: str

    def run(self) -> tuple[Any, Any]:
        """Return the loss, and the gradient that was handed to its backward."""
        exec(self.code, self.names)  # noqa: S102 - the user's own statements, chosen for doing nothing but computing
        return self.names[LOSS], self.names.get(GRADIENT)

    def with_leaves(self, wanted: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        """Return tensors that learn, with those that only the user's own names hold."""
        words = set(self.code.co_names)
        values = [v for name, v in self.names.items() if name in words and isinstance(v, (torch.Tensor, list, dict))]
        leaves = [each for each in tree_leaves(values) if isinstance(each, torch.Tensor) and each.is_leaf]
        return list({each: None for each in (*wanted, *leaves) if each.requires_grad})


def cut(
    frame: FrameType,
    lasti: int,
    calls: Sequence[Call],
    serve: Callable[[list[Call]], Any],
    *,
    answer: bool = False,
    whole: bool = False,
) -> Slice | None:
    """Return the statements that led to a backward call.

    Args:
        frame: The user's frame that calls backward.
        lasti: Its instruction at that call.
        calls: The models' calls that belong to this backward.
        serve: Makes a function that runs recorded calls of one line again, one after the other.
        answer: Whether the call is one of a loss instead, whose answer is wanted.
        whole: Whether what the models were given is computed again, and what is not finite with it.

    Returns:
        None where the source is not known, or a statement may do more than compute.
    """
    tree = tree_of(frame.f_code.co_filename)
    call = call_at(tree, frame.f_code, lasti) if tree is not None else None
    names = names_of(frame) if call is not None else None
    target = target_of(call, names) if call is not None and names is not None and not answer else None
    if answer and call is not None:
        target = call, None
    while target is not None and (lifted := _lifted(target[0], frame)) is not None:
        frame, tree, call, loss = lifted
        names, target = names_of(frame), (loss, None)
    if tree is None or call is None or names is None or target is None:
        return None
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    served = {} if whole else _served(calls, frame.f_code, serve)
    names.update(served.values())
    kept = kept_attributes(parents)
    names.update({name: value_of(node, names) for name, node in kept.items()})
    statements = body_of(frame.f_code) or tree.body
    names.update({name: each for name, each in loop_members(statements, names, value_of) if name not in names})
    swap = _Swap({end: name for end, (name, _) in served.items()}, set(kept))
    choice = Choice(names, {each.code for each in calls}, frozenset(name for name, _ in served.values()), whole=whole)
    chosen = choice.before(call, parents, _results(target, swap), swap)
    return _compiled(chosen, names, frame) if chosen is not None else None


def _lifted(loss: ast.expr, frame: FrameType) -> tuple[FrameType, ast.Module, ast.Call, ast.expr] | None:
    """Return where a loss that a function was given comes from: frame, tree, call, and what the call hands over."""
    code = frame.f_code
    given = code.co_varnames[: code.co_argcount]
    if not isinstance(loss, ast.Name) or loss.id not in given:
        return None
    if any(loss.id in stored_names(statement) for statement in body_of(code)):
        return None
    caller = user_frame(frame.f_back)
    tree = tree_of(caller.f_code.co_filename) if caller is not None else None
    call = call_at(tree, caller.f_code, caller.f_lasti) if tree is not None and caller is not None else None
    if caller is None or tree is None or call is None:
        return None
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    bound = isinstance(call.func, ast.Attribute) and given[0] == "self"
    place = given.index(loss.id) - bound
    value = named.get(loss.id) or (call.args[place] if place < len(call.args) else None)
    return (caller, tree, call, value) if value is not None else None


def call_at(tree: ast.Module, code: CodeType, lasti: int) -> ast.Call | None:
    """Return the call that an instruction makes: no two calls end at the same place."""
    end = end_of(code, lasti)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (node.end_lineno, node.end_col_offset) == end:
            return node
    return None


def end_of(code: CodeType, lasti: int) -> tuple[int | None, int | None]:
    """Return line and column at which the expression of an instruction ends."""
    _, line, _, column = list(code.co_positions())[lasti // 2]
    return line, column


def _served(calls: Sequence[Call], code: CodeType, serve: Callable[[list[Call]], Any]) -> dict[Any, tuple[str, Any]]:
    """Return for each place in the code that called a model how it is called again, on what it was given.

    A call on something that carries gradients is left as it stands: what it was given is made again.
    """
    groups: dict[Any, list[Call]] = {}
    for each in calls:
        if each.code is code:
            groups.setdefault(end_of(code, each.lasti), []).append(each)
    found = {}
    for number, (end, group) in enumerate(groups.items()):
        leaves = tree_leaves([(each.args, each.kwargs) for each in group])
        if not any(isinstance(each, torch.Tensor) and each.requires_grad for each in leaves):
            found[end] = (f"{SERVE}{number}", serve(group))
    return found


class _Swap(ast.NodeTransformer):
    """Puts recorded calls in the place of the expressions that made them, and names in the place of kept attributes."""

    def __init__(self, places: Mapping[Any, str], kept: AbstractSet[str]) -> None:
        self._places, self._kept = places, kept

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        name = ast.unparse(node)
        return ast.copy_location(ast.Name(name, node.ctx), node) if name in self._kept else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = self._places.get((node.end_lineno, node.end_col_offset))
        if name is None:
            return node
        function = ast.copy_location(ast.Name(name, ast.Load()), node)
        return ast.copy_location(ast.Call(function, [], []), node)


def kept_attributes(nodes: Iterable[ast.AST]) -> dict[str, ast.Attribute]:
    """Return the attributes that code assigns to, such as ``self.loss``; a slice keeps them as names of its own."""
    found = (each for each in nodes if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store))
    return {ast.unparse(each): each for each in found if isinstance(each.value, ast.Name)}


def _results(target: Target, swap: _Swap) -> list[ast.stmt]:
    """Return the statements that keep the loss, and the gradient it is given."""
    results: list[ast.stmt] = []
    for name, value in zip((LOSS, GRADIENT), target, strict=True):
        if value is not None:
            expression = swap.visit(copy.deepcopy(value))
            place = ast.copy_location(ast.Name(name, ast.Store()), value)
            results.append(ast.copy_location(ast.Assign([place], expression), value))
    return results


def _compiled(chosen: list[ast.stmt], names: dict[str, Any], frame: FrameType) -> Slice | None:
    defined = set().union(*(stored_names(each) for each in chosen))
    if not all(
        isinstance(part, STATEMENTS) for each in chosen for part in ast.walk(each) if isinstance(part, ast.stmt)
    ):
        return None
    if not all(is_pure(each, names) for each in chosen):
        chosen = [quieted(each, names) for each in chosen]
    if not all(is_pure(each, names) for each in chosen):
        return None
    for name in set().union(*(changed_names(each) for each in chosen)) - defined:
        if any(isinstance(each, torch.Tensor) and each.requires_grad for each in tree_leaves(names.get(name))):
            return None
        if not isinstance(names.get(name), torch.Tensor):
            return None  # a list or an object that lives on would be changed
        names[name] = tree_map(lambda each: each.detach().clone(), names[name])
    module = ast.fix_missing_locations(ast.Module(body=chosen, type_ignores=[]))
    code = compile(module, frame.f_code.co_filename, "exec", dont_inherit=True)
    return Slice(code.replace(co_name=frame.f_code.co_name), names, ast.unparse(module))
