"""This file is the purity: which of the user's code may run a second time without anybody noticing."""

import ast
import builtins
import functools
from collections.abc import Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import nn

from torchmagic.analyses.syntax import last_name, parsed
from torchmagic.probes.changed_names import GROWS, changed_names
from torchmagic.probes.getters import UNKNOWN, attribute_of, getter_of
from torchmagic.probes.loop_members import loop_members
from torchmagic.probes.sites import source_of

# Functions of Python that change nothing; what print says is swallowed.
PLAIN = frozenset({
    "abs", "all", "any", "bool", "dict", "enumerate", "filter", "float", "getattr", "hasattr", "int", "isinstance",
    "len", "list", "map", "max", "min", "pow", "print", "range", "reversed", "round", "set", "slice", "sorted", "str",
    "sum", "super", "tuple", "type", "zip",
})  # fmt: skip
# Libraries whose functions compute; and those of their functions that do more.
LIBRARIES = (
    "torch",
    "torchmagic",
    "math",
    "numpy",
    "functools",
    "operator",
    "einops",
    "itertools",
    "types",
    "_operator",
)
DEEDS = frozenset({
    "backward", "step", "manual_seed", "seed", "set_rng_state", "save", "load", "zero_grad", "set_", "requires_grad_",
    "share_memory_", "load_state_dict", "train", "eval", "add_module", "compile", "set_default_dtype",
    "set_default_device", "unscale_", "clip_grad_norm_", "clip_grad_value_", "all_reduce", "barrier", "broadcast",
})  # fmt: skip
# Methods of lists, dicts and strings that change nothing.
READS = frozenset({
    "items", "keys", "values", "get", "index", "count", "copy", "format", "join", "split", "strip", "startswith",
    "endswith", "lower", "upper", "_replace", "apply",
})  # fmt: skip
# Methods of what a policy or a flow answers with, a distribution.
DENSITIES = frozenset({"log_prob", "entropy", "rsample", "cdf", "icdf"})
BARRED = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Global, ast.Nonlocal, ast.Delete, ast.Import)
# Functions of the user's own that call each other are followed so far.
DEEPEST = 4


def is_pure(node: ast.AST, names: Mapping[str, Any], *, depth: int = 0) -> bool:
    """Whether code calls nothing that could be noticed, as far as the names it uses tell."""
    for part in ast.walk(node):
        if isinstance(part, BARRED):
            return False
        if isinstance(part, ast.Call) and not (
            _call_is_pure(part, names, depth) and all(_handed_is_pure(each, names, depth) for each in part.args)
        ):
            return False
        if isinstance(part, ast.Attribute) and not _getter_is_pure(part, names, depth):
            return False
        if isinstance(part, ast.For | ast.comprehension) and hasattr(value_of(part.iter, names), "__next__"):
            return False  # what is drawn from an iterator is gone
    return True


def hook_is_quiet(hook: Any) -> bool:
    """Whether a hook of the user's can be called again without being noticed; what a library hooked always can."""
    function = function_of(hook)
    return function is None or _of_library(hook) or _function_is_pure(function, 0, {})


def value_of(node: ast.expr, names: Mapping[str, Any]) -> Any:  # noqa: PLR0911 - one answer for each kind of expression
    """Return what a name, an attribute or a constant item stands for, ``UNKNOWN`` where looking could do something."""
    if isinstance(node, ast.Name):
        return names.get(node.id, getattr(builtins, node.id, UNKNOWN))
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, names)
        if owner is UNKNOWN:
            return UNKNOWN
        if isinstance(owner, (ModuleType, torch.Tensor, type)):
            return getattr(owner, node.attr, UNKNOWN)
        return attribute_of(owner, node.attr)
    if isinstance(node, ast.Subscript):
        owner = value_of(node.value, names)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else value_of(node.slice, names)
        if isinstance(owner, (list, tuple, dict, nn.ModuleList, nn.ModuleDict)) and type(key) in (int, str):
            try:
                return owner[key]  # type: ignore[index] # the wrong key raises
            except (KeyError, IndexError, TypeError):
                return UNKNOWN
    return UNKNOWN


def function_of(value: Any) -> FunctionType | None:
    """Return the function behind a callable of the user's own."""
    value = value.__func__ if isinstance(value, MethodType) else value
    value = value.func if isinstance(value, functools.partial) else value
    value = getattr(value, "_torchdynamo_orig_callable", value) if isinstance(value, FunctionType) else value
    return value if isinstance(value, FunctionType) else None


def definition_of(code: CodeType) -> ast.FunctionDef | ast.Lambda | None:
    """Return the definition of a function in its source; None where there is none."""
    tree = tree_of(code.co_filename)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
            if code.co_firstlineno in (first, node.lineno):
                return node
        if isinstance(node, ast.Lambda) and code.co_name == "<lambda>" and node.lineno == code.co_firstlineno:
            return node
    return None


