"""This file reads the dtypes that torch names in a message, and a write of one dtype into a tensor of another."""

import ast
import re

from torchmagic.analyses.syntax import tree_of
from torchmagic.records.crash import CrashSiteRecord

# What torch calls its dtypes in messages: as types of C++, or as they are written in Python.
_TYPES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
    "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}  # fmt: skip
_NAMED = re.compile(r"\b(?:torch\.(\w+\d+|bool)|(?:c10::|torch\.)?(" + "|".join(_TYPES) + r")(?:Tensor)?)\b")
_WRITE = re.compile(r"source and destination dtypes match, got (\w+) for the destination and (\w+) for the source")


def dtypes_told(message: str) -> list[str]:
    """Return the dtypes that a message names, each once, as torch writes them in Python."""
    return list(dict.fromkeys(python or _TYPES[kind] for python, kind in _NAMED.findall(message)))


def write_words(site: CrashSiteRecord) -> tuple[str, str, str] | None:
    """Explain ``out[chosen] = values`` where the two have different dtypes: title, why, fix; None for what is none."""
    found = _WRITE.search(site.message)
    statement = next(iter(tree_of(site.place.source).body), None) if site.place is not None else None
    if found is None or not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Subscript):
        return None
    target, value = statement.targets[0], statement.value
    inner, outer, source = ast.unparse(target.value), ast.unparse(target), ast.unparse(value)
    into, given = (_TYPES.get(word, word) for word in found.groups())
    whole = source if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({source})"
    why = "A masked or indexed write converts nothing: both sides must be of one dtype."
    if given in ("float16", "bfloat16"):
        why += " Layers give half precision where autocast is on; a tensor made from the input has the input's dtype."
    return f"{inner} is {into}, and what is written into it is {given}", why, f"{outer} = {whole}.to({inner}.dtype)"
