"""This file tests ``python -m torchmagic run`` on programs that train: they stay the same, and are told about."""

import json
import signal
from xml.etree import ElementTree as ET

import pytest

from torchmagic.__main__ import main

RUN = ("-m", "torchmagic", "run")


@pytest.fixture(scope="module")
def sick(program, python, tmp_path_factory):
    """Return the folder in which a sick program ran, and how it ended."""
    folder = tmp_path_factory.mktemp("sick")
    program(folder / "train.py", more=", nn.Softmax(dim=1)")
    files = ("--sarif", "o.sarif", "--junit", "o.xml", "--json", "o.json", "--report", "o.html")
    done = python(*RUN, "--fail-on", "softmax-*", *files, "train.py", "--lr", "3", cwd=folder)
    return folder, done


def test_findings_are_told_and_fail_it_with_a_status_of_their_own(sick):
    _folder, done = sick
    assert done.returncode == 3
    assert "ERROR  cross_entropy gets probabilities from net.3" in done.stderr
    assert "line 17: loss = nn.functional.cross_entropy(net(inputs), targets)" in done.stderr
    assert "More: python -m torchmagic report 1 --full" in done.stderr
    assert done.stderr.endswith("torchmagic: failed by 1 finding (--fail-on softmax-*)\n")


def test_a_run_that_no_store_holds_is_not_offered(program, python, tmp_path):
    program(tmp_path / "train.py", more=", nn.Softmax(dim=1)")
    (tmp_path / ".torchmagic").write_text("no folder")
    done = python(*RUN, "train.py", cwd=tmp_path)
    assert "ERROR  cross_entropy gets probabilities from net.3" in done.stderr
    assert done.stderr.count("kept in memory only") == 1
    assert "More: " not in done.stderr


def test_every_file_that_was_asked_for_is_there(sick):
    folder, _done = sick
    (result,) = json.loads((folder / "o.sarif").read_text())["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "train.py"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 17
    assert ET.parse(folder / "o.xml").getroot().get("failures") == "1"  # noqa: S314 - ours
    assert json.loads((folder / "o.json").read_text())["name"] == "train.py"
    assert "<html" in (folder / "o.html").read_text()


def test_its_run_is_reported_listed_and_compared(sick, capsys, monkeypatch, tmp_path):
    folder, _done = sick
    monkeypatch.chdir(tmp_path)
    store = ["--store", str(folder)]

    def said(*words):
        status = main(list(words))
        told = capsys.readouterr()
        return status, told.out + told.err

    status, brief = said("report", *store)
    assert status == 0
    assert brief.startswith("run 1: train.py · ok · 6 steps")
    status, full = said("report", "train.py", "--full", "--fail-on", "error", *store)
    assert status == 3
    assert "Parameters\n" in full
    assert said("report", str(folder / "o.json"))[1].splitlines()[2:] == brief.splitlines()[2:]
    status, listed = said("list", "--json", *store)
    assert [(entry["number"], entry["name"], entry["errors"]) for entry in json.loads(listed)] == [(1, "train.py", 1)]
    assert "train.py" in said("list", *store)[1]
    assert said("report", "-o", "x.sarif", *store) == (0, "x.sarif\n")
    assert (tmp_path / "x.sarif").is_file()
    other = json.loads((folder / "o.json").read_text()) | {"id": "another", "name": "other", "findings": []}
    (tmp_path / "other.json").write_text(json.dumps(other))
    status, differs = said("compare", "1", "other.json", *store)
    assert status == 0
    assert "softmax-before-cross-entropy" in differs or "cross_entropy gets probabilities" in differs
    assert said("compare", "1", "other.json", "-o", "c.html", *store) == (0, "c.html\n")
    assert "<html" in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["report", "99"], "no run has the number 99; there is one run, number 1"),
        (["report", "nowhere.json"], "there is no file nowhere.json"),
        (["report", "-o", "x.parqet"], "nothing is exported to '.parqet' files, the nearest is '.parquet'"),
        (["report", "-o", "no/x.html"], "cannot write no/x.html: the folder"),
        (["compare", "1", "1"], "a comparison wants different runs, such as: compare 1 2"),
    ],
)
def test_what_is_wrong_is_one_line_and_status_2(words, says, sick, capsys, monkeypatch):
    folder, _done = sick
    monkeypatch.chdir(folder)
    assert main([*words, "--store", str(folder)]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert told.count("\n") == 1


def test_no_store_is_one_line_and_status_2(capsys, tmp_path):
    for words in (["report"], ["list"], ["compare", "1", "2"]):
        assert main([*words, "--store", str(tmp_path)]) == 2
        assert capsys.readouterr().err.startswith("torchmagic: there is no store at ")


def test_training_is_the_same_to_the_last_bit_and_a_crash_keeps_its_traceback(program, python, tmp_path):
    program(tmp_path / "train.py")
    plain = python("train.py", "crash", cwd=tmp_path)
    done = python(*RUN, "--no-save", "--junit", "o.xml", "--fail-on", "error", "train.py", "crash", cwd=tmp_path)
    assert (done.returncode, plain.returncode) == (1, 1)
    assert len(plain.stdout) > 80
    assert done.stdout == plain.stdout
    assert done.stderr.startswith(plain.stderr)
    told = done.stderr.removeprefix(plain.stderr)
    assert "ERROR  net.0 (Linear) expects 8 features and got 9" in told
    assert "net(torch.randn(4, 9))" in told
    assert ET.parse(tmp_path / "o.xml").getroot().get("errors") == "1"  # noqa: S314 - ours
    assert not (tmp_path / ".torchmagic").exists()


def test_an_interrupt_ends_it_as_python_does_and_is_told(program, begin, tmp_path):
    then = "    if step == 5: print('ready', flush=True)"
    program(tmp_path / "train.py", steps=10**9, then=then)
    process = begin(*RUN, "--level", "basic", "--no-save", "train.py", cwd=tmp_path)
    try:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _out, err = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt\n" in err
    assert "train.py · interrupted · " in err.partition("KeyboardInterrupt\n")[2]
