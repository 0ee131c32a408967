"""This file tests the rule on reads by the host, on records written by hand."""

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
    assert found.title == "reading 1 value a step on the host takes 5.0 ms a step (5% of the time)"
    assert found.evidence["reads"] == 10


def test_less_than_three_percent_is_silent(profiled):
    assert not list(host_reads(reading(profiled, 0.029).line(LINE, own=0.06, reads=10).written()))


def test_no_line_takes_more_than_it_took(profiled):
    assert not list(host_reads(reading(profiled, 0.5).line(LINE, own=0.02, reads=10).written()))


def test_a_loop_over_values_costs_all_that_its_line_takes(profiled):
    run = reading(profiled, 0.01).line(LINE, own=0.4, operators=0.02, reads=2000).written()
    assert next(host_reads(run)).title == "reading 200 values a step on the host takes 40 ms a step (40% of the time)"


def test_a_line_that_computes_much_for_each_value_is_no_such_loop(profiled):
    assert not list(host_reads(reading(profiled, 0.01).line(LINE, own=0.4, operators=0.3, reads=2000).written()))


def test_lines_share_the_reads(profiled):
    run = reading(profiled, 0.08).line(LINE, own=0.2, reads=30).line("print(loss)", own=0.2, reads=10).written()
    assert [found.source for found in host_reads(run)] == [LINE]


def test_reads_of_the_optimizer_and_of_datasets_are_not_the_loops(profiled):
    profiled.operator("_local_scalar_dense", 0.2, phase="optimizer").operator("item", 0.2, phase="data")
    profiled.line("opt.step()", own=0.3, reads=100).line(
        "y = int(self.y[i])", own=0.3, reads=99, function="__getitem__"
    )
    assert not list(host_reads(profiled.line(LINE, own=0.1, reads=1).written()))


def test_an_evaluation_is_told_too_as_it_has_reads_of_its_own(profiled):
    run = reading(profiled.phase(backward=0.0).within(steps=0), 0.5).line(LINE, own=0.6, reads=9000).written()
    assert next(host_reads(run)).title == "reading 9,000 values on the host takes 600 ms (60% of the time)"
