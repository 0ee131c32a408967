"""This file tests the traces that are written, and the measured peak."""

import gzip
import json
import time

import pytest
import torch
from torch import nn

from torchmagic.profiling import peak


def train(net, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(steps):
        net(torch.ones(2, 4)).sum().backward()
        opt.step()


def names_in(text):
    return [each.get("name", "") for each in json.loads(text)["traceEvents"]]


@pytest.mark.parametrize(("name", "opened"), [("trace.json", open), ("trace.json.gz", gzip.open)])
def test_a_trace_is_torchs_own_with_names_that_a_person_can_read(profiled, tmp_path, name, opened):
    path = tmp_path / name
    net = nn.Sequential(nn.Linear(4, 2))
    with profiled(namespace={"net": net}, steps=2, trace=str(path)) as seen:
        train(net, 6)
    with opened(path, "rt") as file:
        names = names_in(file.read())
    assert {"aten::addmm", "net (Sequential)", "net.0 (Linear)", "backward", "end of step 3"} <= set(names)
    assert not [each for each in names if each.startswith("tm:")]
    assert seen.collected.trace == str(path)


def test_tensorboard_gets_a_folder_of_its_own_format(profiled, tmp_path):
    folder = tmp_path / "runs" / "one"
    with profiled(tensorboard=str(folder), trace=str(tmp_path / "t.json")) as seen:
        train(nn.Linear(4, 2), 4)
    (file,) = folder.iterdir()
    assert file.name.endswith(".pt.trace.json")
    assert file.read_bytes() == (tmp_path / "t.json").read_bytes()
    assert not seen.failures


def test_no_folder_is_made_for_a_trace_and_what_is_not_written_is_told_whoever_looks(profiled, tmp_path):
    path = tmp_path / "missing" / "deep" / "trace.json"
    said = rf"The trace could not be written to .*trace.json: there is no folder {path.parent}"
    with pytest.warns(RuntimeWarning, match=said), profiled(trace=str(path)) as seen:
        train(nn.Linear(4, 2), 4)
    assert not list(tmp_path.iterdir())
    assert seen.collected.trace == ""
    assert not seen.failures


def test_a_place_that_cannot_be_written_is_said_in_one_line_and_the_profile_is_there(profiled, tmp_path):
    (tmp_path / "file").write_text("mine")
    path = tmp_path / "file" / "trace.json"
    told = pytest.warns(RuntimeWarning, match="The trace could not be written to")
    with told, profiled(trace=str(path), tensorboard=str(tmp_path / "file")) as seen:
        train(nn.Linear(4, 2), 4)
    first, second = (note for note in seen.notes if note.startswith("The trace could not be written to"))
    assert str(path) in first
    assert "\n" not in first + second
    assert seen.collected.trace == ""
    assert (tmp_path / "file").read_text() == "mine"
    assert not seen.failures


def test_the_peak_is_measured_within_its_time_and_once(monkeypatch):
    peak._measured.cache_clear()
    torch.mm(torch.ones(2, 2), torch.ones(2, 2))
    began = time.perf_counter()
    first = peak.peak_flops("cpu")
    took = time.perf_counter() - began
    assert took < 1.0  # 0.06 on a machine with nothing else to do
    assert peak.peak_flops("cpu") == first > 1e8


def test_the_peak_draws_no_random_number_and_is_the_best_that_was_seen(monkeypatch):
    peak._measured.cache_clear()
    before = torch.get_rng_state()
    measured = peak.peak_flops("cpu")
    assert torch.equal(before, torch.get_rng_state())
    matrix = torch.ones(peak.SMALLEST, peak.SMALLEST)
    fastest = min(peak._product(matrix) for _ in range(20))
    assert measured > 0.2 * 2 * peak.SMALLEST**3 / fastest
