"""This file finds the lines of a loop that keep a tensor with its graph: in a sum, a list, a dict, or as a state."""

import ast
from collections.abc import Collection, Iterator, Mapping

from torchmagic.analyses.syntax import holds, last_name, tree_of

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_STORING = frozenset({"append", "appendleft", "add", "insert", "extend", "put", "update", "setdefault", "push", "log"})
# What gives numbers, or a tensor without its graph.
_CUTTING = frozenset({
    "item", "detach", "detach_", "tolist", "numpy", "argmax", "float", "int", "format", "len", "bool",
})  # fmt: skip
# What makes something empty, in which a graph may be kept later.
_CONTAINERS = frozenset({"collections", "defaultdict", "deque", "dict", "list", "OrderedDict", "set", "tuple"})
_DATA = frozenset({"data", "shape", "grad", "dtype", "device"})


def line_that_stores(source: str, losses: Collection[str], holders: Collection[str], backward: int) -> int | None:
    """Return the line that most likely keeps the graph of each iteration; None where none does by its text.

    Args:
        source: Source of the cell or file.
        losses: Names on which ``backward`` is called.
        holders: Variables that were found to hold graphs, such as ``losses`` or ``trainer.history``; may be empty.
        backward: Line of the backward; 0 where it is not known.
    """
    nodes = list(ast.walk(tree_of(source)))
    cut = {id(part) for node in nodes if _cuts(node) for part in ast.walk(node) if part is not node}
    cut |= _cut_before(nodes)
    off = {id(part) for node in nodes if _is_no_grad(node) for part in ast.walk(node)}
    loops = [node for node in nodes if isinstance(node, _LOOPS)]
    inner = {id(part) for loop in loops if holds(loop, backward) for part in ast.walk(loop)}
    losses = {*losses, *_summed(nodes, backward)}
    names = _with_graphs(nodes, losses, cut)
    written = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    names |= _handed_on(nodes, written, names, cut)
    best: tuple[int, int] | None = None
    for node in nodes:
        for target, value in _stores(node):
            root = _text(target)
            held = any(root == each or each.endswith("." + root.removeprefix("self.")) for each in holders)
            carries = _carries(value, names, cut)
            if id(node) in off or not (carries or (held and _is_open(value, cut))):
                continue
            own = _carries(value, losses, cut)
            score = 4 * held + 2 * (id(node) in inner) + own - (not carries) + 2 * (held and _feeds(node, root))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in written:
                score = 0  # a method of the user's: the line in it that stores is the place, where it is found
            if isinstance(node, ast.Call) or held or id(node) in inner or isinstance(value, ast.ListComp):
                best = max(best or (-1, 0), (score, -node.lineno))  # type: ignore[attr-defined] # statements and calls
    return -best[1] if best else None


def _cut_before(nodes: list[ast.AST]) -> set[int]:
    """Return the names, where they are read, that the last line above in the function has taken out of their graph."""
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

    def function(line: int) -> int:
        return max((each.lineno for each in functions if holds(each, line)), default=0)

    given: dict[tuple[int, str], dict[int, bool]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            parts = [part for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            for part in parts:
                given.setdefault((function(node.lineno), part.id), {})[node.lineno] = _cuts(node.value)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            above = given.get((function(node.lineno), node.id), {})
            last = max((line for line in above if line < node.lineno), default=None)
            if last is not None and above[last]:
                found.add(id(node))
    return found


def _summed(nodes: list[ast.AST], backward: int) -> Iterator[str]:
    """Yield the names in an expression on which ``backward`` is called at a line, as ``sum(terms.values())``."""
    for node in nodes:
        if isinstance(node, ast.Call) and last_name(node.func) == "backward" and node.lineno == backward:
            of = node.func.value if isinstance(node.func, ast.Attribute) else node
            yield from (part.id for part in ast.walk(of) if isinstance(part, ast.Name) and isinstance(of, ast.Call))


def _feeds(node: ast.AST, name: str) -> bool:
    """Whether a statement puts what something holds into it again, and more to it."""
    return isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Assign)
        and any(_text(part) == name for part in ast.walk(node.value) if isinstance(part, ast.expr))
    )


