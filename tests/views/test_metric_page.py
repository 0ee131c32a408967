"""This file tests the page of one metric."""

import math

import pytest
from golden_files import assert_golden
from several_runs import bad, good

from torchmagic.session.run import Run
from torchmagic.views.metric import MOST_LINES, metric_page
from torchmagic.views.page import Plot, Table, Text

NAMES = [f"net.{i}.weight" for i in range(40)]


def deep():
    run = Run()
    for step in range(5):
        run.frame("grad_norm", ("",)).append(step, (1.0,))
        run.frame("grad_norm", NAMES).append(step, [10.0**-i for i in range(40)])
    return run


def only(page, kind):
    return next(block for block in page.blocks if isinstance(block, kind))


def test_a_metric_of_several_runs_reads_well():
    assert_golden(metric_page([good(), bad()], "loss"), "metric")


def test_without_a_parameter_the_whole_run_is_told():
    plot = only(metric_page([deep()], "grad_norm"), Plot)
    assert [line.values for line in plot.lines] == [[1.0] * 5]


def test_a_pattern_chooses_parameters_and_their_names_stand_at_their_curves():
    page = metric_page([deep()], "grad_norm", parameter="net.1?.weight")
    assert [line.name for line in only(page, Plot).lines] == NAMES[10:20]
    assert only(page, Plot).log
    assert [row[0] for row in only(page, Table).rows] == NAMES[10:20]


def test_too_many_curves_are_drawn_from_first_to_last_and_the_rest_said():
    page = metric_page([deep()], "grad_norm", parameter="*")
    drawn = [line.name for line in only(page, Plot).lines]
    assert (len(drawn), drawn[0], drawn[-1]) == (MOST_LINES, NAMES[0], NAMES[-1])
    assert page.blocks[0].text == ("12 of 40 curves are drawn, the table has them all; name fewer parameters.")
    assert len(only(page, Table).rows) == 40


def test_a_run_without_the_metric_is_named():
    page = metric_page([good(), deep()], "loss")
    assert only(page, Text).text == "run B has no loss."


def test_a_curve_that_is_not_finite_is_marked():
    run = good()
    run.frame("loss", ("loss",)).append(40, (math.nan,))
    assert only(metric_page([good(), run], "loss"), Table).marked == {1}


@pytest.mark.parametrize(
    ("metric", "parameter", "said"),
    [
        ("los", "", "metric: 'los' was not recorded in these runs; did you mean 'loss'? Known: eval_loss, grad_norm,"),
        ("grad_norm", "net.wight", "parameter: 'net.wight' is none of those that grad_norm was recorded for; did you"),
        ("rss_bytes", "net.*", "parameter: rss_bytes is one number for the whole run; leave out 'net.*'"),
    ],
)
def test_what_is_not_there_is_one_line_with_the_nearest_that_is(metric, parameter, said):
    with pytest.raises(ValueError, match=r"^(metric|parameter): ") as caught:
        metric_page([good()], metric, parameter=parameter)
    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


def test_runs_in_which_nothing_was_recorded_say_so():
    with pytest.raises(ValueError, match="nothing was trained in these runs"):
        metric_page([Run()], "loss")
