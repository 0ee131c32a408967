"""This file is what became slower from one profile to another, and what is noise."""

from dataclasses import replace

import pytest
from profile_runs import CELL, STEPS, gpt_run, mlp_run

from torchmagic.analyses.profile_difference import profile_difference
from torchmagic.analyses.profile_window import profile_window
from torchmagic.records.costs import CostsRecord, LineCost
from torchmagic.records.place import Place
from torchmagic.records.profile import PhasesRecord
from torchmagic.session.run import Run


def difference(before, after):
    return profile_difference(profile_window(before), profile_window(after))


def names(changes):
    return {change.name for change in changes}


def test_equal_profiles_do_not_differ():
    found = difference(gpt_run(), gpt_run())
    assert not found.step.is_sure
    assert not any(change.is_sure for change in found.phases)
    assert (found.modules, found.lines, found.operators) == ((), (), ())


def test_what_became_slower_is_named_in_its_phase_line_and_operator():
    found = difference(mlp_run(data=25.0, slow=()), mlp_run(data=50.0, slow=()))
    assert found.step.seconds == pytest.approx(0.025, rel=0.05)
    assert names(change for change in found.phases if change.is_sure) == {"data"}
    assert names(found.lines) == {"for x, y in loader:"}
    assert found.modules == ()


def test_windows_of_unequal_length_are_compared_per_step():
    found = difference(mlp_run(steps=10, slow=()), mlp_run(steps=40, slow=()))
    assert not found.step.is_sure
    assert (found.modules, found.lines, found.operators) == ((), (), ())


def test_one_slow_step_makes_no_run_slower():
    found = difference(mlp_run(slow=()), mlp_run(slow=((9, "data", 300.0),)))
    assert not found.step.is_sure
    assert not any(change.is_sure for change in found.phases)
    assert found.lines == ()


def test_steps_that_spread_widely_hide_a_small_difference():
    def uneven(factor):
        run = mlp_run(slow=())
        index = next(i for i, each in enumerate(run.records) if isinstance(each, PhasesRecord))
        seconds = tuple(0.02 * factor * (1 + 0.8 * (i % 5 - 2) / 2) for i in range(STEPS))
        run.records[index] = replace(run.records[index], data=seconds)
        return run

    assert not difference(uneven(1.0), uneven(1.2)).step.is_sure
    assert not any(change.is_sure for change in difference(uneven(1.0), uneven(1.2)).phases)
    assert difference(uneven(1.0), uneven(4.0)).step.is_sure


def test_many_alike_modules_that_each_changed_a_little_are_told_together():
    found = difference(gpt_run(block=6.0), gpt_run(block=7.5))
    assert "model.h.*.mlp.c_fc" in names(found.modules)
    assert not any(change.name.startswith("model.h.0") for change in found.modules)


def test_one_block_that_became_dear_is_told_by_itself():
    found = difference(gpt_run(), gpt_run(dear=5))
    assert found.modules[0].name == "model.h.5.attn"


def test_a_line_is_known_again_in_another_cell_and_place():
    old, new = mlp_run(slow=()), mlp_run(slow=())
    costs = next(iter(new.of(CostsRecord)))
    moved = [
        LineCost(
            place=Place(file="<cell 9>", line=each.place.line + 4, source=each.place.source),
            calls=each.calls, own=each.own, total=each.total, backward=each.backward, elsewhere=each.elsewhere,
        )
        for each in costs.lines
    ]  # fmt: skip
    new.records[new.records.index(costs)] = CostsRecord(lines=tuple(moved))
    found = difference(old, new)
    assert found.lines == ()


def test_what_is_new_and_what_is_gone_is_said():
    old, new = mlp_run(slow=()), mlp_run(slow=())
    costs = next(iter(new.of(CostsRecord)))
    added = LineCost(place=Place(file=CELL, line=12, source="check(net)"), calls=STEPS, own=0.2, total=0.2)
    new.records[new.records.index(costs)] = CostsRecord(lines=(*costs.lines[1:], added))
    found = {change.name: change for change in difference(old, new).lines}
    assert (found["check(net)"].before, found["check(net)"].after) == (None, pytest.approx(0.01))
    assert found["for x, y in loader:"].after is None


def test_profiles_without_steps_are_compared_as_a_whole():
    old, new = mlp_run(slow=()), Run()
    new.records += [each for each in old.records if type(each).__name__ == "ProfileRecord"]
    found = difference(old, new)
    assert found.phases == ()
    assert not found.step.is_sure


def idling(seconds):
    zeros = (0.0,) * len(seconds)
    steps = tuple(range(len(seconds)))
    record = PhasesRecord(
        steps=steps, data=zeros, transfer=zeros, forward=(1e-3,) * len(seconds), backward=zeros, optimizer=zeros,
        idle=seconds, other=zeros,
    )  # fmt: skip
    run = mlp_run()
    run.records[:] = [record if isinstance(each, PhasesRecord) else each for each in run.records]
    return run


def test_what_hardly_took_time_and_varied_hides_no_large_change():
    before = idling((0.0, 4e-4, 1e-5, 3e-4, 0.0, 4e-4, 2e-5, 2e-4, 0.0, 3e-4))
    after = idling((0.050, 0.051, 0.049, 0.050, 0.052, 0.050, 0.049, 0.051, 0.050, 0.050))
    (idle,) = (each for each in difference(before, after).phases if each.name == "idle")
    assert idle.is_sure
