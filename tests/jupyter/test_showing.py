"""What is shown, when, and at what cost."""

import threading

import pytest

from torchmagic.debuggers.settings import PanelMode
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

    stop_requested = False

    def __init__(self, clock, cost=0.0):
        self.clock, self.cost, self.updates = clock, cost, 0

    def update(self, *_state):
        self.updates += 1
        self.clock.now += self.cost


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


def test_slow_refreshes_take_no_more_than_their_share(live):
    live._panel.cost = 0.1
    start = live._clock.now
    for _ in range(10_000):
        live.step(Run())
        live._clock.now += 0.01
    assert live._panel.updates * 0.1 / (live._clock.now - start) <= REFRESH_SHARE * 1.1
    assert live._panel.updates > 10


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
    def fail(*state):
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
