"""This file tests the rule on reads by the host, on records written by hand."""

import pytest

from torchmagic.rules.speed.host_reads import host_reads

LINE = "total += loss.item()"


def reading(profiled, seconds, **where):
    return profiled.operator("item", 0.001, phase="other", **where).operator(
        "_local_scalar_dense", seconds - 0.001, phase="other"
    )


def test_the_line_and_its_seconds_are_told(profiled):
    run = reading(profiled, 0.05).line(LINE, own=0.06, reads=10).written()
    (found,) = host_reads(run)
    assert (found.source, found.line) == (LINE, 1)
    assert (
        found.title
        == "reading 1 value a step on the host takes 5.0 ms a step (5% of the time); saves up to all of that"
    )
    assert found.evidence["reads"] == 10


def test_less_than_three_percent_is_silent(profiled):
    assert not list(host_reads(reading(profiled, 0.029).line(LINE, own=0.06, reads=10).written()))


def test_no_line_takes_more_than_it_took(profiled):
    assert not list(host_reads(reading(profiled, 0.5).line(LINE, own=0.02, reads=10).written()))


def test_a_loop_over_values_costs_all_that_its_line_takes(profiled):
    run = reading(profiled, 0.01).line(LINE, own=0.4, operators=0.02, reads=2000).written()
    told = "reading 200 values a step on the host takes 40 ms a step (40% of the time)"
    assert next(host_reads(run)).title == f"{told}; saves up to all of that"


def test_a_line_that_computes_much_for_each_value_is_no_such_loop(profiled):
    assert not list(host_reads(reading(profiled, 0.01).line(LINE, own=0.4, operators=0.3, reads=2000).written()))


def test_lines_share_the_reads(profiled):
    run = reading(profiled, 0.08).line(LINE, own=0.2, reads=30).line("print(loss)", own=0.2, reads=10).written()
    assert [found.source for found in host_reads(run)] == [LINE]


def test_the_total_of_all_lines_is_told_where_there_are_several(profiled):
    run = reading(profiled, 0.16).line(LINE, own=0.2, reads=30).line("print(loss)", own=0.2, reads=10).written()
    told = [(found.evidence["lines that read"], found.evidence["seconds of all of them"]) for found in host_reads(run)]
    assert told == [(2, 0.16), (2, 0.16)]


def test_reads_of_the_optimizer_and_of_datasets_are_not_the_loops(profiled):
    profiled.operator("_local_scalar_dense", 0.2, phase="optimizer").operator("item", 0.2, phase="data")
    profiled.line("opt.step()", own=0.3, reads=100).line(
        "y = int(self.y[i])", own=0.3, reads=99, function="__getitem__"
    )
    assert not list(host_reads(profiled.line(LINE, own=0.1, reads=1).written()))


def test_an_evaluation_is_told_too_as_it_has_reads_of_its_own(profiled):
    run = reading(profiled.phase(backward=0.0).within(steps=0), 0.5).line(LINE, own=0.6, reads=9000).written()
    assert (
        next(host_reads(run)).title
        == "reading 9,000 values on the host takes 600 ms (60% of the time); saves up to all of that"
    )


@pytest.mark.parametrize("source", ["print(loss)", "display(loss)", "logging.info(loss)", "logger.info(loss)"])
@pytest.mark.parametrize(
    ("facts", "milliseconds"),
    [({"reads": 20}, "10"), ({"reads": 19}, "1.0"), ({"reads": 20, "operators": 0.0021}, "1.0")],
    ids=["as many as a tensor's", "fewer than a tensor's", "much is computed"],
)
def test_of_a_line_that_prints_a_tensor_all_is_told(profiled, source, facts, milliseconds):
    reading(profiled, 0.01).line(source, calls=4, own=0.1, **{"operators": 0.00199} | facts)
    (found,) = host_reads(profiled.written(), min_share=0.01)
    assert f"takes {milliseconds} ms" in found.title
    assert found.fix == "if step % 100 == 0:  # around this line"


@pytest.mark.parametrize(
    ("source", "reads", "fix"),
    [
        (LINE, 79, "total += value.detach()"),
        (LINE, 80, "one operator on all values"),
        ("if loss > 9:", 79, "if step % 100 == 0 and"),
        ("elif loss > 9:", 79, "if step % 100 == 0 and"),
        ("if guess[i] == y[i]:", 80, "one operator on all values"),
    ],
)
def test_what_to_try_fits_the_line(profiled, source, reads, fix):
    (found,) = host_reads(reading(profiled, 0.05).line(source, own=0.06, reads=reads).written())
    assert found.fix.startswith(fix)


def test_of_a_line_that_was_timed_only_at_first_the_reads_are_at_least_so_many(profiled):
    (found,) = host_reads(reading(profiled, 0.05).line(LINE, own=0.06, reads=10_000, complete=False).written())
    assert found.title.startswith("reading at least 1,000 values a step on the host takes 6.0 ms a step")


@pytest.mark.parametrize(("operators", "milliseconds"), [(0.00199, 40), (0.00201, 6)])
def test_in_a_loop_over_values_little_may_be_computed_for_each(profiled, operators, milliseconds):
    run = reading(profiled, 0.06).line(LINE, own=0.4, operators=operators, reads=100).written()
    assert f"takes {milliseconds}" in next(host_reads(run)).title


@pytest.mark.parametrize(("share", "told"), [(0.25, 1), (0.26, 0)])
def test_a_share_that_is_just_enough_is_told(profiled, share, told):
    run = reading(profiled, 0.5).line(LINE, own=0.25, reads=10).written()
    assert len(list(host_reads(run, min_share=share))) == told


def test_of_the_only_line_no_total_is_told(profiled):
    (found,) = host_reads(reading(profiled, 0.05).line(LINE, own=0.06, reads=10).written())
    assert "lines that read" not in found.evidence
