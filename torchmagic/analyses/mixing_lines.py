"""This file finds the lines by which rows of a batch may reach each other, from the source code."""

import ast
import re

from torchmagic.analyses.syntax import last_name, tree_of

# What lets rows reach each other outside of a module.
MIXING = re.compile(r"\b(reshape|view|unflatten|softmax|mean|sum|cumsum|std|max|min|roll|flip)\(|\bdim=0|\baxis=0")
# What lets the places of a sequence reach each other outside of a module.
ATTENDING = re.compile(r"\b(scaled_dot_product_attention|softmax)\(")
# Layers of torch that take a sequence for a batch unless they are told that the batch comes first.
SEQUENTIAL = (
    "RNN",
    "LSTM",
    "GRU",
    "MultiheadAttention",
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "Transformer",
)
# How their parameters end.
PARAMETERS = ("in_proj_weight", "q_proj_weight", "weight_ih_l0")


def lines_building_time_first(source: str) -> list[int]:
    """Return the 1-based lines of the calls that build such layers."""
    calls = [node for node in ast.walk(tree_of(source)) if isinstance(node, ast.Call)]
    return sorted({call.lineno for call in calls if last_name(call.func) in SEQUENTIAL and not _puts_batch_first(call)})


def _puts_batch_first(call: ast.Call) -> bool:
    """Whether a call says so, or may say so where it unpacks arguments or gives a name."""
    given = {each.arg: each.value for each in call.keywords}
    value = given.get("batch_first")
    says_no = isinstance(value, ast.Constant) and not value.value
    return None in given or (value is not None and not says_no)