def body_of(code: CodeType) -> list[ast.stmt]:
    """Return the statements of a function; none where its source is not known."""
    node = definition_of(code)
    if node is None:
        return []
    return node.body if isinstance(node, ast.FunctionDef) else [ast.Expr(node.body)]


def tree_of(file: str) -> ast.Module | None:
    """Return the syntax tree of a file or cell; None where its source is not known or not Python."""
    try:
        return parsed(source_of(file))
    except (SyntaxError, ValueError):
        return None


def _call_is_pure(call: ast.Call, names: Mapping[str, Any], depth: int) -> bool:  # noqa: PLR0911 - one answer for each kind of callee
    name = last_name(call.func)
    value = value_of(call.func, names)
    if name in DEEDS:
        return False
    if isinstance(call.func, ast.Call | ast.Lambda):  # nn.MSELoss()(a, b), torch.vmap(f)(x): its parts are looked at
        return isinstance(call.func, ast.Lambda) or _of_library(value_of(call.func.func, names))
    if value is UNKNOWN:
        # a method of something that is computed here: a tensor's, or one that only reads
        return isinstance(call.func, ast.Attribute) and (
            hasattr(torch.Tensor, name) or name in READS | GROWS | DENSITIES
        )
    owner = value_of(call.func.value, names) if isinstance(call.func, ast.Attribute) else UNKNOWN
    if isinstance(value, nn.Module) or _of_library(value) or (isinstance(owner, ModuleType) and _of_library(owner)):
        return True  # what a module changes in itself is put back
    if isinstance(owner, (torch.Tensor, list, dict, tuple, str, set)):
        return hasattr(torch.Tensor, name) or name in READS | GROWS
    if isinstance(owner, type) and issubclass(owner, torch.autograd.Function):
        return name == "apply"
    function = function_of(value)
    if function is not None:
        return _function_is_pure(function, depth, bound_names(function, value, call, names))
    return getattr(builtins, name, None) is value and name in PLAIN


def _getter_is_pure(node: ast.Attribute, names: Mapping[str, Any], depth: int) -> bool:
    """Whether reading an attribute runs nothing of the user's that could be noticed, as the code of a property."""
    owner = value_of(node.value, names)
    getter = getter_of(owner, node.attr) if owner is not UNKNOWN else None
    if getter is None or _of_library(getter):
        return True
    return _function_is_pure(getter, depth, dict(zip(getter.__code__.co_varnames, [owner], strict=False)))


def _handed_is_pure(argument: ast.expr, names: Mapping[str, Any], depth: int) -> bool:
    """Whether an argument is no function of the user's own that could be noticed when it is called."""
    value = value_of(argument, names)
    function = function_of(value)
    of_module = isinstance(getattr(value, "__self__", None), nn.Module)
    return function is None or of_module or _of_library(value) or _function_is_pure(function, depth, {})


def _of_library(value: Any) -> bool:
    if isinstance(value, ModuleType):
        module = value.__name__
    else:
        module = getattr(value, "__module__", None) or type(value).__module__
    known = str(module).partition(".")[0] in LIBRARIES
    return known or getattr(torch, getattr(value, "__name__", ""), UNKNOWN) is value


def _function_is_pure(function: FunctionType, depth: int, bound: Mapping[str, Any]) -> bool:
    body = body_of(function.__code__)
    if depth >= DEEPEST or not body:
        return False
    code = function.__code__
    own, given = set(code.co_varnames), set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    names = {**names_inside(function), **bound}
    names.update(loop_members(body, names, value_of))
    return all(
        changed_names(statement) <= own - given and is_pure(statement, names, depth=depth + 1) for statement in body
    )


def names_inside(function: FunctionType) -> dict[str, Any]:
    """Return the names that a function sees, without its own."""
    seen = {**function.__globals__, **closed_over(function)}
    for name in function.__code__.co_varnames:
        seen.pop(name, None)
    return seen


def bound_names(function: FunctionType, value: Any, call: ast.Call, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of what a function is given by a call, under the function's own names for it."""
    code = function.__code__
    parameters = list(code.co_varnames[: code.co_argcount])
    bound = dict(zip(reversed(parameters), reversed(function.__defaults__ or ()), strict=False))
    if isinstance(value, MethodType) and parameters:
        bound[parameters.pop(0)] = value.__self__
    given = list(zip(parameters, call.args, strict=False))
    given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    found = ((name, value_of(each, names)) for name, each in given)
    return {**bound, **{name: each for name, each in found if each is not UNKNOWN}}


def closed_over(function: FunctionType) -> dict[str, Any]:
    """Return the names that a function has from the function around it."""
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # nothing was put there yet
            continue
    return found