def _stores(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield where a statement or a call keeps something, and what, if it may be kept into the next iteration."""
    if isinstance(node, ast.AugAssign):
        yield node.target, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            given = node.value.elts if isinstance(node.value, ast.Tuple) else []
            values = given if len(given) == len(parts) else [node.value] * len(parts)
            for part, value in zip(parts, values, strict=True):
                again = _text(part) in {_text(each) for each in ast.walk(value) if isinstance(each, ast.expr)}
                if again or isinstance(part, (ast.Subscript, ast.Attribute)) or isinstance(value, ast.ListComp):
                    yield part, value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _STORING:
        for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
            yield _owner(node.func.value), value


def _with_graphs(nodes: list[ast.AST], names: set[str], cut: set[int]) -> set[str]:
    """Return the names that have graphs when some names have: what these are made of by a call, and what of them."""
    assigned = [node for node in nodes if isinstance(node, ast.Assign)]
    called = {
        part.id
        for node in assigned
        if isinstance(node.value, (ast.Call, ast.BinOp))
        for target in node.targets
        for part in ast.walk(target)
        if isinstance(part, ast.Name)
    }
    found = set(names)
    for node in assigned:
        targets = {part.id for each in node.targets for part in ast.walk(each) if isinstance(part, ast.Name)}
        if targets & names:
            parts = [part for part in ast.walk(node.value) if isinstance(part, ast.Name) and id(part) not in cut]
            found |= {part.id for part in parts if part.id in called}
    for node in assigned:
        if _carries(node.value, found, cut) and isinstance(node.value, (ast.BinOp, ast.Name, ast.Call)):
            found |= {part.id for each in node.targets for part in ast.walk(each) if isinstance(part, ast.Name)}
    for loop in nodes:
        if isinstance(loop, (ast.For, ast.comprehension)) and _carries(loop.iter, found, cut):
            found |= {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
    return found


def _handed_on(
    nodes: list[ast.AST], written: Mapping[str, ast.FunctionDef], names: set[str], cut: set[int]
) -> set[str]:
    """Return what else has graphs: functions that return one, as ``step()``, and parameters to which one is given."""
    gives = {
        f"{name}()"
        for name, function in written.items()
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None and _carries(node.value, names, cut)
    }
    taken = set()
    for node in nodes:
        function = written.get(last_name(node.func)) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and function is not None:
            places = [each.arg for each in function.args.args][isinstance(node.func, ast.Attribute) :]
            given = [*zip(places, node.args, strict=False), *((each.arg, each.value) for each in node.keywords)]
            taken |= {name for name, value in given if name and _carries(value, names | gives, cut)}
    return gives | taken


def _carries(value: ast.expr, names: set[str], cut: set[int]) -> bool:
    """Whether a value is made of one of the names without being cut from its graph."""
    return not _cuts(value) and any(
        (isinstance(part, ast.Name) and part.id in names and id(part) not in cut)
        or (isinstance(part, ast.Attribute) and _text(part) in names and id(part) not in cut)
        or (isinstance(part, ast.Call) and f"{last_name(part.func)}()" in names and id(part) not in cut)
        for part in ast.walk(value)
    )


def _is_open(value: ast.expr, cut: set[int]) -> bool:
    """Whether a value may bring a graph, of which nothing more is known than that a variable holds some."""
    made = isinstance(value, ast.Call) and last_name(value.func) in _CONTAINERS
    inside = [each for each in value.args[:1] if not isinstance(each, ast.Lambda)] if made else [value]  # type: ignore[attr-defined] # a call
    parts = (part for each in inside for part in ast.walk(each))
    names = (part for part in parts if isinstance(part, ast.Name) and part.id not in _CONTAINERS)
    return not _cuts(value) and any(id(part) not in cut for part in names)


def _cuts(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _DATA
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.JoinedStr)
    return last_name(node.func) in _CUTTING


def _is_no_grad(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        "no_grad" in ast.unparse(item.context_expr) or "inference_mode" in ast.unparse(item.context_expr)
        for item in node.items
    )


def _owner(node: ast.expr) -> ast.expr:
    """Return what ``history["loss"]`` or ``history.setdefault(…)`` is a part of."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.value if isinstance(node, ast.Subscript) else node.func
        node = node.value if isinstance(node, ast.Attribute) and node.attr in _STORING else node
    return node


def _text(node: ast.expr) -> str:
    return ast.unparse(_owner(node)) if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) else ""
