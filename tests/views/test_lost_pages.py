"""This file tests what is told of a run whose process died."""

import os
import time

import pytest
from golden_files import assert_golden
from several_runs import lost

from torchmagic.session.run import Run, Status
from torchmagic.views.findings import findings_page
from torchmagic.views.lost import lost_pages
from torchmagic.views.page import Findings, Plot


@pytest.fixture
def in_utc():
    """Let the clock of this place be UTC, so that times can be compared with a file."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def lead(run):
    return lost_pages(run)[0].blocks[0]


def memory_words(run):
    return lost_pages(run)[0].blocks[1].text


@pytest.mark.usefixtures("in_utc")
def test_a_lost_run_reads_well():
    assert_golden(lost_pages(lost())[:1], "lost")


def test_what_happened_comes_first_then_findings_memory_and_curves():
    blocks = lost_pages(lost())[0].blocks
    assert blocks[0].strong
    assert isinstance(blocks[2], Findings)
    assert [block.title for block in blocks if isinstance(block, Plot)][:2] == ["memory of the process, GiB", "loss"]


def test_all_other_pages_follow_folded():
    pages = lost_pages(lost())[1:]
    assert {"Findings", "Curves", "Parameters"} <= {page.title for page in pages}
    assert all(page.folded for page in pages)


def test_memory_is_named_as_the_cause_only_where_the_records_say_so():
    assert "Only 96 MiB were free: it was probably killed because memory ran out." in memory_words(lost())
    assert "probably killed" not in memory_words(lost(free=2**36))
    assert "64 GiB were free. Memory is the cause only if" in memory_words(lost(free=2**36))
    assert "How much memory was free was not recorded." in memory_words(lost(free=None))


def test_a_run_of_which_nothing_was_seen_is_told_too():
    run = Run()
    run.status = Status.LOST
    assert lead(run).text == "The kernel died as this run began: nothing of it was seen."


def test_the_page_of_findings_does_not_call_a_lost_run_good():
    run = lost()
    assert findings_page(run).blocks[0].text == "The kernel died after 20 steps. 1 error up to then."
    run.findings = ()
    assert findings_page(run).blocks[0].text == "The kernel died after 20 steps. No findings up to then."
