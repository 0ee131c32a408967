"""This file exports to JUnit XML: findings as CI systems show them beside tests."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import label
from torchmagic.exports.summary import made_with
from torchmagic.records.finding import Finding
from torchmagic.records.note import CrashRecord
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.failing import failing
from torchmagic.session.run import Run
from torchmagic.session.status import Status
from torchmagic.views.findings import headline
from torchmagic.views.page import Findings, Page
from torchmagic.views.skins.text import as_text

# What fails where the run itself was not told: what is wrong, or very likely not meant.
FAILS = "warning"
# What XML 1.0 cannot hold.
_ODD = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GROUPS = {rule.id: rule.group for rule in RULES}


def write(runs: Sequence[Run], path: Path) -> None:
    """Write a suite for each run: a case for how it ended, and one for each finding."""
    suites = [_suite(run) for run in runs]
    root = ET.Element("testsuites", {"name": "torchmagic", **_sums(suites)})
    root.extend(suites)
    ET.indent(root, " ")
    path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def _suite(run: Run) -> ET.Element:
    asked = str(run.settings.get("fail_on", "never"))
    fails = failing(run.findings, FAILS if asked == "never" else asked)
    cases = [_ending(run), *(_case(finding, fails=finding in fails) for finding in run.findings)]
    suite = ET.Element("testsuite", {"name": _xml(label(run))})
    properties = ET.SubElement(suite, "properties")
    for name, value in made_with(run).items():
        ET.SubElement(properties, "property", {"name": _xml(name), "value": _xml(str(value))})
    suite.extend(cases)
    moment = datetime.fromtimestamp(run.clock.started, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    numbers = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": 0,
        "time": f"{run.clock.seconds:.3f}",
    }
    suite.attrib |= {name: str(value) for name, value in numbers.items()} | {"timestamp": moment}
    return suite


def _sums(suites: Sequence[ET.Element]) -> dict[str, str]:
    counts = {name: str(sum(int(each.attrib[name]) for each in suites)) for name in ("tests", "failures", "errors")}
    return counts | {"time": f"{sum(float(each.attrib['time']) for each in suites):.3f}"}


def _ending(run: Run) -> ET.Element:
    """Return the case of the run itself: an error unless it ended by itself and well."""
    case = ET.Element("testcase", {"classname": "torchmagic.run", "name": "ended", "time": f"{run.clock.seconds:.3f}"})
    if run.status is not Status.OK:
        crash = next(iter(run.of(CrashRecord)), None)
        said = f"{crash.error}: {crash.message}" if crash else headline(run)
        where = f"line {crash.line}: {crash.source}" if crash and crash.line else ""
        error = ET.SubElement(case, "error", {"type": run.status.value, "message": _xml(said)})
        error.text = _xml("\n".join(filter(None, (said, where))))
    return case


def _case(finding: Finding, *, fails: bool) -> ET.Element:
    where = finding.parameter or finding.module or finding.optimizer or ""
    group = _GROUPS.get(finding.rule, "rule")
    names = {"classname": f"torchmagic.{group}", "name": _xml(" ".join(filter(None, (finding.rule, where))))}
    case = ET.Element("testcase", {**names, "time": "0"})
    told = _xml(as_text(Page(title="", blocks=[Findings(findings=[finding])])))
    if fails:
        failure = ET.SubElement(case, "failure", {"type": finding.severity.value, "message": _xml(finding.title)})
        failure.text = told
    else:
        ET.SubElement(case, "system-out").text = told
    return case


def _xml(text: str) -> str:
    return _ODD.sub("\N{REPLACEMENT CHARACTER}", text)


EXPORTER = Exporter(name="junit", what="findings as test results", write=write, suffixes=(".xml",))
