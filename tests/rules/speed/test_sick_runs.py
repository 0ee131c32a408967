"""This file tests all rules on speed alike: what they say of a sick run as a whole, and when they have to be silent."""

import os
from importlib import import_module
from pathlib import Path

import pytest

from tests.rules.speed.sick_runs import SICK
from torchmagic.records.profile import PhasesRecord, ProfileRecord
from torchmagic.rules.catalogue import RULES

GOLDEN = Path(__file__).parent / "sick_runs.txt"
RULE = {
    each.__name__: getattr(import_module(f"torchmagic.rules.speed.{each.__name__}"), each.__name__) for each in SICK
}
# What the reader of a profile without a backward is not told: it may be no training.
OF_TRAINING = [
    "double_precision", "layout_copies", "many_small_operators", "missing_mixed_precision", "python_loop", "slow_line",
    "slow_loading", "zeroed_gradients",
]  # fmt: skip
# What is weighed against the whole run, and not against the profile.
OF_THE_RUN = {"evaluation_graph", "graph_breaks", "recompiles", "restarted_workers", "small_batch"}
# What weighs phases, and says nothing where they are not known.
OF_PHASES = ["optimizer_loop", "slow_transfer", "thread_oversubscription", *OF_TRAINING]
# Of these more than twice the least is there, for other reasons.
DEAR = {"host_reads", "slow_transfer"}
each_sick_run = pytest.mark.parametrize("sick", SICK, ids=[each.__name__ for each in SICK])


def told(sick, run):
    """Return what a rule says of its sick run, each finding as lines."""
    for found in RULE[sick.__name__](run):
        yield f"{found.rule} ({found.confidence:g}): {found.title}"
        where = [found.module, found.optimizer, f"line {found.line}" if found.line else None, found.source]
        yield "    at " + " · ".join(filter(None, where)) if any(where) else "    nowhere"
        yield from (f"    {name}: {value}" for name, value in found.evidence.items())
        yield f"    why: {found.why}"
        yield f"    fix: {found.fix}"


def test_each_rule_on_speed_has_a_sick_run():
    assert sorted(RULE) == sorted(each.id.replace("-", "_") for each in RULES if each.group == "speed")


@each_sick_run
def test_a_sick_run_is_told_of_as_written(profiled, at, sick):
    sick(profiled, at)
    lines = [f"[{sick.__name__}]", *told(sick, profiled.written())]
    kept = dict(_blocks())
    if os.environ.get("UPDATE_GOLDEN"):
        kept[sick.__name__] = lines
        GOLDEN.write_text("\n\n".join("\n".join(kept[name]) for name in sorted(kept)) + "\n", encoding="utf-8")
    assert lines == kept.get(sick.__name__)


def _blocks():
    text = GOLDEN.read_text(encoding="utf-8").strip() if GOLDEN.exists() else ""
    for block in filter(None, text.split("\n\n")):
        yield block.partition("]")[0][1:], block.split("\n")


@each_sick_run
def test_without_a_profile_nothing_is_told(profiled, at, sick):
    sick(profiled, at)
    run = profiled.written()
    run.records = [each for each in run.records if not isinstance(each, ProfileRecord)]
    assert not list(RULE[sick.__name__](run))


@pytest.mark.parametrize(
    "sick", [each for each in SICK if each.__name__ not in OF_THE_RUN], ids=lambda each: each.__name__
)
def test_of_a_longer_time_it_is_too_small_a_part(profiled, at, sick):
    sick(profiled, at)
    more = (7 if sick.__name__ in DEAR else 1) * profiled.window["seconds"]
    profiled.within(seconds=profiled.window["seconds"] + more, processor=profiled.window["processor"] + more)
    assert not list(RULE[sick.__name__](profiled.written()))


@pytest.mark.parametrize("name", OF_TRAINING)
def test_what_does_not_train_is_left_alone(profiled, at, name):
    next(each for each in SICK if each.__name__ == name)(profiled, at)
    assert not list(RULE[name](profiled.phase(backward=0.0).written()))


@pytest.mark.parametrize("name", OF_PHASES)
def test_without_phases_nothing_is_told_that_weighs_them(profiled, at, name):
    next(each for each in SICK if each.__name__ == name)(profiled, at)
    run = profiled.written()
    run.records = [each for each in run.records if not isinstance(each, PhasesRecord)]
    assert not list(RULE[name](run, min_share=0.01))
