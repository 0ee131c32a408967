"""This file is the wire skin."""

import json
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torchmagic.views.page import Line, Page, Plot, Table
from torchmagic.views.skins.wire import as_wire, thinned


def test_every_kind_of_block_is_json(page, hostile_page, empty_page):
    for one in (page, hostile_page, empty_page):
        wired = as_wire(one)
        assert json.loads(json.dumps(wired, allow_nan=False)) == wired


def test_kinds_are_named(page):
    kinds = [block["kind"] for block in as_wire(page)["blocks"]]
    first = ["text", "findings", "plot", "bars", "table", "shares", "facts", "code", "plot", "diff"]
    assert kinds == [*first, "flame", "source", "fold"]


def test_a_fold_carries_its_blocks(page):
    fold = as_wire(page)["blocks"][-1]
    assert fold["title"] == "More"
    assert [block["kind"] for block in fold["blocks"]] == ["text", "table"]


def test_a_small_curve_travels_as_its_drawing_and_its_words(page):
    cells = [row[-1] for row in as_wire(page)["blocks"][4]["rows"]]
    assert cells == [
        {"trend": "█▅▁", "told": "3 → 1, min 1, max 3"},
        None,
        {"trend": "▁█x", "told": "1 → 1000, min 1, max 1000, 1 not finite, from value 2"},
    ]


def test_lines_that_stand_on_each_other_keep_the_same_steps():
    steps = list(range(1000))
    lines = [
        Line(name=name, steps=steps, values=[float(step % n) for step in steps]) for name, n in (("a", 7), ("b", 3))
    ]
    wired = as_wire(Page(title="", blocks=[Plot(title="", lines=lines, stacked=True)]))["blocks"][0]
    assert wired["stacked"]
    assert wired["lines"][0]["steps"] == wired["lines"][1]["steps"]
    assert 200 < len(wired["lines"][0]["steps"]) <= 400


def test_what_is_not_finite_travels_as_a_word():
    table = Table(columns=["a"], rows=[[math.nan], [math.inf], [-math.inf], [None], [np.float32(0.5)], [np.int64(3)]])
    rows = as_wire(Page(title="", blocks=[table]))["blocks"][0]["rows"]
    assert rows == [["nan"], ["inf"], ["-inf"], [None], [0.5], [3]]


def test_findings_arrive_in_reading_order_with_their_fix_in_parts(page):
    root, guess = as_wire(page)["blocks"][1]["findings"]
    assert (root["rule"], guess["rule"]) == ("exploding-gradients", "dead-relu")
    assert [one["rule"] for one in root["consequences"]] == ["non-finite-loss"]
    assert root["copy"] == root["code"] == "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)"
    assert guess["doubtful"]
    assert (guess["fix"], guess["code"], guess["copy"]) == ("Try `nn.LeakyReLU`.", "", "nn.LeakyReLU")


def test_a_long_line_ends_where_the_run_stands():
    values = [float(i % 100) for i in range(10_049)] + [20.5]  # the last is no extreme of its stretch
    thin = thinned(Line(name="x", steps=[float(i) for i in range(10_050)], values=values))
    assert (thin.steps[-1], thin.values[-1]) == (10_049.0, 20.5)
    assert len(thin.values) <= 402


@given(st.lists(st.floats(width=32), min_size=1, max_size=3000))
def test_a_thinned_line_keeps_its_ends_extremes_and_first_loss(values):
    steps = [float(i) for i in range(len(values))]
    thin = thinned(Line(name="x", steps=steps, values=values), num_points=100)
    assert len(thin.values) <= 155
    assert (thin.steps[0], thin.steps[-1]) == (steps[0], steps[-1])
    assert list(thin.steps) == sorted(set(thin.steps))
    finite = [value for value in values if math.isfinite(value)]
    if finite:
        assert {min(finite), max(finite)} <= set(thin.values)
    lost = [step for step, value in zip(steps, values, strict=True) if not math.isfinite(value)]
    if lost:
        assert lost[0] in thin.steps
