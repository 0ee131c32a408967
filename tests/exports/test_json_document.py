"""This file tests the JSON export: what it holds, how it is read again, and the schema that describes it."""

import json
from pathlib import Path

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.exports.schema import json_schema
from torchmagic.session.loading import from_json, load

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "run.schema.json"


@pytest.fixture(scope="module")
def validator():
    kind = pytest.importorskip("jsonschema").Draft202012Validator
    kind.check_schema(json_schema())
    return kind(json_schema())


def test_one_run_is_the_document_that_load_reads(run, tmp_path):
    path = export(run, tmp_path / "a.json")
    assert path.read_text() == run.to_json()
    assert load(path).to_json() == run.to_json()


def test_several_runs_are_a_list_of_such_documents(runs, tmp_path):
    found = json.loads(export(runs, tmp_path / "a.json").read_text())
    assert (found["format"], found["torchmagic"]) == (1, "runs")
    assert [from_json(json.dumps(each)).to_json() for each in found["runs"]] == [run.to_json() for run in runs]


def test_an_export_of_several_runs_is_told_from_what_is_no_run_at_all(runs, tmp_path):
    path = export(runs, tmp_path / "a.json")
    with pytest.raises(ValueError, match="an export of several runs, and one is read at a time; export each to a file"):
        load(path)


@pytest.mark.parametrize("level", ["basic", "intermediate", "advanced", "expert"])
def test_real_runs_of_each_level_follow_the_schema(level, trained, validator, tmp_path):
    validator.validate(json.loads(export(trained[level], tmp_path / "a.json").read_text()))


def test_several_runs_follow_the_schema(runs, validator, tmp_path):
    validator.validate(json.loads(export(runs, tmp_path / "a.json").read_text()))


def test_hostile_runs_follow_the_schema(hostile, validator, tmp_path):
    validator.validate(json.loads(export(hostile, tmp_path / "a.json").read_text()))


@pytest.fixture(scope="module")
def document(trained, validator):
    """Give a run's document, cut to a few of its records: to check all takes seconds."""
    document = json.loads(trained["basic"].to_json())
    document |= {name: document[name][:2] for name in ("records", "findings", "frames")}
    validator.validate(document)
    return document


@pytest.mark.parametrize(
    "broken",
    [
        {"status": "fine"},
        {"steps": -1},
        {"format": 2},
        {"surprise": 1},
        {"records": [{"kind": "NoteRecord"}]},
        {"records": [{"kind": "NoSuchRecord", "text": ""}]},
        {"findings": [{"kind": "NoteRecord", "text": ""}]},
        {"frames": [{"metric": "loss", "subjects": [""], "steps": [0], "rows": [[None]], "dropped": None}]},
    ],
)
def test_the_schema_refuses_what_is_no_run(broken, document, validator):
    assert not validator.is_valid({**document, **broken})


def test_the_published_schema_is_the_present_one():
    told = "python -m torchmagic.exports.schema > docs/schema/run.schema.json"
    assert json.loads(PUBLISHED.read_text()) == json_schema(), f"write it again: {told}"
