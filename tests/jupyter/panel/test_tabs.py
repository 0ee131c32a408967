"""This file is the panel's tabs and the page of one parameter."""

from torchmagic.jupyter.panel.tabs import CHEAP, LIVE, TABS, tab_pages
from torchmagic.records.model import ParameterRecord
from torchmagic.session.run import Run


def test_the_tabs_stand_in_the_order_in_which_they_are_read():
    assert LIVE == ("Findings", "Curves", "Parameters", "Activations", "Memory", "Time", "Data", "Run")
    assert set(CHEAP) <= set(LIVE) <= set(TABS)


def test_a_page_is_called_by_its_tab():
    run = Run()
    assert {name: draw(run).title for name, draw in TABS.items()} == {name: name for name in TABS}


def test_tabs_with_nothing_to_tell_are_left_out():
    run = Run()
    assert "Parameters" not in tab_pages(run)
    run.records.append(parameter("net.weight"))
    assert "Parameters" in tab_pages(run)


def parameter(name):
    return ParameterRecord(
        name=name, model="net", module="net", shape=(2, 2), dtype="float32", device="cpu", trainable=True
    )
