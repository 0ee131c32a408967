"""This file tests the document: a run as JSON, and the way back."""

import json
import math

import pytest

from torchmagic.debuggers.loading import load as load_drawn
from torchmagic.records.series import Frame
from torchmagic.session.loading import from_json, load
from torchmagic.session.run import Run


def strict(text):
    """Read JSON as a strict reader does, which knows no NaN."""

    def refuse(word):
        message = f"{word} is no JSON"
        raise AssertionError(message)

    return json.loads(text, parse_constant=refuse)


def test_a_run_comes_back_whole(full_run, same_run):
    same_run(full_run, from_json(full_run.to_json()))


def test_a_saved_run_comes_back_whole(full_run, same_run, tmp_path):
    full_run.save(tmp_path / "run.json")
    same_run(full_run, load(tmp_path / "run.json"))


def test_number_note_and_tags_come_back(full_run):
    full_run.number, full_run.note, full_run.tags = 7, "the good one", ("keep", "paper")
    run = from_json(full_run.to_json())
    assert (run.number, run.note, run.tags) == (7, "the good one", ("keep", "paper"))


def test_an_empty_run_comes_back(same_run):
    run = Run()
    same_run(run, from_json(run.to_json()))


def test_the_document_is_strict_json(full_run):
    document = strict(full_run.to_json())
    assert document["torchmagic"] == "run"
    assert document["findings"][0]["evidence"] == {"loss": "NaN"}


def test_a_long_series_keeps_its_last_least_and_greatest_value_through_the_document():
    run = Run()
    run.frames.append(Frame("loss", ("loss",), max_rows=16))
    for step in range(1000):
        run.frames[0].append(step, (99.0 if step == 501 else -99.0 if step == 733 else math.sin(step),))
    back = from_json(run.to_json())
    assert back.series("loss", name="loss") == run.series("loss", name="loss")
    assert back.frames[0].last() == run.frames[0].last()
    assert from_json(back.to_json()).series("loss", name="loss") == run.series("loss", name="loss")


def test_a_loaded_run_can_be_drawn(full_run, tmp_path):
    full_run.save(tmp_path / "run.json")
    load_drawn(tmp_path / "run.json").report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"loss,step\n1,2\n", "not JSON"),
        (b'{"torchmagic": "run", "format": 1, "reco', "not JSON"),
        (b"\x80\x02}q\x00X\xff\xfe", "not JSON"),
        (b"[1, 2]", "save one with run.save"),
        (b"null", "save one with run.save"),
        (b'{"torchmagic": "notebook"}', "save one with run.save"),
        (b'{"torchmagic": "run"}', "save one with run.save"),
        (b'{"torchmagic": "run", "format": 1}', "save one with run.save"),
        (b'{"torchmagic": "run", "format": 99}', "has format 99, this torchmagic reads up to 1; update it"),
    ],
    ids=[
        "empty",
        "csv",
        "cut off",
        "pickle",
        "list",
        "null",
        "other JSON",
        "no format",
        "nothing in it",
        "newer format",
    ],
)
def test_what_is_no_run_is_refused_in_one_clear_line(tmp_path, content, words):
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def test_a_record_of_a_newer_version_is_named(full_run, tmp_path):
    document = json.loads(full_run.to_json())
    document["records"].append({"kind": "FutureRecord"})
    with pytest.raises(ValueError, match="unknown kind of record 'FutureRecord'"):
        from_json(json.dumps(document))


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.json")
