"""This file tests that torch's anomaly detection is afterwards as the user has it, whoever changed it meanwhile."""

import itertools

import pytest
import torch

import torchmagic
from torchmagic.probes.replay_wrappers import Detection, anomaly_detection

OFF, ON, REMEMBERING = (False, True), (True, True), (True, False)


def state():
    return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()


@pytest.fixture(autouse=True)
def as_it_was():
    before = state()
    yield
    torch.autograd.set_detect_anomaly(*before)


@pytest.mark.parametrize("level", ["advanced", "expert"])
@pytest.mark.parametrize("found", [OFF, ON, REMEMBERING])
def test_a_run_leaves_the_anomaly_detection_that_it_found(level, found):
    torch.autograd.set_detect_anomaly(*found)
    with torchmagic.watch(level=level, save=False), torch.autograd.set_detect_anomaly(mode=False):
        assert not torch.is_anomaly_enabled()
    assert state() == found


@pytest.mark.parametrize("level", ["advanced", "expert"])
@pytest.mark.parametrize(("found", "chosen"), [(OFF, ON), (ON, OFF), (REMEMBERING, OFF), (REMEMBERING, ON)])
def test_what_the_watched_code_sets_for_good_stays(level, found, chosen):
    torch.autograd.set_detect_anomaly(*found)
    with torchmagic.watch(level=level, save=False):
        torch.autograd.set_detect_anomaly(*chosen)
    assert state() == chosen


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("when", range(4))
def test_what_is_set_between_runs_that_end_in_any_order_stays(order, when):
    torch.autograd.set_detect_anomaly(*ON)
    runs = [anomaly_detection(Detection.REMEMBERS) for _ in order]
    for number, run in enumerate(runs):
        if number == when:
            torch.autograd.set_detect_anomaly(*OFF)
        run.__enter__()
        assert state() == REMEMBERING
    if when == len(runs):
        torch.autograd.set_detect_anomaly(*OFF)
    for number in order:
        runs[number].__exit__(None, None, None)
    assert state() == OFF


def test_what_is_set_as_one_run_has_it_is_told_from_what_another_one_has():
    with anomaly_detection(Detection.RAISES):
        with anomaly_detection(Detection.REMEMBERS):
            torch.autograd.set_detect_anomaly(*ON)
        assert state() == ON
    assert state() == ON
