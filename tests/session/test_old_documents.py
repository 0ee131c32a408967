"""This file tests that documents which earlier versions wrote are still read, and follow what was promised of them."""

import json
from pathlib import Path

import pytest

from torchmagic.debuggers.loading import load
from torchmagic.exports.schema import json_schema

FOLDER = Path(__file__).parent / "documents"
DOCUMENTS = sorted(FOLDER.glob("*.json"))
# Written since the schema is published: what follows it once does so for good.
PROMISED = [path for path in DOCUMENTS if path.stem >= "2026-11-22"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_an_old_document_is_read_whole_and_can_be_drawn(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    run = load(path)
    assert (run.id, run.name, run.steps, run.status) == (document["id"], "an old run", 4, "ok")
    assert len(run.records) == len(document["records"])
    assert [finding.rule for finding in run.findings] == ["softmax-before-cross-entropy"]
    (frame,) = (frame for frame in document["frames"] if frame["metric"] == "loss")
    assert run.series("loss") == (frame["steps"], [row[0] for row in frame["rows"]])
    assert "cross_entropy gets probabilities" in run.to_text()
    assert load(path).to_text(full=True)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_what_is_written_of_an_old_run_follows_the_schema(path):
    kind = pytest.importorskip("jsonschema").Draft202012Validator
    kind(json_schema()).validate(json.loads(load(path).to_json()))


@pytest.mark.parametrize("path", PROMISED, ids=lambda path: path.stem)
def test_a_document_that_followed_the_schema_still_does(path):
    kind = pytest.importorskip("jsonschema").Draft202012Validator
    kind(json_schema()).validate(json.loads(path.read_text(encoding="utf-8")))
