"""This file is the line that builds an optimizer: where a setting stands in it, and how it reads with another one."""

import ast
import copy

from torchmagic.analyses.model_names import model_name
from torchmagic.analyses.syntax import holds, last_name, tree_of
from torchmagic.analyses.texts import beside, places_by, text_around
from torchmagic.records.objective import GroupRecord
from torchmagic.records.place import Place
from torchmagic.session.run import Run

# A learning rate may stand here without its name, ``SGD(parameters, 0.1)``; what follows it differs by class.
_RATE_AT = 1
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)


def built_with(run: Run, group: GroupRecord, setting: str, value: float | None) -> str:
    """Return code that gives a parameter group another setting: the user's own line where it can be written anew.

    Args:
        run: The run.
        group: The group.
        setting: Keyword of the optimizer, as ``lr``.
        value: What it is to be, told in three digits; None to leave the keyword out.
    """
    number = group.subject.removeprefix(group.optimizer)  # "[1]" for the second of several groups
    if group.built is not None and not number:
        for statement in _statements(text_around(run, group.built), group.built):
            calls = [node for node in ast.walk(statement) if _builds(node, group.class_name)]
            if len(calls) == 1 and isinstance(calls[0], ast.Call) and _changed(calls[0], setting, value):
                return ast.unparse(ast.fix_missing_locations(statement))
    is_known = group.optimizer != group.class_name and group.optimizer.replace(".", "").isidentifier()
    if is_known and value is not None and (number or group.built is None):
        return f'{group.optimizer}.param_groups{number or "[0]"}["{setting}"] = {_rounded(value)}'
    keyword = "" if value is None else f", {setting}={_rounded(value)}"
    if setting != "lr" and value is not None and group.lr is not None:
        keyword = f", lr={_rounded(group.lr)}{keyword}"
    model = model_name(run, next(iter(group.parameters), None))
    return f"torch.optim.{group.class_name}({model}.parameters(){keyword})"


def built_for(run: Run, group: GroupRecord, model: str) -> str:
    """Return code that builds a group's optimizer for a model: the user's own line where it can be written anew.

    Args:
        run: The run.
        group: The only group of the optimizer.
        model: Name of the model.
    """
    is_code = model.replace(".", "").isidentifier()
    for statement in _statements(text_around(run, group.built), group.built) if group.built and is_code else []:
        calls = [node for node in ast.walk(statement) if _builds(node, group.class_name)]
        if len(calls) == 1 and isinstance(calls[0], ast.Call) and calls[0].args and not _has_groups(calls[0]):
            calls[0].args[0] = ast.parse(f"{model}.parameters()", mode="eval").body
            return ast.unparse(ast.fix_missing_locations(statement))
    rate = "" if group.lr is None else f", lr={_rounded(group.lr)}"
    return f"{group.optimizer} = torch.optim.{group.class_name}({model}.parameters(){rate})"


def place_of_setting(run: Run, group: GroupRecord, setting: str) -> Place | None:
    """Return the line on which a parameter group is given a setting: that of the call, unless it is spread over lines.

    Args:
        run: The run.
        group: The group.
        setting: Keyword of the optimizer, as ``lr``.
    """
    built = place_of_building(run, group)
    if built is None:
        return None
    calls = [
        node
        for node in ast.walk(tree_of(text_around(run, built)))
        if isinstance(node, ast.Call) and _builds(node, group.class_name) and holds(node, built.line)
    ]
    number = group.subject.removeprefix(group.optimizer).strip("[]")
    line = _line_of(calls[0], setting, int(number) if number.isdigit() else 0) if len(calls) == 1 else None
    return beside(run, built, line)


def place_of_building(run: Run, group: GroupRecord) -> Place | None:
    """Return the line that builds a group's optimizer: as it was seen, or else the only one in the texts that does."""
    if group.built is not None:
        return group.built
    found = places_by(run, lambda text: _lines_building(text, group))
    return found[0] if len(found) == 1 else None


def _lines_building(text: str, group: GroupRecord) -> list[int]:
    """Return the lines that call the optimizer's class, to return what it gives or to put it under its name."""
    name = group.optimizer.rpartition(".")[2]
    lines = []
    for node in ast.walk(tree_of(text)):
        named = isinstance(node, ast.Assign) and name in [last_name(each) for each in node.targets]
        if isinstance(node, ast.Return) or named:
            calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
            lines += [each.lineno for each in calls if _builds(each, group.class_name)]
    return lines


def _line_of(call: ast.Call, setting: str, number: int) -> int | None:
    """Return the line on which a call gives one of its groups a setting; None where it leaves that to the default."""
    groups = call.args[0].elts if call.args and isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    own = groups[number] if number < len(groups) else None
    if isinstance(own, ast.Dict):
        for key in own.keys:
            if isinstance(key, ast.Constant) and key.value == setting:
                return key.lineno
    for each in call.keywords:
        if each.arg == setting:
            return each.lineno
    return call.args[_RATE_AT].lineno if setting == "lr" and len(call.args) > _RATE_AT else None


def _statements(source: str, place: Place) -> list[ast.stmt]:
    """Return copies of the simple statements in a line of a source, or of a line by itself where that is empty."""
    tree, line = (tree_of(source), place.line) if source else (tree_of(place.source), 1)
    return [copy.deepcopy(node) for node in ast.walk(tree) if isinstance(node, _SIMPLE) and holds(node, line)]


def _builds(node: ast.AST, class_name: str) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == class_name


def _changed(call: ast.Call, setting: str, value: float | None) -> bool:
    """Change one setting of a call that builds an optimizer; return whether it could be told where it stands."""
    given = {each.arg: at for at, each in enumerate(call.keywords)}
    if len(call.args) > _RATE_AT + 1 or None in given or _has_groups(call):
        return False
    at = given.get(setting, len(call.keywords))
    if value is None:
        del call.keywords[at : at + 1]
    elif setting == "lr" and len(call.args) > _RATE_AT:
        call.args[_RATE_AT] = ast.Constant(_rounded(value))
    else:
        call.keywords[at : at + 1] = [ast.keyword(setting, ast.Constant(_rounded(value)))]
    return True


def _has_groups(call: ast.Call) -> bool:
    """Whether a call is given groups of parameters, which may have settings of their own, or unpacks arguments."""
    return any(isinstance(node, ast.Dict | ast.Starred) for each in call.args for node in ast.walk(each))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
