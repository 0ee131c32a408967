"""This file is the slice: the statements from which a loss was made, cut out of the source so that they run again."""

import ast
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from torchmagic.probes.changed_names import changed_names
from torchmagic.probes.loop_members import loop_members
from torchmagic.probes.origin_choice import Choice, stored_names
from torchmagic.probes.origin_memory import Call
from torchmagic.probes.origin_purity import body_of, is_pure, value_of
from torchmagic.probes.origin_quiet import quieted
from torchmagic.probes.origin_spot import Spot, caller_of, end_of, spot_at
from torchmagic.probes.origin_target import Target, target_of

LOSS, GRADIENT, SERVE = "__torchmagic_loss", "__torchmagic_gradient", "__torchmagic_call_"
# Functions that call each other are followed up so far.
DEEPEST = 4
# What a slice may be made of; anything else changes the world.
STATEMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.With, ast.Pass)


@dataclass(frozen=True, slots=True)
class Slice:
    """Code that makes a loss again, and the names with which it runs."""

    code: CodeType
    names: dict[str, Any]
    text: str
    before: "Before | None" = None

    def run(self) -> tuple[Any, Any]:
        """Return the loss, and the gradient that was handed to its backward."""
        if self.before is not None:
            handed, piece = self.before
            self.names.update(zip(handed, piece.run()[0], strict=True))
        exec(self.code, self.names)  # noqa: S102 - the user's own statements, chosen for doing nothing but computing
        return self.names[LOSS], self.names.get(GRADIENT)

    def with_leaves(self, wanted: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        """Return tensors that learn, with those that only the user's own names hold."""
        words = set(self.code.co_names)
        values = [v for name, v in self.names.items() if name in words and isinstance(v, (torch.Tensor, list, dict))]
        leaves = [each for each in tree_leaves(values) if isinstance(each, torch.Tensor) and each.is_leaf]
        found = list({each: None for each in (*wanted, *leaves) if each.requires_grad})
        return found if self.before is None else self.before[1].with_leaves(found)

    def forget(self) -> None:
        """Let go of all names: functions made in the slice hold on to it, and it to them."""
        self.names.clear()
        if self.before is not None:
            self.before[1].forget()


# Arguments of the function that a slice lies in, and the slice of its caller that makes them.
Before = tuple[tuple[str, ...], Slice]


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
    spot = spot_at(frame, lasti)
    if spot is None:
        return None
    target = (spot.call, None) if answer else target_of(spot.call, spot.names)
    return _cut(spot, target, _Step(calls, serve, whole)) if target is not None else None


@dataclass(frozen=True, slots=True)
class _Step:
    """What of a step is run again: the calls of its models, by what, and whether what they were given is made anew."""

    calls: Sequence[Call]
    serve: Callable[[list[Call]], Any]
    whole: bool


def _cut(spot: Spot, target: Target, step: _Step, *, depth: int = 0) -> Slice | None:
    names, code = spot.names, spot.frame.f_code
    parents = {child: node for node in ast.walk(spot.tree) for child in ast.iter_child_nodes(node)}
    served = {} if step.whole else _served(step.calls, code, step.serve)
    names.update(served.values())
    kept = kept_attributes(parents)
    names.update({name: value_of(node, names) for name, node in kept.items()})
    statements = body_of(code) or spot.tree.body
    names.update({name: each for name, each in loop_members(statements, names, value_of) if name not in names})
    swap = _Swap({end: name for end, (name, _) in served.items()}, set(kept))
    codes, words = {each.code for each in step.calls}, frozenset(name for name, _ in served.values())
    handed = frozenset(name for name in spot.given if name not in names or _carries_graph(names[name]))
    choice = Choice(names, codes, words, handed=handed, whole=step.whole)
    chosen = choice.before(spot.call, parents, _results(target, swap), swap)
    piece = _compiled(chosen, names, spot.frame) if chosen is not None else None
    if piece is None:
        return None
    wanted = sorted(choice.needed & handed)
    return replace(piece, before=_handed(spot, wanted, step, depth) if depth < DEEPEST else None)


def _handed(spot: Spot, wanted: list[str], step: _Step, depth: int) -> "Before | None":
    """Return what makes arguments of the function around a spot again; None where they have to be taken as they are."""
    found = caller_of(spot) if wanted else None
    if found is None or not all(name in found[1] for name in wanted):
        return None
    caller, expressions = found
    handed = ast.Tuple([expressions[name] for name in wanted], ast.Load())
    piece = _cut(caller, (ast.copy_location(handed, caller.call), None), step, depth=depth + 1)
    return (tuple(wanted), piece) if piece is not None else None


def _carries_graph(value: Any) -> bool:
    return any(isinstance(each, torch.Tensor) and each.grad_fn is not None for each in tree_leaves(value))


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
