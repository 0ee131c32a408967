"""This file tests the SARIF export against the schema that OASIS publishes, copied to ``schemas``."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.records.device import Cargo, TransferRecord
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.place import Place
from torchmagic.session.run import Run
from torchmagic.session.status import Status

SCHEMA = Path(__file__).parent / "schemas" / "sarif-2.1.0.json"


@pytest.fixture(scope="module")
def validator():
    kind = pytest.importorskip("jsonschema").Draft4Validator
    return kind(json.loads(SCHEMA.read_text(encoding="utf-8")))


@pytest.fixture
def sick(tmp_path):
    """Return a run of a program in the working directory, with a finding of each severity."""
    run = Run(
        name="train.py", source="import torch\n\nloss.backward()\n", settings={"file": str(tmp_path / "train.py")}
    )
    run.status, run.steps = Status.OK, 4
    error = Finding(
        rule="softmax-before-cross-entropy",
        severity=Severity.ERROR,
        confidence=0.97,
        title="cross_entropy gets probabilities",
        module="net.3",
        line=3,
        source="loss.backward()",
        step=0,
        evidence={"largest": math.nan, "batches": 6},
        why="It takes a softmax itself.",
        fix="Remove the softmax.",
    )
    warning = replace(error, rule="a-rule-of-tomorrow", severity=Severity.WARNING, line=None, source="step()")
    info = replace(error, rule="dead-relu", severity=Severity.INFO, line=None, source=None, evidence={})
    run.findings = (error, warning, info)
    return run


def moved(place):
    """Return a record that tells a place."""
    cargo = next(iter(Cargo))
    return TransferRecord(
        what=cargo, model="net", step=0, source="cpu", target="cuda", num_bytes=1, pinned=None, place=place
    )


def logged(runs, path):
    return json.loads(export(runs, path).read_text(encoding="utf-8"))


def test_the_log_follows_the_schema_of_oasis(validator, trained, runs, sick, tmp_path):
    for log in (logged(sick, tmp_path / "a.sarif"), logged([*runs, sick], tmp_path / "b.sarif")):
        validator.validate(log)
    assert not validator.is_valid({"version": "2.1.0", "runs": [{}]})


def test_names_that_mean_harm_follow_it_as_well(validator, named, harmful, tmp_path):
    validator.validate(logged([named(word) for word in harmful], tmp_path / "a.sarif"))


def test_a_finding_has_its_rule_level_words_place_and_numbers(sick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (run,) = logged(sick, tmp_path / "a.sarif")["runs"]
    first, second, third = run["results"]
    assert [each["level"] for each in run["results"]] == ["error", "warning", "note"]
    assert first["message"]["text"] == (
        "cross_entropy gets probabilities. It takes a softmax itself. Remove the softmax."
    )
    rule = run["tool"]["driver"]["rules"][first["ruleIndex"]]
    assert rule["id"] == first["ruleId"] == "softmax-before-cross-entropy"
    assert rule["shortDescription"]["text"] == "cross_entropy is given probabilities instead of logits."
    assert "What to try" in rule["help"]["text"]
    assert run["tool"]["driver"]["rules"][second["ruleIndex"]] == {"id": "a-rule-of-tomorrow"}
    (place,) = first["locations"]
    assert place["physicalLocation"] == {
        "artifactLocation": {"uri": "train.py"},
        "region": {"startLine": 3, "snippet": {"text": "loss.backward()"}},
    }
    assert place["logicalLocations"] == [{"fullyQualifiedName": "net.3", "kind": "module"}]
    assert first["properties"]["evidence"] == {"largest": "NaN", "batches": 6}
    assert (first["rank"], run["invocations"][0]["executionSuccessful"]) == (97.0, True)
    assert "physicalLocation" not in third["locations"][0]


def test_a_line_of_an_imported_file_is_found_by_what_the_records_tell(sick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = Place(file=str(tmp_path / "my models" / "net.py"), line=12, source="step()")
    sick.records.append(moved(place))
    (run,) = logged(sick, tmp_path / "a.sarif")["runs"]
    found = run["results"][1]["locations"][0]["physicalLocation"]
    assert (found["artifactLocation"]["uri"], found["region"]["startLine"]) == ("my%20models/net.py", 12)
    sick.records.append(moved(replace(place, line=40)))  # the same text at two places says neither
    (run,) = logged(sick, tmp_path / "b.sarif")["runs"]
    assert "physicalLocation" not in run["results"][1]["locations"][0]


def test_a_finding_keeps_its_fingerprint_when_lines_and_numbers_move(sick, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = logged(sick, tmp_path / "a.sarif")["runs"][0]["results"]
    sick.source = "\n" + sick.source
    sick.findings = (replace(sick.findings[0], line=4, step=9, title="the same, 7 batches"), *sick.findings[1:])
    after = logged(sick, tmp_path / "a.sarif")["runs"][0]["results"]
    assert [each["partialFingerprints"] for each in before] == [each["partialFingerprints"] for each in after]
    assert len({json.dumps(each["partialFingerprints"]) for each in before}) == 3


@pytest.mark.parametrize(("file", "said"), [(None, "the cell"), ("cell 3", "cell 3")])
def test_a_cell_has_no_file(tmp_path, file, said):
    facts = {"rule": "dead-relu", "severity": Severity.INFO, "confidence": 1.0, "title": "x"}
    finding = Finding(**facts, line=2, file=file, source="net(x)")
    cell = Run(name="cell", source="a\nnet(x)")
    cell.findings = (finding,)
    (place,) = logged(cell, tmp_path / "a.sarif")["runs"][0]["results"][0]["locations"]
    assert place == {"message": {"text": f"line 2 of {said}: net(x)"}}
