"""This file tests the run: one watched execution and what can be asked of it."""

import errno
import math
from pathlib import Path

import pytest

import torchmagic
from torchmagic.records.model import ParameterRecord
from torchmagic.records.note import CrashRecord, NoteRecord
from torchmagic.session.recorder import Recorder
from torchmagic.session.run import Run, Status


def parameter(name):
    return ParameterRecord(
        name=name, model="net", module="net", shape=(2, 3), dtype="float32", device="cpu", trainable=True
    )


def test_records_of_one_type_come_in_order_of_arrival():
    run = Run()
    run.records += [NoteRecord(text="a"), parameter("net.weight"), NoteRecord(text="b")]
    assert [note.text for note in run.of(NoteRecord)] == ["a", "b"]
    assert run.of(CrashRecord) == []


def test_two_runs_never_share_an_id():
    assert Run().id != Run().id


def test_a_series_is_asked_for_by_its_subject():
    run = Run()
    run.frame("grad_norm", ("net.weight", "net.bias")).append(0, (1.0, 2.0))
    run.frame("grad_norm", ("",)).append(0, (5.0,))
    assert run.series("grad_norm", parameter="net.bias") == ([0], [2.0])
    assert run.series("grad_norm") == ([0], [5.0])
    assert run.series("grad_norm", name="") == ([0], [5.0])


def test_a_metric_without_a_whole_is_all_its_subjects_in_order_of_step():
    run = Run()
    run.frame("loss", ("d_loss",)).append(0, (1.0,))
    run.frame("loss", ("g_loss",)).append(0, (2.0,))
    run.frame("loss", ("d_loss",)).append(1, (3.0,))
    assert run.series("loss") == ([0, 0, 1], [1.0, 2.0, 3.0])


def test_an_unknown_metric_is_two_empty_lists():
    assert Run().series("no such metric") == ([], [])


def test_a_series_joins_the_frames_that_it_is_spread_over():
    run = Run()
    run.frame("grad_norm", ("a", "b")).append(0, (1.0, 2.0))
    run.frame("grad_norm", ("b",)).append(1, (3.0,))
    assert run.series("grad_norm", parameter="b") == ([0, 1], [2.0, 3.0])


def test_a_frame_is_found_again_when_its_subjects_come_back():
    run = Run()
    first = run.frame("grad_norm", ("a",))
    run.frame("grad_norm", ("b",))
    assert run.frame("grad_norm", ["a"]) is first
    assert len(run.frames) == 2


def test_subjects_come_in_order_of_appearance_without_the_whole():
    run = Run()
    run.frame("loss", ("g_loss",))
    run.frame("loss", ("",))
    run.frame("loss", ("d_loss", "g_loss"))
    assert run.subjects("loss") == ("g_loss", "d_loss")


def test_the_overhead_is_a_share_between_nothing_and_all():
    run = Run()
    assert run.overhead == 0.0
    run.clock.seconds, run.clock.cost = 2.0, 0.5
    assert run.overhead == 0.25
    run.clock.cost = 9.0
    assert run.overhead == 1.0


def test_the_parameter_table_holds_the_latest_and_the_greatest_value():
    run = Run()
    run.records += [parameter("net.weight"), parameter("net.bias")]
    frame = run.frame("grad_norm", ("net.weight",))
    for step, value in enumerate([1.0, 9.0, math.nan, 2.0]):
        frame.append(step, (value,))
    weight, bias = run.parameters
    assert (weight["grad_norm"], weight["grad_norm_max"], weight["shape"]) == (2.0, 9.0, (2, 3))
    assert (bias["grad_norm"], bias["grad_norm_max"]) == (None, None)


def test_the_latest_value_of_a_parameter_is_the_one_of_the_later_step_whichever_frame_holds_it():
    run = Run()
    run.records.append(parameter("net.weight"))
    run.frame("grad_norm", ("net.weight",)).append(0, (1.0,))
    run.frame("grad_norm", ("net.weight", "net.bias")).append(1, (2.0, 0.0))
    run.frame("grad_norm", ("net.weight",)).append(2, (3.0,))
    assert run.parameters[0]["grad_norm"] == 3.0


def test_a_run_says_what_it_is():
    run = Run(name="lr sweep")
    run.status, run.steps = Status.OK, 7
    assert repr(run) == "<Run 'lr sweep' ok: 7 steps, 0 findings>"


def test_a_run_made_by_hand_says_how_it_can_be_drawn(tmp_path):
    with pytest.raises(ValueError, match="nothing to draw it with"):
        Run().report(tmp_path / "page.html")


def test_a_report_is_written_by_what_the_run_was_given(tmp_path):
    Run(name="sweep", report=lambda run: f"<p>{run.name}").report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "<p>sweep"


def test_rows_are_kept_at_the_step_under_way():
    run = Run()
    recorder = Recorder(run)
    recorder.append("loss", (1.0,), ("loss",))
    recorder.count_step()
    recorder.append("loss", (2.0,), ("loss",))
    assert run.series("loss", name="loss") == ([0, 1], [1.0, 2.0])
    assert recorder.step == run.steps == 1


def test_time_spent_inside_is_booked_on_the_runs_clock():
    run = Run()
    recorder = Recorder(run, metered=lambda: 3_000)
    assert recorder.spent == 3_000
    recorder.read_clock()
    assert run.clock.cost == 3e-6
    assert run.clock.seconds > 0


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that takes the first letters of a file and no more."""

    def write_text(path, text, **_):
        with path.open("w") as file:
            file.write(text[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_text)


def told_by(run, deed, path):
    with pytest.raises(OSError) as raised:
        getattr(run, deed)(path)
    return str(raised.value)


@pytest.mark.parametrize("deed", ["save", "report"])
@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_file_that_was_there(deed, tmp_path):
    path = tmp_path / "run"
    path.write_bytes(b"the good one")
    said = told_by(Run(report=lambda _run: "a page that is long enough"), deed, path)
    assert said == f"cannot write {path}: no space left on device; free it or name another place"
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"the good one"]


@pytest.mark.parametrize("deed", ["save", "report"])
def test_a_place_that_cannot_be_written_is_one_line(deed, tmp_path):
    run, ending = Run(report=lambda _run: "a page"), {"save": "json", "report": "html"}[deed]
    there = tmp_path / "no"
    assert told_by(run, deed, there / "run") == (
        f"cannot write {there / 'run'}: the folder {there} does not exist; make it first"
    )
    wanted = f"{tmp_path} is a folder; name a file in it, such as {tmp_path / f'run.{ending}'}"
    assert told_by(run, deed, tmp_path) == wanted


def test_the_home_folder_may_be_meant(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    Run(name="there").save("~/run.json")
    assert (tmp_path / "run.json").is_file()
    assert torchmagic.load("~/run.json").name == "there"
