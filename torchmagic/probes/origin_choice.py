"""This file is the choice: of the statements before a backward, those that its loss depends on and that must run again.

A statement is hot when it uses what a model gave out, or a tensor that learns. What cold statements made still stands
under its name; they run again only where a hot statement has since put something else in the name's place.
"""

import ast
import copy
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from torchmagic.analyses.syntax import last_name
from torchmagic.probes.changed_names import changed_names
from torchmagic.probes.getters import UNKNOWN
from torchmagic.probes.module_parts import parameters_of
from torchmagic.probes.origin_purity import function_of, value_of
from torchmagic.tensors.finite import is_finite
from torchmagic.tensors.presence import has_numbers

# Contexts that change what is computed; others, such as timers, are left out.
CONTEXTS = frozenset({"autocast", "no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "sdpa_kernel"})
# What they bind inside is no name of the frame.
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Items of a list or dict that are looked at.
MOST_ITEMS = 200
Parents = Mapping[ast.AST, ast.AST]


class Choice:
    """Chooses the statements of one slice.

    Args:
        names: The names of the frame.
        codes: Code that called models in this step.
        served: Names of the functions that stand for recorded calls.
        handed: Names of what the function was given with a graph behind it.
        whole: Whether statements are hot too that put something into a name which is not finite.

    Attributes:
        needed: Names that what was chosen is given.
    """

    def __init__(
        self,
        names: Mapping[str, Any],
        codes: AbstractSet[CodeType],
        served: AbstractSet[str],
        *,
        handed: AbstractSet[str] = frozenset(),
        whole: bool = False,
    ) -> None:
        self._names, self._codes, self._served = names, codes, served
        self._hot: set[ast.stmt] = set()
        self._stale: set[str] = set()
        self.needed: set[str] = set()
        learns = {name for name, value in names.items() if not name.startswith("__") and _learns(value)}
        self._learning = frozenset(learns)
        self._hot_at_first = self._learning | handed
        self._standing: frozenset[str] = frozenset()  # of these, what no statement of the slice makes
        self._spoiled = {name for name, value in names.items() if _is_spoiled(value)} if whole else set()

    def before(
        self, call: ast.AST, parents: Parents, results: list[ast.stmt], swap: ast.NodeTransformer
    ) -> list[ast.stmt] | None:
        """Return what must run before, and with, the results; None where the call stands in no statement."""
        node: Any = call
        chain, far = results, False  # beyond the loop that trains, nothing counts but what is not finite
        while not isinstance(node, ast.stmt):
            if isinstance(node, ast.Lambda) or node not in parents:
                return None
            node = parents[node]
        while True:
            owner = parents.get(node)
            block = _block(owner, node)
            if owner is None or block is None:
                break
            earlier = [swap.visit(copy.deepcopy(each)) for each in block[: block.index(node)]]
            if far:
                earlier = [each for each in earlier if self._spoils(each, stored_names(each))]
            chain = earlier + chain
            if isinstance(owner, ast.With):
                chain = [ast.copy_location(ast.With(owner.items, chain), owner)]
            if isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                break
            if isinstance(owner, ast.For | ast.While) and not far and self._mark(chain, set(self._hot_at_first)):
                far = True
                if not self._spoiled:
                    break
            node = owner
        self._hot.clear()
        self._standing = self._learning.difference(*map(stored_names, chain))
        self._mark(chain, set(self._hot_at_first))
        self.needed = {each for result in results for each in stored_names(result)}
        return self._choose(chain, self.needed)

    def _mark(self, statements: list[ast.stmt], taint: set[str]) -> bool:
        """Find the hot statements, in the order in which they run; whether there is one that calls a model."""
        models = False
        for each in statements:
            if isinstance(each, DEFINITIONS):
                continue
            if isinstance(each, ast.With | ast.If | ast.For | ast.Try):
                if isinstance(each, ast.For) and loaded_names(each.iter) & taint:
                    taint |= stored_names(each.target)
                for block in _blocks(each):
                    models = self._mark(block, taint) or models
                    if isinstance(each, ast.For):
                        self._mark(block, taint)  # what the end of a round leaves is used by the next
                continue
            calls = any(self._calls_model(part, taint) for part in ast.walk(each))
            models = models or calls
            stored = stored_names(each)
            if calls or (loaded_names(each) | changed_names(each)) & taint or self._spoils(each, stored):
                self._hot.add(each)
                taint |= stored | (changed_names(each) - {"?"})
            elif isinstance(each, ast.Assign):
                taint -= stored - self._learning
        return models

    def _spoils(self, each: ast.stmt, stored: set[str]) -> bool:
        """Whether a statement makes what is not finite from something else, and without a loop, which may take long."""
        if not (isinstance(each, ast.Assign) and stored & self._spoiled) or stored & loaded_names(each):
            return False
        return not any(isinstance(part, ast.comprehension) for part in ast.walk(each))

    def _calls_model(self, node: ast.AST, taint: set[str]) -> bool:
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Name) and node.func.id in self._served:
            return True
        value = value_of(node.func, self._names)
        if isinstance(value, nn.Module):
            return next(parameters_of(value), None) is not None
        function = function_of(value)
        if function is None or value is UNKNOWN:
            return False
        if function.__code__ in self._codes:
            return True
        words = {*function.__code__.co_names, *function.__code__.co_freevars}
        return any(_is_model(function.__globals__.get(word, self._names.get(word))) for word in words) or any(
            _is_model(value_of(each, self._names)) for each in node.args
        )

    def _choose(self, statements: list[ast.stmt], need: set[str]) -> list[ast.stmt]:
        """Return the statements that ``need`` depends on; ``need`` becomes what they in turn are given."""
        kept: list[ast.stmt] = []
        for each in reversed(statements):
            if isinstance(each, DEFINITIONS):
                continue
            if isinstance(each, ast.With | ast.If | ast.For | ast.Try):
                kept[:0] = self._compound(each, need)
                continue
            stored, changed = stored_names(each), changed_names(each) - {"?"}
            if not (stored | changed) & need or (changed and changed | stored <= self._standing):
                continue  # what was changed in place in a tensor that learns is in it
            result = any(name.startswith("__torchmagic") for name in stored)
            if not (result or each in self._hot or (stored | changed) & self._stale):
                continue
            kept.insert(0, each)
            self._stale |= stored | changed
            if isinstance(each, ast.Assign | ast.AnnAssign):
                need -= stored - changed
            need |= loaded_names(each) | changed
        return kept

    def _compound(self, each: Any, need: set[str]) -> list[ast.stmt]:
        if isinstance(each, ast.Try):
            return self._choose(each.body, need)
        body = self._choose(each.body, need)
        for _ in range(2 if isinstance(each, ast.For) else 0):
            body = self._choose(each.body, need)
        other = self._choose(each.orelse, need) if isinstance(each, ast.If) else []
        if not body and not other:
            return []
        if isinstance(each, ast.With):
            items = [item for item in each.items if _word(item.context_expr) in CONTEXTS]
            if not items:
                return body
            need.update(name for item in items for name in loaded_names(item.context_expr))
            return [ast.copy_location(ast.With(items, body), each)]
        if isinstance(each, ast.For):
            need -= stored_names(each.target)
            need |= loaded_names(each.iter)
            return [ast.copy_location(ast.For(each.target, each.iter, body, []), each)]
        need |= loaded_names(each.test)
        return [ast.copy_location(ast.If(each.test, body or [ast.Pass()], other), each)]


def loaded_names(node: ast.AST) -> set[str]:
    """Return the names that code reads."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def stored_names(node: ast.AST) -> set[str]:
    """Return the names that code binds."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _block(owner: Any, node: Any) -> list[Any] | None:
    blocks = _blocks(owner) if owner is not None else []
    return next((block for block in blocks if node in block), None)


def _blocks(owner: Any) -> list[list[Any]]:
    found = [getattr(owner, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list)]


def _word(node: ast.expr) -> str:
    return last_name(node.func if isinstance(node, ast.Call) else node)


def _is_model(value: Any) -> bool:
    return isinstance(value, nn.Module) and next(parameters_of(value), None) is not None


def _is_spoiled(value: Any) -> bool:
    """Whether a value is a tensor that does not learn and is not finite."""
    return type(value) is torch.Tensor and value.is_floating_point() and has_numbers(value) and not is_finite(value)


def _learns(value: Any) -> bool:
    """Whether a value is, or plainly holds, a tensor that learns."""
    if isinstance(value, (list, tuple, dict)):
        return len(value) <= MOST_ITEMS and any(_learns_itself(each) for each in tree_leaves(value))
    return _learns_itself(value)


def _learns_itself(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad
