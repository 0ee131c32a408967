"""A block of a script is profiled, as a cell is."""

import inspect
import subprocess
import sys

import pytest
import torch

import torchmagic
from torchmagic.api.baseline import baseline_id, baseline_pages, comparison_pages
from torchmagic.records.costs import CostsRecord
from torchmagic.records.profile import ProfileRecord
from torchmagic.session.run import Run
from torchmagic.session.session import Session


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    torchmagic.session.clear()
    torchmagic.session.close()


def train(steps):
    model = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(4, 8)).sum().backward()
        optimizer.step()


def test_a_block_is_profiled_on_the_schedule_that_is_given():
    with torchmagic.profile(steps=4, warmup=1, wait=2, name="block") as run:
        train(10)
    (record,) = run.of(ProfileRecord)
    assert (record.first_step, record.steps, record.waited, record.warmed) == (3, 4, 2, 1)
    assert (run.status.value, run.name, run.steps) == ("ok", "block", 10)
    assert torchmagic.session.last is run


SCRIPT = f"""import torch
import torchmagic

{inspect.getsource(train)}
with torchmagic.profile(quick=True, save=False) as run:
    train(6)
run.save("run.jsonl")
"""


def test_the_lines_of_functions_are_timed(tmp_path):
    # a process of its own: what another test has compiled would keep functions from getting ranges
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    subprocess.run([sys.executable, "script.py"], check=True, cwd=tmp_path, timeout=300)
    (costs,) = torchmagic.load(tmp_path / "run.jsonl").of(CostsRecord)
    calls = {line.place.source: line.calls for line in costs.lines}
    assert calls["model(torch.ones(4, 8)).sum().backward()"] == 3


def fail():
    train(5)
    raise ValueError("mine")


def test_code_that_raises_keeps_its_profile_and_its_error():
    with pytest.raises(ValueError, match="mine"), torchmagic.profile(save=False) as run:
        fail()
    (record,) = run.of(ProfileRecord)
    assert (run.status.value, record.cut) == ("error", "error")


def test_a_wrong_setting_is_one_line_and_nothing_runs():
    with pytest.raises(ValueError, match="did you mean 'steps'"), torchmagic.profile(stepz=3):
        pytest.fail("the block ran")
    with torchmagic.profile(save=False):
        train(1)
    with (
        pytest.raises(ValueError, match="no run has the name or id 'nobody'"),
        torchmagic.profile(baseline="nobody"),
    ):
        pytest.fail("the block ran")


def test_a_trace_that_would_be_a_folder_is_refused_before_anything_runs(tmp_path):
    with (
        pytest.raises(ValueError, match=r"trace: \. is a folder; name a file in it, such as run.json"),
        torchmagic.profile(trace="."),
    ):
        pytest.fail("the block began")


def test_a_trace_without_a_folder_is_refused_before_anything_runs(tmp_path):
    ran = []
    with (
        pytest.raises(ValueError, match=r"trace: cannot write missing.t.json: the folder .* does not exist"),
        torchmagic.profile(trace="missing/t.json"),
    ):
        ran.append(1)
    assert not ran
    assert not torchmagic.session.runs
    assert not (tmp_path / "missing").exists()


def test_what_was_asked_for_is_kept_with_the_run():
    with torchmagic.profile(steps=2, sort_by="total", top=5, save=False) as run:
        train(1)
    assert run.settings["profile"]["steps"] == 2
    assert (run.settings["sort_by"], run.settings["top"]) == ("total", 5)
    assert run.settings["only"] == ["performance"]


@pytest.mark.parametrize("which", ["name", "run", "number"])
def test_a_baseline_is_a_run_by_name_by_number_or_itself(which):
    with torchmagic.profile(quick=True, name="before") as before:
        train(5)
    torchmagic.session.history()
    baseline = {"name": "before", "run": before, "number": before.number}[which]
    with torchmagic.profile(quick=True, baseline=baseline) as after:
        train(5)
    assert after.settings["baseline"] == before.id
    shown = str(torchmagic.session.show())
    assert "Phases of a usual step" in shown
    assert "Phases of a usual step" in str(torchmagic.session.compare(before, after))


@pytest.fixture
def engine(tmp_path):
    engine = Session(tmp_path)
    yield engine
    engine.close()


def test_a_run_without_a_profile_is_no_baseline(engine):
    engine.add(Run(name="watched"))
    with pytest.raises(ValueError, match=r"run 1 \(watched\) has no profile to compare with"):
        baseline_id(engine, "watched")


def test_a_baseline_that_is_gone_is_left_out(engine):
    with torchmagic.profile(quick=True, save=False) as run:
        train(5)
    engine.add(run)
    run.settings["baseline"] = "gone"
    assert baseline_pages(engine, run) == []
    assert baseline_pages(engine, Run()) == []


def test_profiles_are_compared_as_profiles_first_and_other_runs_as_ever():
    with torchmagic.profile(quick=True, save=False, name="a") as one:
        train(5)
    with torchmagic.profile(quick=True, save=False, name="b") as two:
        train(5)
    with torchmagic.profile(quick=True, save=False, name="c") as three:
        train(5)
    assert len(comparison_pages([one, two])) == 2
    titles = [page.title for page in comparison_pages([one, two, three])]
    assert len(set(titles)) == len(titles) == 3
    assert len(comparison_pages([one, Run()])) == 1
