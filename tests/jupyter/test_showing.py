"""What is shown, when, and at what cost."""

import os
import threading

import pytest

from torchmagic.debuggers.settings import Level, PanelMode, Settings
from torchmagic.jupyter import showing as showing_file
from torchmagic.jupyter.showing import REFRESH_SHARE, SECONDS_BETWEEN_REFRESHES, Showing
from torchmagic.session.run import Run


class Clock:
    """Time that passes when told."""

    now = 100.0

    def __call__(self):
        return self.now


class FakePanel:
    """A panel that counts, and whose updates take time."""

    def __init__(self, clock, cost=0.0, opened_cost=0.0):
        self.clock, self.cost, self.opened_cost = clock, cost, opened_cost
        self.stop_requested, self.wish, self.open_tab, self.asked_row, self.look = False, None, "", "", None
        self.updates, self.opened, self.rows, self.status = 0, [], [], {}

    def update(self, status, *_, **__):
        self.updates += 1
        self.status = status
        self.clock.now += self.cost

    def show_opened(self, pages):
        self.opened += pages
        self.clock.now += self.opened_cost

    def tell_row(self, name, page):
        self.rows.append((name, page.title))


@pytest.fixture
def live():
    clock = Clock()
    showing = Showing(PanelMode.LIVE, front_end=True, clock=clock)
    showing._panel = FakePanel(clock)
    return showing


def test_refreshes_are_a_quarter_of_a_second_apart(live):
    for _ in range(1000):
        live.step(Run())
        live._clock.now += 0.01
    assert live._panel.updates == pytest.approx(10 / SECONDS_BETWEEN_REFRESHES, rel=0.1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_a_process_that_is_forked_off_leaves_the_panel_alone(live):
    child = os.fork()
    if not child:
        live.step(Run())
        os._exit(live._panel.updates)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    live.step(Run())
    assert live._panel.updates == 1


def test_the_panel_is_called_what_the_session_calls_its_run(monkeypatch):
    monkeypatch.setattr(showing_file, "display", lambda _panel: None)
    showing = Showing(PanelMode.LIVE, front_end=True, title="torchprofile")
    run = Run(name="lr sweep")
    showing.begin(run)
    assert showing._panel.title == "lr sweep"
    run.number = 4
    showing.end(run)
    assert showing._panel.title == "run 4: lr sweep"
    nameless = Showing(PanelMode.LIVE, front_end=True, title="torchprofile")
    nameless.begin(Run())
    assert nameless._panel.title == "torchprofile"
    Showing.shelf.clear()


def test_slow_refreshes_take_no_more_than_their_share(live):
    live._panel.cost = 0.1
    start = live._clock.now
    for _ in range(10_000):
        live.step(Run())
        live._clock.now += 0.01
    assert live._panel.updates * 0.1 / (live._clock.now - start) <= REFRESH_SHARE * 1.1
    assert live._panel.updates >= 10


def test_only_the_page_that_is_looked_at_is_drawn_beside_the_cheap_ones(live):
    live.step(Run())
    assert live._panel.opened == []
    live._panel.open_tab = "Parameters"
    live._clock.now += 1
    live.step(Run())
    assert live._panel.opened == ["Parameters"]


def test_a_dear_page_is_drawn_as_it_is_opened_and_then_as_rarely_as_it_must(live):
    live._panel.open_tab, live._panel.opened_cost = "Parameters", 0.05
    start, run = live._clock.now, Run()
    for _ in range(10_000):
        live.step(run)
        live._clock.now += 0.01
    drawn = len(live._panel.opened)
    assert drawn * 0.05 / (live._clock.now - start) <= REFRESH_SHARE / 2 * 1.1
    assert drawn > 10
    live._panel.open_tab = "Activations"
    live._clock.now += SECONDS_BETWEEN_REFRESHES
    live.step(run)
    assert live._panel.opened[-1] == "Activations"


@pytest.mark.parametrize("tab", ["Findings", "Nowhere", "__class__"])
def test_a_tab_that_is_cheap_or_does_not_exist_is_drawn_no_second_time(live, tab):
    live._panel.open_tab = tab
    live.step(Run())
    assert live._panel.opened == []


def test_a_row_that_was_opened_is_answered_once(live):
    live._panel.asked_row = "net.0.weight"
    for _ in range(3):
        live.step(Run())
        live._clock.now += 1
    assert live._panel.rows == [("net.0.weight", "net.0.weight")]


class FakeWatch:
    """A watch that takes other settings."""

    def __init__(self):
        self.wanted, self.changes = Settings(level="basic"), 0

    def change(self, settings):
        self.wanted = settings
        self.changes += 1


def test_a_wish_is_handed_on_once_between_two_steps(live):
    live.watch = FakeWatch()
    live._panel.wish = {"type": "change", "level": "expert"}
    live.step(Run())
    live.step(Run())
    assert (live.watch.wanted.level, live.watch.changes) == (Level.EXPERT, 1)
    assert live._panel.status["watching"]["level"] == "expert"


def test_a_wish_without_a_watch_is_dropped_and_no_controls_are_offered(live, capsys):
    live._panel.wish = {"type": "change", "level": "expert"}
    live.step(Run())
    assert live._panel.wish is None
    assert live._panel.status["watching"] is None
    assert capsys.readouterr().err == ""


def test_stop_interrupts_the_main_thread(live):
    live._panel.stop_requested = True
    with pytest.raises(KeyboardInterrupt):
        live.step(Run())


def test_stop_interrupts_the_main_thread_from_a_training_thread(live, monkeypatch):
    interrupted = []
    monkeypatch.setattr(showing_file._thread, "interrupt_main", lambda: interrupted.append(True))
    live._panel.stop_requested = True
    thread = threading.Thread(target=live.step, args=(Run(),))
    thread.start()
    thread.join()
    assert interrupted == [True]


def test_a_failing_refresh_is_told_once_and_disturbs_nothing(live, capsys):
    def fail(*_, **__):
        raise OSError("no comm today")

    live._panel.update = fail
    for _ in range(3):
        live.step(Run())
        live._clock.now += 1
    assert capsys.readouterr().err == (
        "torchmagic: could not refresh the panel (OSError: no comm today); the cell itself is not affected\n"
    )


@pytest.mark.parametrize("mode", [PanelMode.LIVE, PanelMode.END, PanelMode.TEXT])
def test_without_a_front_end_the_result_is_text(mode, capsys):
    showing = Showing(mode, front_end=False)
    run = Run(name="a run")
    showing.begin(run)
    showing.step(run)
    assert capsys.readouterr().out == ""
    showing.end(run)
    assert capsys.readouterr().out.startswith("a run")


def test_none_shows_nothing(capsys):
    showing = Showing(PanelMode.NONE, front_end=False)
    run = Run()
    showing.begin(run)
    showing.step(run)
    showing.end(run)
    assert capsys.readouterr() == ("", "")
