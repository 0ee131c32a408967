"""This file writes what of the manual is told by the code itself: a page for each rule, and the tables of options."""
# ruff: noqa: INP001

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from examples import example

from torchmagic.jupyter.cell_magics import CELL_MAGICS, TORCHBENCH, CellMagic
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.names import written
from torchmagic.rules.rule import Rule


def option_table(magic: CellMagic) -> Iterator[str]:
    """Yield the rows of the options of a cell magic, as its page shows them."""
    yield "| option | what it does | values |"
    yield "|---|---|---|"
    for option in magic.options:
        typed = f"{option.flag} {option.metavar}".strip()
        yield f"| `{typed}` | {option.help} | {', '.join(f'`{each}`' for each in option.choices)} |"


def rule_page(rule: Rule) -> str:
    """Return a rule's page: its docstring under its id, and its thresholds."""
    page = f"# {rule.id}\n\n{rule.page.replace('``', '`')}\n"
    if not rule.thresholds:
        return page
    rows = "\n".join(f"| `{rule.id}.{name}` | {written(value)} |" for name, value in rule.thresholds.items())
    return f"{page}\n| threshold | value |\n|---|---|\n{rows}\n"


def rule_index() -> str:
    """Return the list of all rules, by group, each with its first sentence."""
    lines = ["# Rules", "", f"torchmagic knows {len(RULES)} mistakes. A finding names the rule that drew it.", ""]
    for group in dict.fromkeys(rule.group for rule in RULES):
        lines += [f"## {group.replace('_', ' ').capitalize()}", ""]
        lines += [f"- [{rule.id}]({rule.id}.md): {_summary(rule)}" for rule in RULES if rule.group == group]
        lines.append("")
    return "\n".join(lines)


def build(folder: Path, *, describe: Callable[[Rule], str] = example) -> int:
    """Write the pages of all rules and their index; return how many files were written.

    Args:
        folder: Where to.
        describe: Returns what stands below a rule's page.
    """
    pages = folder / "rules"
    pages.mkdir(parents=True, exist_ok=True)
    (pages / "index.md").write_text(rule_index(), encoding="utf-8")
    for rule in RULES:
        (pages / f"{rule.id}.md").write_text(f"{rule_page(rule)}\n{describe(rule)}", encoding="utf-8")
    magics = (*CELL_MAGICS, TORCHBENCH)
    for magic in magics:
        table = "\n".join(option_table(magic)) + "\n"
        (folder / f"options-{magic.name}.md").write_text(table, encoding="utf-8")
    return len(RULES) + 1 + len(magics)


def _summary(rule: Rule) -> str:
    return " ".join(rule.page.partition("\n\n")[0].split()).replace("``", "`")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    print(f"{build(target)} pages in {target}")  # noqa: T201 - said to the person who ran it
