"""This file tests the memory use of a run by category."""

from torchmagic.analyses.memory_use import memory_use
from torchmagic.session.run import Run

CATEGORIES = ("parameters", "activations", "other")


def test_the_peak_is_where_the_known_categories_are_largest_together():
    run = Run()
    for step, row in enumerate(((5, 1, 100), (5, 9, 50), (5, 3, 900))):
        run.frame("memory_bytes", CATEGORIES).append(step, row)
    use = memory_use(run)
    assert (use.step, dict(use.peak), use.other) == (1, {"parameters": 5, "activations": 9}, 50)
    assert use.series["activations"] == [1, 9, 3]


def test_a_run_that_was_thinned_has_the_same_steps_in_each_category():
    run = Run()
    frame = run.frame("memory_bytes", CATEGORIES)
    frame.max_rows = 8
    for step in range(100):
        frame.append(step, (step == 33, step == 57, 0))
    use = memory_use(run)
    assert len(use.steps) == len(use.series["parameters"]) == len(use.series["activations"])


def test_a_run_whose_memory_was_not_measured_has_none():
    assert memory_use(Run()) is None
