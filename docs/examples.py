"""This file runs the examples of the rules: what torchmagic says of a sick script, in its own words."""
# ruff: noqa: INP001

import contextlib
import io
import re
import warnings
from pathlib import Path

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.watching import Watch
from torchmagic.rules.rule import Rule
from torchmagic.session.run import Run
from torchmagic.session.session import Session
from torchmagic.views.page import Findings, Page
from torchmagic.views.skins.text import as_text

SCRIPTS = Path(__file__).parents[1] / "tests" / "rules"
_LABELS = re.compile(r"^# expect-\w+:.*\n", re.MULTILINE)


def example(rule: Rule) -> str:
    """Return the example of a rule as markdown: its sick script, and the findings of a watched run of it."""
    source = _LABELS.sub("", _script(rule).read_text(encoding="utf-8")).strip()
    findings = [finding for finding in watched(source).findings if finding.rule == rule.id]
    said = as_text([Page(title="", blocks=[Findings(findings=tuple(findings))])]).strip()
    return f"## Example\n\n```python\n{source}\n```\n\ntorchmagic says:\n\n```text\n{said}\n```\n"


def watched(source: str) -> Run:
    """Run a script as a cell is run; an exception ends the run as it would end the cell."""
    namespace = {"__name__": "__main__"}
    watching = Watch(Settings(save=False, every=1), namespace=namespace, source=source, session=Session())
    code = compile(source, "example.py", "exec")
    run, error = watching.start(), None
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # torch warns of some of these bugs itself
        try:
            exec(code, namespace)  # noqa: S102 - the scripts are ours
        except Exception as raised:  # noqa: BLE001 - some bugs end in an exception
            error = raised
    watching.stop(error)
    return run


def _script(rule: Rule) -> Path:
    return SCRIPTS / rule.group / rule.id.replace("-", "_") / "bad.py"
