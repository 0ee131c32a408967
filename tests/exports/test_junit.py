"""This file tests the JUnit export as those read it who show tests: by its counts, cases and messages."""

from xml.etree import ElementTree as ET

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.records.finding import Finding, Severity
from torchmagic.records.note import CrashRecord
from torchmagic.session.run import Run
from torchmagic.session.status import Status


def finding(severity, rule="dead-relu", module="net.1"):
    return Finding(
        rule=rule, severity=severity, confidence=0.9, title=f"{severity} in {module}", module=module, fix="y"
    )


@pytest.fixture
def sick():
    run = Run(name="train.py")
    run.status, run.clock.seconds = Status.OK, 2.0
    run.findings = tuple(finding(severity) for severity in Severity)
    return run


def read(runs, path):
    return ET.parse(export(runs, path)).getroot()  # noqa: S314 - what we wrote a moment ago


def test_counts_add_up_and_a_healthy_run_passes(run, sick, tmp_path):
    root = read([run, sick], tmp_path / "a.xml")
    assert root.tag == "testsuites"
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("errors")) == len(suite.findall("testcase/error")) == 0
        assert all(case.get("classname") and case.get("name") and float(case.get("time")) >= 0 for case in cases)
    assert root.get("tests") == str(sum(int(suite.get("tests")) for suite in root))
    assert root[1].get("failures") == "2"


def test_a_finding_is_a_case_that_says_what_and_what_to_do(sick, tmp_path):
    _ended, error, warning, info = read(sick, tmp_path / "a.xml").findall("testsuite/testcase")
    assert (error.get("classname"), error.get("name")) == ("torchmagic.model", "dead-relu net.1")
    assert error.find("failure").get("message") == "error in net.1"
    assert error.find("failure").get("type") == "error"
    assert "fix" in error.find("failure").text
    assert warning.find("failure") is not None
    assert info.find("failure") is None
    assert "info in net.1" in info.find("system-out").text


@pytest.mark.parametrize(("fail_on", "failed"), [("error", 1), ("warning", 2), ("info", 3), ("dead-*", 3), ("x", 0)])
def test_what_fails_is_what_the_run_was_told(fail_on, failed, sick, tmp_path):
    sick.settings["fail_on"] = fail_on
    assert read(sick, tmp_path / "a.xml").get("failures") == str(failed)


def test_a_run_that_did_not_end_well_is_an_error(sick, tmp_path):
    sick.status = Status.ERROR
    sick.records.append(CrashRecord(error="ValueError", message="too large", file="a.py", line=3, source="f()"))
    (error,) = read(sick, tmp_path / "a.xml").findall("testsuite/testcase/error")
    assert error.get("message") == "ValueError: too large"
    assert "line 3: f()" in error.text
    sick.records.clear()
    sick.status = Status.INTERRUPTED
    (error,) = read(sick, tmp_path / "a.xml").findall("testsuite/testcase/error")
    assert "interrupted" in error.get("message")


def test_names_that_mean_harm_stay_text(named, harmful, tmp_path):
    root = read([named(word) for word in harmful], tmp_path / "a.xml")
    assert len(root) == len(harmful)
    assert {each.tag for each in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "properties", "property", "failure", "error", "system-out",
    }  # fmt: skip
    assert "<script>" in root[2].get("name")
