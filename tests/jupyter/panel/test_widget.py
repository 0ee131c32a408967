"""This file is the panel's widget on the kernel's side, without a browser."""

import pytest

from torchmagic.jupyter.panel.widget import Panel
from torchmagic.views.page import Page, Text

STATUS = {"state": "ok", "step": 3, "elapsed": 1.0, "overhead": None, "findings": {}}


@pytest.fixture
def panel(monkeypatch):
    panel = Panel(title="lr sweep")
    panel.sent = []
    monkeypatch.setattr(panel, "_send", lambda message, **_: panel.sent.append(message))
    yield panel
    panel.close()


def say(panel, kind):
    panel._handle_custom_msg({"type": kind}, [])


def test_stop_is_a_flag_that_the_training_reads(panel):
    assert panel.stop_requested is False
    say(panel, "stop")
    assert panel.stop_requested is True


def test_a_hello_is_answered_so_that_the_browser_knows_stop_will_work(panel):
    say(panel, "hello")
    assert panel.sent == [{"method": "custom", "content": {"type": "hello-ack"}}]


def test_an_update_is_one_message_with_status_and_pages(panel):
    panel.update(STATUS, {"Curves": Page(title="Curves", blocks=[Text(text="x")])})
    (message,) = panel.sent
    assert set(message["state"]) == {"status", "pages"}
    assert message["state"]["pages"]["Curves"]["blocks"] == [{"kind": "text", "text": "x", "strong": False}]


def test_a_browser_that_missed_an_update_gets_the_whole_state(panel):
    panel.update(STATUS, {})
    panel.sent.clear()
    say(panel, "resync")
    (message,) = panel.sent
    assert message["state"]["status"] == STATUS


def test_where_no_widget_can_be_shown_nothing_is_shown_in_its_place(panel):
    data, _ = panel._repr_mimebundle_()
    assert (data["text/html"], data["text/plain"]) == ("", "")
    assert "application/vnd.jupyter.widget-view+json" in data


def test_each_panel_has_an_id_of_its_own():
    first, second = Panel(), Panel()
    assert first.uid != second.uid
    assert Panel(uid="c0ffee").uid == "c0ffee"
