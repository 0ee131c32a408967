"""This file runs the examples of the rules: what torchmagic says of a sick script, in its own words."""
# ruff: noqa: INP001

import linecache
import re
import sys
import warnings
from functools import cache
from pathlib import Path

from torchmagic.rules.rule import Rule
from torchmagic.session.run import Run
from torchmagic.views.page import Findings, Page
from torchmagic.views.skins.text import as_text

SCRIPTS = Path(__file__).parents[1] / "tests" / "rules"
sys.path.insert(0, str(SCRIPTS))
sys.path.insert(0, str(SCRIPTS / "ranks"))
from play import played  # noqa: E402 - the same for scripts that several processes run
from scripts import watched  # noqa: E402 - it runs the scripts for the tests too

_LABELS = re.compile(r"^# (?:(?:expect-\w+|runs|needs|profile):.*|profile)\n", re.MULTILINE)
_RUNS = re.compile(r"^# (?:runs: \d+|profile(?:: .+)?)$", re.MULTILINE)
_NAME = "example.py"


def example(rule: Rule) -> str:
    """Return the example of a rule as markdown: its sick script, and the findings of a watched run of it."""
    script = _script(rule).read_text(encoding="utf-8")
    source = _LABELS.sub("", script).strip()
    run = _of_ranks()[rule.id] if rule.group == "ranks" else _of_one(script, source)
    findings = [finding for finding in run.findings if finding.rule == rule.id]
    said = as_text([Page(title="", blocks=[Findings(findings=tuple(findings))])]).strip()
    return f"## Example\n\n```python\n{source}\n```\n\ntorchmagic says:\n\n```text\n{said}\n```\n"


def _of_one(script: str, source: str) -> Run:
    # The lines that a finding quotes are those of the page, as in a notebook they are those of the cell.
    linecache.cache[_NAME] = (len(source), None, source.splitlines(keepends=True), _NAME)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of some of these bugs itself
        run: Run = watched("\n".join([source, *_RUNS.findall(script)]), _NAME)[0]
    return run


@cache
def _of_ranks() -> dict[str, Run]:
    """Return the merged run of each script that several processes run; torch is loaded once for all of them."""
    scripts = {path.parent.name.replace("_", "-"): path for path in (SCRIPTS / "ranks").glob("*/bad.py")}
    found = played({name: path.read_text(encoding="utf-8") for name, path in scripts.items()})
    return {name: run for name, (run, _) in found.items()}


def _script(rule: Rule) -> Path:
    return SCRIPTS / rule.group / rule.id.replace("-", "_") / "bad.py"
