"""This file exports to SARIF 2.1.0: findings as code scanners and editors read them, each with its rule and cure."""

import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2s
from pathlib import Path
from typing import Any
from urllib.parse import quote

import torchmagic
from torchmagic.analyses.finding_files import Places, file_of, places_of
from torchmagic.exports.exporter import Exporter
from torchmagic.exports.names import encodable, label
from torchmagic.records.codec import encode
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import FailureRecord
from torchmagic.rules.catalogue import RULES
from torchmagic.rules.rule import Rule
from torchmagic.session.run import Run
from torchmagic.session.status import Status

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_KNOWN: Mapping[str, Rule] = {rule.id: rule for rule in RULES}
# What a finding says beside its rule, level, place and words.
_TOLD = ("confidence", "step", "evidence", "causes", "optimizer")


def write(runs: Sequence[Run], path: Path) -> None:
    """Write one SARIF log with a run for each run."""
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(run) for run in runs]}
    path.write_text(json.dumps(_encodable(log), indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _run(run: Run) -> dict[str, Any]:
    rules = list(dict.fromkeys(finding.rule for finding in run.findings))
    places = places_of(run)
    driver = {
        "name": "torchmagic",
        "version": torchmagic.__version__,
        "semanticVersion": torchmagic.__version__,
        "rules": [_rule(rule) for rule in rules],
    }
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"torchmagic/{label(run)}/{run.id}"},
        "invocations": [_invocation(run)],
        "results": [_result(finding, rules.index(finding.rule), run, places) for finding in run.findings],
    }


def _rule(name: str) -> dict[str, Any]:
    rule = _KNOWN.get(name)
    if rule is None:  # of a newer torchmagic, or made by hand
        return {"id": name}
    summary, _, page = rule.page.partition("\n\n")
    plain = " ".join(summary.split()).replace("``", "`")
    text = page.replace("``", "`")
    return {
        "id": name,
        "shortDescription": {"text": plain},
        "help": {"text": text.replace("*", ""), "markdown": text},
        "properties": {"tags": [rule.group]},
    }


def _invocation(run: Run) -> dict[str, Any]:
    failures = [
        {"level": "warning", "message": {"text": f"{each.probe} failed and was off: {each.error}"}}
        for each in run.of(FailureRecord)
    ]
    return {
        "executionSuccessful": run.status is Status.OK,
        "startTimeUtc": _moment(run.clock.started),
        "endTimeUtc": _moment(run.clock.started + run.clock.seconds),
        "toolExecutionNotifications": failures,
        "properties": {"status": run.status.value, "steps": run.steps},
    }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _result(finding: Finding, index: int, run: Run, places: Places) -> dict[str, Any]:
    told = encode(finding)
    sentences = [finding.title.rstrip(".") + ".", finding.why, finding.fix]
    file, line = file_of(finding, run, places)
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.severity],
        "rank": round(100 * min(1.0, max(0.0, finding.confidence)), 1),
        "message": {"text": " ".join(filter(None, sentences))},
        "locations": _locations(finding, file, line),
        "partialFingerprints": {"torchmagic/v1": _fingerprint(finding, _uri(file) if file else "")},
        "properties": {name: told[name] for name in _TOLD if told[name] not in (None, [], {})},
    }


def _locations(finding: Finding, file: str, line: int | None) -> list[dict[str, Any]]:
    place: dict[str, Any] = {}
    if file:
        region: dict[str, Any] = {"startLine": line} if line else {}
        if line and finding.source:
            region["snippet"] = {"text": finding.source}
        place["physicalLocation"] = {"artifactLocation": {"uri": _uri(file)}} | ({"region": region} if region else {})
    named = [("module", finding.module), ("parameter", finding.parameter), ("object", finding.optimizer)]
    logical = [{"fullyQualifiedName": name, "kind": kind} for kind, name in named if name]
    if logical:
        place["logicalLocations"] = logical
    if not file and finding.source:
        at = f"line {finding.line} of {finding.file or 'the cell'}: " if finding.line else ""
        place["message"] = {"text": at + finding.source}
    return [place] if place else []


def _uri(file: str) -> str:
    """Return a file as an address: below the working directory, where CI checks out, relative to it."""
    path, here = Path(file), Path.cwd()
    if path.is_relative_to(here):
        return quote(path.relative_to(here).as_posix().encode("utf-8", "surrogateescape"))
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def _fingerprint(finding: Finding, file: str) -> str:
    """Return what is the same when the finding comes again, whatever numbers and lines have changed meanwhile."""
    parts = (finding.rule, file, finding.module, finding.parameter, finding.optimizer, (finding.source or "").strip())
    told = "\0".join(part or "" for part in parts)
    return blake2s(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, Mapping):
        return {encodable(str(name)): _encodable(each) for name, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list | tuple) else value


EXPORTER = Exporter(name="sarif", what="findings for code scanners", write=write, suffixes=(".sarif",))
