"""This file tests the page of the history."""

from datetime import datetime

import pytest
from golden_files import assert_golden

from torchmagic.session.history import Entry
from torchmagic.session.run import Status
from torchmagic.views.history import history_page, when
from torchmagic.views.page import Table, Text
from torchmagic.views.skins.text import as_text

NOW = datetime(2026, 3, 6, 15, 0).astimezone().timestamp()
HOUR, DAY = 3600.0, 86_400.0


def entry(number, *, ago=HOUR, **facts):
    known = {
        "id": f"id{number}", "name": "", "status": Status.OK, "started": NOW - ago, "seconds": 12.5, "cost": 0.25,
        "steps": 1200, "errors": 0, "warnings": 0, "infos": 0, "loss": (2.3, 1.5, 0.8, 0.4), "heading": "net = Net()",
    }  # fmt: skip
    return Entry(number=number, **{**known, **facts})


def table(entries):
    return next(block for block in history_page(entries, now=NOW).blocks if isinstance(block, Table))


def cells(entries, column):
    shown = table(entries)
    return [row[shown.columns.index(column)] for row in shown.rows]


@pytest.fixture
def entries():
    return [
        entry(1, ago=40 * DAY, heading="baseline"),
        entry(2, ago=2 * DAY, status=Status.LOST, errors=1, heading="wider", loss=(2.3, 5.0, float("nan"))),
        entry(3, ago=5 * HOUR, status=Status.ERROR, errors=2, warnings=1, infos=3, loss=(), steps=0, here=True),
        entry(4, ago=2 * HOUR, status=Status.INTERRUPTED, infos=2, here=True, seconds=7300.0),
        entry(5, note="warm-up helps", tags=("best", "lr"), here=True),
    ]


def test_the_history_reads_well(entries):
    assert_golden(history_page(entries, now=NOW), "history")


def test_the_newest_run_stands_first(entries):
    assert cells(entries, "run") == [5, 4, 3, 2, 1]


def test_recent_days_are_told_by_their_name():
    assert when(NOW - HOUR, now=NOW) == "today 14:00"
    assert when(NOW - DAY, now=NOW) == "Thu 15:00"
    assert when(NOW - 6 * DAY, now=NOW) == "Sat 15:00"
    assert when(NOW - 7 * DAY, now=NOW) == "2026-02-27"
    assert when(NOW + DAY, now=NOW) == "2026-03-07"
    assert when(NOW - HOUR, now=None) == "2026-03-06"


def test_shortly_after_midnight_yesterday_is_not_today():
    midnight = datetime(2026, 3, 6, 0, 5).astimezone().timestamp()
    assert when(midnight - 600, now=midnight) == "Thu 23:55"


def test_findings_are_counted_and_hints_only_where_there_is_nothing_worse(entries):
    assert cells(entries, "findings") == ["", "2 info", "2 errors, 1 warning", "1 error", ""]


def test_lost_runs_are_marked_and_said(entries):
    assert table(entries).marked == {3}
    (said,) = [block.text for block in history_page(entries, now=NOW).blocks[1:] if isinstance(block, Text)]
    assert said.startswith("Lost: the kernel of run 2 died while it went on; %torchsession show 2")


def test_tags_and_note_share_a_column_that_is_there_only_where_there_are_some(entries):
    assert cells(entries, "note")[0] == "#best #lr warm-up helps"
    assert "note" not in table(entries[:2]).columns


def test_an_empty_history_says_what_to_do():
    (said,) = history_page([]).blocks
    assert "%%torchdebug" in said.text


def test_it_fits_a_terminal_whatever_names_and_notes_say(entries):
    long = entry(6, heading="x" * 500, note="y " * 500, tags=("z" * 300,), errors=12, warnings=345)
    lines = as_text(history_page([*entries, long], now=NOW)).splitlines()
    assert max(map(len, lines)) <= 100


def test_a_run_without_time_has_no_cost():
    assert cells([entry(1, seconds=0.0), entry(2)], "cost") == ["2.0%", ""]
