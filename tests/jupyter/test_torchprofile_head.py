"""What the panel's head says of a profile that goes on, and that nothing else of the panel is refreshed meanwhile."""

import pytest

from torchmagic.debuggers.settings import PanelMode
from torchmagic.jupyter.profile_head import doing
from torchmagic.jupyter.showing import Showing
from torchmagic.profiling.settings import ProfileSettings
from torchmagic.session.run import Run


@pytest.mark.parametrize(
    ("settings", "steps", "said"),
    [
        ({}, 0, "profiling"),
        ({}, 1, "warming up; steps 3–22 are profiled"),
        ({}, 2, "profiling steps 3–22"),
        ({}, 21, "profiling steps 3–22"),
        ({}, 22, "profiled, running on"),
        ({"wait": 1000, "steps": 5}, 999, "waiting; steps 1,003–1,007 are profiled"),
        ({"quick": True}, 3, "profiling steps 2–4"),
        ({"quick": True}, 4, "profiled, running on"),
        ({"warmup": 0, "steps": 1}, 1, "profiled, running on"),
    ],
)
def test_the_head_says_which_steps_are_profiled(settings, steps, said):
    assert doing(ProfileSettings(**settings), steps) == said


class Panel:
    """A panel that keeps what it is told."""

    stop_requested, wish, open_tab, asked_row = False, None, "Parameters", "net.weight"

    def __init__(self):
        self.told, self.opened = [], []

    def update(self, status, pages, *, names):
        self.told.append((status["doing"], status["watching"], dict(pages), list(names)))

    def show_opened(self, pages):
        self.opened.append(pages)

    def tell_row(self, name, page):
        self.opened.append((name, page.title))


@pytest.fixture
def run():
    run = Run()
    run.steps = 4
    return run


def test_while_a_profile_goes_on_only_its_head_is_refreshed(run):
    showing = Showing(PanelMode.LIVE, front_end=True, doing=lambda steps: f"at {steps}", quiet=True)
    panel = showing._panel = Panel()
    showing.step(run)
    assert panel.told == [("at 4", None, {}, [])]
    assert panel.opened == []


def test_a_watched_run_beside_it_has_its_pages_and_the_words(run):
    showing = Showing(PanelMode.LIVE, front_end=True, doing=lambda steps: f"at {steps}")
    panel = showing._panel = Panel()
    showing.step(run)
    ((said, _, pages, names),) = panel.told
    assert (said, list(pages)) == ("at 4", ["Findings", "Curves"])
    assert "Parameters" in names
    assert panel.opened[0] == ("net.weight", "net.weight")
