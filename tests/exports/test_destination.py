"""This file tests where exports go: to the path, whole or not at all, and nowhere else."""

import os
from pathlib import Path

import pytest

from torchmagic.exports.catalogue import export
from torchmagic.exports.destination import fill_folder, inside, replace_file
from torchmagic.exports.exporter import Exporter


def half_written(_runs, path):
    path.write_text("half")
    raise OSError(28, "No space left on device")


def test_a_file_that_fails_half_way_leaves_the_old_one_and_nothing_else(run, tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    exporter = Exporter(name="x", what="", write=half_written, suffixes=(".txt",))
    with pytest.raises(OSError, match=r"^cannot write .*a\.txt: no space left on device"):
        replace_file(exporter, [run], target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_is_replaced_whole(run, tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")
    before = target.stat().st_ino
    export(run, target)
    assert target.stat().st_ino != before
    assert target.read_text().startswith("run_id,")
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_may_be_read_by_those_who_may_read_any_new_file(run, tmp_path):
    export(run, tmp_path / "a.csv")
    (tmp_path / "b").write_text("")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_link_is_followed_to_the_file_behind_it(run, tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    export(run, tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("run_id,")


@pytest.mark.parametrize("to", ["", "tensorboard"])
def test_no_folder_is_made_above_the_path(to, run, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .*missing does not exist; make it first"):
        export(run, tmp_path / "missing" / "a.csv", to=to)
    assert list(tmp_path.iterdir()) == []


def test_a_file_and_a_folder_are_not_mistaken(run, tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder; name a file in it, such as .*run\.csv"):
        export(run, tmp_path, to="csv")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file, and tensorboard needs a folder"):
        export(run, tmp_path / "file", to="tensorboard")


def test_what_is_no_file_is_not_replaced(run, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(OSError, match="is no ordinary file"):
        export(run, tmp_path / "pipe.csv")
    assert (tmp_path / "pipe.csv").is_fifo()


def test_a_name_too_long_is_one_line(run, tmp_path):
    with pytest.raises(OSError, match="file name too long") as told:
        export(run, tmp_path / f"{'x' * 300}.csv")
    assert "\n" not in str(told.value)


def test_a_folder_is_filled_beside_what_is_there(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("mine")
    exporter = Exporter(name="x", what="", write=lambda _runs, folder: (folder / "new").write_text(""))
    fill_folder(exporter, [run], tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["mine", "new"]


@pytest.mark.parametrize("is_there", [False, True])
def test_a_folder_that_is_not_filled_is_as_it_was(run, tmp_path, is_there):
    def refuse(_runs, _folder):
        raise ValueError("this export needs a package")

    folder = tmp_path / "out"
    if is_there:
        folder.mkdir()
    with pytest.raises(ValueError, match="needs a package"):
        fill_folder(Exporter(name="x", what="", write=refuse), [run], folder)
    assert folder.exists() == is_there


def test_what_was_written_before_a_failure_stays_in_its_folder(run, tmp_path):
    def begin(_runs, folder):
        (folder / "begun").write_text("some")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="no space left"):
        fill_folder(Exporter(name="x", what="", write=begin), [run], tmp_path / "out")
    assert (tmp_path / "out" / "begun").read_text() == "some"


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "leak").symlink_to(Path("/tmp"))  # noqa: S108 - any place outside
    with pytest.raises(OSError, match="leads out of"):
        inside(tmp_path / "out", "leak")
    assert inside(tmp_path / "out", "own") == tmp_path / "out" / "own"
