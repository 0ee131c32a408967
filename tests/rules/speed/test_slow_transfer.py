"""This file tests the rule on copies to an accelerator, on records written by hand."""

import pytest

from torchmagic.records.model import LoaderRecord
from torchmagic.rules.speed.slow_transfer import slow_transfer


def loader(*, pinned):
    return LoaderRecord(name="train", batch_size=8, num_workers=0, sampler="S", num_batches=4, pin_memory=pinned)


@pytest.mark.parametrize(("seconds", "told"), [(0.079, 0), (0.081, 1)])
def test_eight_percent_of_the_time_are_told(profiled, seconds, told):
    run = profiled.within(device="cuda").phase(transfer=seconds).written()
    assert len(list(slow_transfer(run))) == told


def test_without_an_accelerator_nothing_is_told(profiled):
    assert not list(slow_transfer(profiled.phase(transfer=0.9).written()))


@pytest.mark.parametrize(("pinned", "advised"), [(False, True), (True, False)])
def test_pinning_is_advised_only_where_it_is_not_done(profiled, at, pinned, advised):
    profiled.operator("copy_", 0.3, phase="transfer", place=at("x = x.to(device)"))
    run = profiled.within(device="cuda").phase(transfer=0.3).add(loader(pinned=pinned)).written()
    (found,) = slow_transfer(run)
    assert found.fix == 'x.to("cuda", non_blocking=True)' + "  # and DataLoader(..., pin_memory=True)" * advised
    assert found.source == "x = x.to(device)"


def test_without_loaders_or_placed_copies_the_cost_is_told_alone(profiled):
    run = profiled.within(device="cuda").phase(transfer=0.3).operator("copy_", 0.3, phase="transfer").written()
    (found,) = slow_transfer(run)
    assert (found.line, found.source) == (None, None)
    assert "pin_memory" not in found.evidence


@pytest.mark.parametrize(("share", "told"), [(0.5, 1), (0.51, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, share, told):
    run = profiled.within(device="cuda").phase(transfer=0.5).written()
    assert len(list(slow_transfer(run, min_share=share))) == told
