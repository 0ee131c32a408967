"""This file is the panel's widget on the kernel's side, without a browser."""

import pytest

from torchmagic.jupyter.panel.widget import Panel
from torchmagic.views.page import Page, Text

STATUS = {"state": "ok", "step": 3, "elapsed": 1.0, "overhead": None, "findings": {}}
CURVES = Page(title="Curves", blocks=[Text(text="x")])


@pytest.fixture
def panel(monkeypatch):
    panel = Panel(title="lr sweep")
    panel.sent = []
    monkeypatch.setattr(panel, "_send", lambda message, **_: panel.sent.append(message))
    yield panel
    panel.close()


def say(panel, kind, **more):
    panel._handle_custom_msg({"type": kind, **more}, [])


def test_stop_is_a_flag_that_the_training_reads(panel):
    assert panel.stop_requested is False
    say(panel, "stop")
    assert panel.stop_requested is True


def test_a_hello_is_answered_so_that_the_browser_knows_stop_will_work(panel):
    say(panel, "hello")
    assert panel.sent == [{"method": "custom", "content": {"type": "hello-ack"}}]


def test_an_update_is_one_message_with_status_tabs_and_pages(panel):
    panel.update(STATUS, {"Curves": CURVES})
    (message,) = panel.sent
    assert set(message["state"]) == {"status", "names", "pages"}
    assert message["state"]["names"] == ["Curves"]
    assert message["state"]["pages"]["Curves"]["blocks"] == [{"kind": "text", "text": "x", "strong": False}]


def test_what_has_not_changed_is_not_sent_again(panel):
    panel.update(STATUS, {"Curves": CURVES}, names=["Curves", "Parameters"])
    panel.show_opened({"Parameters": Page(title="Parameters", blocks=[])})
    panel.sent.clear()
    panel.update({**STATUS, "step": 4}, {"Curves": CURVES}, names=["Curves", "Parameters"])
    (message,) = panel.sent
    assert set(message["state"]) == {"status"}


def test_the_result_replaces_the_page_that_was_open(panel):
    panel.show_opened({"Parameters": Page(title="Parameters", blocks=[])})
    panel.finish(STATUS, {"Curves": CURVES}, lambda _name: CURVES)
    assert panel.opened == {}
    assert list(panel.pages) == ["Curves"]


def test_a_browser_that_missed_an_update_gets_the_whole_state(panel):
    panel.update(STATUS, {})
    panel.sent.clear()
    say(panel, "resync")
    (message,) = panel.sent
    assert message["state"]["status"] == STATUS


def test_while_the_run_goes_on_a_wish_a_tab_and_a_row_are_only_noted(panel):
    say(panel, "change", level="expert")
    say(panel, "tab", name="Parameters")
    say(panel, "row", name="net.0.weight")
    assert (panel.wish, panel.open_tab, panel.asked_row) == (
        {"type": "change", "level": "expert"},
        "Parameters",
        "net.0.weight",
    )
    assert panel.sent == []


def test_once_the_run_is_over_a_row_is_answered_at_once(panel):
    panel.finish(STATUS, {}, lambda name: Page(title=name, blocks=[]))
    panel.sent.clear()
    say(panel, "row", name="net.0.weight")
    page = {"title": "net.0.weight", "folded": False, "blocks": []}
    assert panel.sent == [{"method": "custom", "content": {"type": "row", "name": "net.0.weight", "page": page}}]


@pytest.mark.parametrize("message", [{}, {"type": "row"}, {"type": "tab", "name": 3}, {"type": ["stop"]}])
def test_a_message_that_makes_no_sense_does_no_harm(panel, message):
    panel._handle_custom_msg(message, [])
    assert panel.stop_requested is False


def test_where_no_widget_can_be_shown_nothing_is_shown_in_its_place(panel):
    data, _ = panel._repr_mimebundle_()
    assert (data["text/html"], data["text/plain"]) == ("", "")
    assert "application/vnd.jupyter.widget-view+json" in data


def test_each_panel_has_an_id_of_its_own():
    first, second = Panel(), Panel()
    assert first.uid != second.uid
    assert Panel(uid="c0ffee").uid == "c0ffee"
