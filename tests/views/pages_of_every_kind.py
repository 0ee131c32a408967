"""This file is pages of every kind, of the runs that other tests have written by hand."""

import runpy
from functools import cache
from pathlib import Path

import sample_pages
from profile_runs import gpt_run, mlp_run
from several_runs import bad, good

from torchmagic.session.history import Entry
from torchmagic.session.status import Status
from torchmagic.views.benchmark import benchmark_page
from torchmagic.views.comparison import comparison_page
from torchmagic.views.history import history_page
from torchmagic.views.pages import run_pages
from torchmagic.views.parameter_page import parameter_page
from torchmagic.views.tensor import tensor_page
from torchmagic.views.tensor_tree import tensor_tree_page

VIEWS = Path(__file__).parent


def written(path, name):
    """Return what a file of tests defines."""
    return runpy.run_path(str(VIEWS / path))[name]


@cache
def full_run():
    """Return the run in which everything was recorded that a page can tell."""
    return written("conftest.py", "full_run")()


@cache
def sets_of_pages():
    """Return pages as they stand together in a panel or in a copy, by what they are of."""
    loss = (2.3, 1.5, float("nan"))
    facts = {"name": "", "started": 0.0, "seconds": 12.5, "cost": 0.2, "steps": 9, "warnings": 0, "infos": 1}
    entries = [
        Entry(number=number, id=f"id{number}", status=status, errors=number, loss=loss, heading="net = Net()", **facts)
        for number, status in enumerate((Status.OK, Status.LOST))
    ]
    ranks = written("../rules/ranks/by_hand.py", "Made")(4).slow(2, "data", 0.02).run
    return {
        "sample": list(sample_pages.pages().values()),
        "run": run_pages(full_run()),
        "profile": run_pages(gpt_run(dear=1, layers=2)),
        "short profile": run_pages(mlp_run()),
        "ranks": run_pages(ranks),
        "comparison": [comparison_page([good(), bad()])],
        "history": [history_page(entries, now=86_400.0)],
        "benchmark": [benchmark_page(written("test_benchmark_page.py", "FOUND"))],
        "tensors": [
            tensor_page(written("test_tensor_pages.py", "RECORD")),
            tensor_tree_page(written("test_tensor_pages.py", "TREE")),
        ],
    }


def row_page():
    """Return what is told of one row of the parameters."""
    return parameter_page(full_run(), "net.weight")
