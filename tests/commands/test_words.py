"""This file tests what commands say of stores, files and outputs that are not as they should be."""

import sqlite3

import pytest

import torchmagic
from torchmagic.__main__ import main
from torchmagic.session.database import store_in
from torchmagic.session.run import Run, Status
from torchmagic.session.store import Store


def foreign(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs (a)")
    db.close()


def newer(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 9")
    db.close()


def damaged(path):
    path.write_bytes(b"no database" * 100)


BROKEN = {
    foreign: "is no store of torchmagic; move it away",
    newer: "was written by a newer torchmagic (schema 9, known 2); update torchmagic or move the file away",
    damaged: "cannot be read (file is not a database); check the disk and the folder's rights, or move the file away",
}


@pytest.mark.parametrize(
    "words", [["list"], ["report"], ["report", "1"], ["compare", "1", "2"], ["serve", "--port", "70000"]]
)
@pytest.mark.parametrize("spoil", BROKEN)
def test_what_is_wrong_with_a_store_is_said_and_not_that_it_has_no_runs(spoil, words, tmp_path, capsys):
    path = store_in(tmp_path)
    path.parent.mkdir()
    spoil(path)
    assert main([*words, "--store", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"torchmagic: {path} {BROKEN[spoil]}\n"


def test_a_number_means_the_run_of_that_number_before_one_of_that_name(tmp_path, capsys):
    store = Store(store_in(tmp_path))
    for name in ("3", "4", "other", "2000"):
        run = Run(name=name)
        run.status = Status.OK
        store.write(run)
    store.close()
    told = []
    for which in ("3", "4", "2000", "other"):
        assert main(["report", which, "--store", str(tmp_path)]) == 0
        told.append(capsys.readouterr().out.partition(" ·")[0])
    assert told == ["run 3: other", "run 4: 2000", "run 4: 2000", "run 3: other"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"torchmagic": "run", "format": 99}', '{"torchmagic": "run"'])
def test_a_file_that_holds_no_run_is_named(text, tmp_path, capsys):
    path = tmp_path / "odd.json"
    path.write_text(text)
    assert main(["report", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"torchmagic: {path}: this ")


def test_a_file_that_an_editor_has_marked_as_utf_8_is_read(tmp_path):
    run = Run(name="marked")
    run.status = Status.OK
    (tmp_path / "run.json").write_text(run.to_json(), encoding="utf-8-sig")
    assert torchmagic.load(tmp_path / "run.json").name == "marked"


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"torchmagic {torchmagic.__version__}\n"


def test_names_in_the_help_keep_their_capitals(capsys):
    for command, said in {
        "serve": "Answer questions about stored runs over HTTP;",
        "mcp": "Answer AI assistants",
    }.items():
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert said in capsys.readouterr().out


def test_a_place_that_is_a_folder_is_refused_before_the_script_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("print('it ran')")
    assert main(["run", "--report", ".", "a.py"]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "torchmagic: cannot write .: it is a folder; name a file in it\n")


CLOSED = """
import os, sys
os.close({which})
os.execv(sys.executable, [sys.executable, "-m", "torchmagic", *sys.argv[1:]])
"""


@pytest.mark.parametrize(
    ("which", "words", "ends"),
    [
        (2, ["run", "--no-save", "a.py"], (0, "it ran\n", "")),  # nothing can be told, and the script went well
        (2, ["report"], (2, "", "")),
        (1, ["report", "run.json"], (2, "", "torchmagic: the output is closed\n")),
    ],
)
def test_an_output_that_is_closed_changes_no_status(which, words, ends, tmp_path, python):
    (tmp_path / "a.py").write_text("import torch\nprint('it ran')")
    run = Run(name="a")
    run.status = Status.OK
    run.save(tmp_path / "run.json")
    done = python("-c", CLOSED.format(which=which), *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == ends
