"""This file tests what becomes of a watched block of a script: its report, the findings that fail it, and its store."""

import errno
import time
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import torchmagic
from torchmagic.api.callbacks.fit import Fit
from torchmagic.debuggers import followed
from torchmagic.rules.failing import FindingsError

BLOCKS = {"watch": torchmagic.watch, "profile": torchmagic.profile}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(followed, "_told", set())
    torchmagic.session.warnings.clear()
    yield
    torchmagic.session.warnings.clear()
    torchmagic.session.clear()
    torchmagic.session.close()


@pytest.fixture(params=BLOCKS)
def block(request):
    return BLOCKS[request.param]


def train(*, rows=None, resets=True, error=None):
    net = nn.Linear(4, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for batch in torch.randn(30, 8, 4) if rows is None else rows:
        if resets:
            opt.zero_grad()
        net(batch).pow(2).mean().backward()
        opt.step()
    if error is not None:
        raise error


def test_a_report_is_written_where_it_was_asked_for(block, tmp_path):
    with block(save=False, report="run.html"):
        train()
    assert "<html" in (tmp_path / "run.html").read_text(encoding="utf-8")


def test_a_report_may_be_a_path_and_lie_in_the_home_folder(block, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with block(save=False, report=Path("~", "run.html")) as run:
        train()
    assert (tmp_path / "run.html").is_file()
    assert run.to_json()


def test_a_report_is_where_the_program_stood_as_the_block_began(block, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    with block(save=False, report="run.html"):
        train()
        monkeypatch.chdir(tmp_path / "other")
    assert [each.name for each in sorted(tmp_path.iterdir())] == ["other", "run.html"]


def test_a_block_that_fails_has_its_report_and_keeps_its_exception(block, tmp_path):
    error = ArithmeticError("mine")
    with pytest.raises(ArithmeticError) as caught, block(save=False, report="run.html", fail_on="info"):
        train(resets=False, error=error)
    assert caught.value is error
    assert "ArithmeticError" in (tmp_path / "run.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ("no/run.html", "cannot write no/run.html: the folder .*no does not exist; make it first"),
        (".", r"\. is a folder; name a file in it, such as run\.html"),
        (5, "report must be the path of a file to write, such as 'run.html', got 5"),
    ],
)
def test_a_report_that_has_no_place_is_refused_before_the_block_begins(block, report, said):
    with pytest.raises((ValueError, OSError), match=f"^{said}$"), block(save=False, report=report):
        pytest.fail("the block began")
    assert torchmagic.session.runs == []


def test_a_report_that_fails_at_the_end_is_a_warning_at_the_users_line(block, monkeypatch):
    def write_text(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_text)
    said = "the report was not written: cannot write .*run.html: no space left"
    with pytest.warns(match=said) as caught, block(save=False, report="run.html") as run:
        train()
    assert [Path(each.filename).name for each in caught] == [Path(__file__).name]
    assert run.status == "ok"


def test_findings_end_the_block_where_that_was_asked_for():
    asked = {"save": False, "fail_on": "error", "report": "run.html"}
    with pytest.raises(FindingsError, match=r"^error: .* \(missing-zero-grad\)$"), torchmagic.watch(**asked) as run:
        train(resets=False)
    assert (run.status, Path("run.html").is_file()) == ("ok", True)
    with torchmagic.watch(save=False, fail_on="error"):
        train()
    with torchmagic.watch(save=False):
        train(resets=False)


class SlowRows(torch.utils.data.Dataset):
    def __len__(self):
        return 60

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.full((4,), float(index))


def test_findings_end_a_profile_where_that_was_asked_for():
    asked = {"save": False, "fail_on": "slow-loading"}
    with pytest.raises(FindingsError, match=r"\(slow-loading\)"), torchmagic.profile(**asked):
        train(rows=torch.utils.data.DataLoader(SlowRows(), batch_size=2))


def test_findings_end_a_training_that_a_callback_watches_unless_an_error_did():
    fit = Fit({"save": False, "fail_on": "error"})
    fit.begin()
    train(resets=False)
    with pytest.raises(FindingsError, match=r"\(missing-zero-grad\)"):
        fit.end()
    assert fit.run.status == "ok"
    fit.begin()
    train(resets=False)
    fit.end(ArithmeticError("mine"))
    assert fit.run.status == "error"


def test_a_store_that_cannot_be_used_is_told_once_at_the_users_line(block, tmp_path):
    (tmp_path / ".torchmagic").write_text("no folder")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            with block() as run:
                train()
    (told,) = (each for each in caught if "kept in memory only" in str(each.message))
    assert str(told.message).startswith("torchmagic: ")
    assert Path(told.filename).name == Path(__file__).name
    assert run.status == "ok"
