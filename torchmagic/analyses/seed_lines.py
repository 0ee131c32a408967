"""This file finds the lines at which random generators are made and seeded, in source code."""

import ast

from torchmagic.analyses.data_lines import lines_giving
from torchmagic.analyses.syntax import last_name, tree_of

KINDS = ("default_rng", "RandomState", "Random", "Generator")
MAKERS = frozenset({*KINDS, "manual_seed", "PCG64", "MT19937"})


def line_making_generator(source: str, name: str) -> int | None:
    """Return the last line that makes a generator of this name: a variable, an attribute or an argument."""
    given = [
        *lines_giving(source, name),
        *(
            (node.value.lineno, node.value)
            for node in ast.walk(tree_of(source))
            if isinstance(node, ast.keyword) and node.arg == name
        ),
    ]
    lines = [line for line, value in given if any(last_name(each) in MAKERS for each in ast.walk(value))]
    return max(lines, default=None)


def line_seeding(source: str, function: str) -> int | None:
    """Return the line of a function that seeds; that of the function where none shows it, None where there is none."""
    for node in ast.walk(tree_of(source)):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)) and (getattr(node, "name", "<lambda>") == function):
            calls = (each for each in ast.walk(node) if isinstance(each, ast.Call) and "seed" in last_name(each.func))
            line = next((each.lineno for each in calls), None)
            if line is not None or function != "<lambda>":
                return line or node.lineno
    return None
