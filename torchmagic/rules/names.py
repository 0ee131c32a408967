"""This file is the names that users type of rules and thresholds: checked, and looked up by them."""

from collections.abc import Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase

from torchmagic.rules.catalogue import RULES
from torchmagic.rules.rule import Rule

_BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}
_ALL = "%torchdebug --explain lists all"


def rule_named(name: str) -> Rule:
    """Return a rule by its id.

    Raises:
        ValueError: If there is none; the message names the nearest one.
    """
    if name in _BY_ID:
        return _BY_ID[name]
    raise ValueError(f"there is no rule {name!r}; {_nearest(name, _BY_ID)}")


def check_rules(patterns: tuple[str, ...]) -> None:
    """Check ids of rules, or patterns in which ``*`` stands for any letters.

    Raises:
        ValueError: If one names no rule.
    """
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in _BY_ID):
            rule_named(pattern)


def check_thresholds(values: Mapping[str, float]) -> None:
    """Check thresholds, each named ``rule.threshold``.

    Raises:
        ValueError: If a rule has no such threshold, or a value is no number.
    """
    for name, value in values.items():
        rule, _, threshold = name.partition(".")
        known = rule_named(rule).thresholds
        if threshold not in known:
            offered = ", ".join(f"{rule}.{each}" for each in known) or "none"
            raise ValueError(f"{rule} has no threshold {threshold!r}; it has {offered}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{name} must be a number, got {value!r}")  # noqa: TRY004 - as all wrong settings


def thresholds_of(rule: Rule, values: Mapping[str, float]) -> dict[str, float]:
    """Return those of the user's thresholds that are this rule's, by their short names."""
    return {name: values[key] for name in rule.thresholds if (key := f"{rule.id}.{name}") in values}


def written(value: float) -> str:
    """Return the value of a threshold as one would type it, a large whole number with all its digits."""
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


def explanation(name: str) -> str:
    """Return the page of a rule as plain text, with its thresholds; without a name, the list of all rules."""
    if not name:
        return "\n".join(_listed())
    rule = rule_named(name)
    lines = [rule.id, "", rule.page.replace("``", "`").replace("*", "")]
    if rule.thresholds:
        lines += ["", "Thresholds (%config TorchMagic.thresholds = {...}):"]
        lines += [f"  {rule.id}.{each} = {written(value)}" for each, value in rule.thresholds.items()]
    return "\n".join(lines)


def _listed() -> list[str]:
    lines = []
    for group in dict.fromkeys(rule.group for rule in RULES):
        lines.append(group.replace("_", " "))
        lines += [f"  {rule.id:<32}{rule.page.splitlines()[0]}" for rule in RULES if rule.group == group]
    return lines


def _nearest(name: str, known: Mapping[str, object]) -> str:
    nearest = get_close_matches(name, known, n=1)
    return f"did you mean {nearest[0]!r}?" if nearest else _ALL
