"""This file tests the finding."""

from torchmagic.records.finding import Finding, Severity


def test_findings_are_kept_in_sets_and_compared_with_their_evidence():
    known = {"rule": "dead-relu", "severity": Severity.WARNING, "confidence": 0.9, "title": "a layer is dead"}
    first, same, other = (Finding(**known, evidence={"share": share}) for share in (0.5, 0.5, 0.9))
    assert {first, same, other} == {first, other}
    assert {first, same} - {other} == {first}
