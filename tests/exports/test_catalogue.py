"""This file tests the door: which exporter a suffix or name asks for, and what is said when none does."""

from pathlib import Path

import pytest

from torchmagic.exports.catalogue import EXPORTERS, export, exporter_for


def test_each_name_and_suffix_stands_for_one_exporter():
    names = [exporter.name for exporter in EXPORTERS]
    suffixes = [suffix for exporter in EXPORTERS for suffix in exporter.suffixes]
    assert len(set(names)) == len(names)
    assert len(set(suffixes)) == len(suffixes)


@pytest.mark.parametrize(
    ("path", "to", "name"),
    [
        ("a.html", "", "html"),
        ("A.HTM", "", "html"),
        ("notes.md", "", "markdown"),
        ("a.pq", "", "parquet"),
        ("a.json", "csv", "csv"),
        ("a", ".md", "markdown"),
        ("runs", "TensorBoard", "tensorboard"),
        ("runs.v2", "mlflow", "mlflow"),
    ],
)
def test_the_name_counts_before_the_suffix(path, to, name):
    assert exporter_for(Path(path), to).name == name


@pytest.mark.parametrize(
    ("path", "to", "said"),
    [
        ("a.parqet", "", r"'\.parqet' files, the nearest is '\.parquet'; known: \.html, "),
        ("a", "", r"a has no suffix; known: .*into a folder: tensorboard, mlflow"),
        ("a.html", "tensorbord", r"no exporter 'tensorbord', the nearest is 'tensorboard'; known: html, "),
        ("a.html", "qqqq", r"no exporter 'qqqq'; known: "),
    ],
)
def test_what_is_unknown_is_answered_with_what_is_known(path, to, said, run, tmp_path):
    with pytest.raises(ValueError, match=said) as told:
        export(run, tmp_path / path, to=to)
    assert "\n" not in str(told.value)
    assert list(tmp_path.iterdir()) == []


def test_no_run_is_no_file(tmp_path):
    with pytest.raises(ValueError, match="there is no run to export"):
        export([], tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []


def test_the_home_folder_is_understood(run, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert export(run, "~/a.csv") == tmp_path / "a.csv"
    assert (tmp_path / "a.csv").is_file()
