"""This file is the shelf of panels: how many stay alive, and which are closed."""

from torchmagic.jupyter.panel.shelf import Shelf


class FakePanel:
    """A panel whose run has ended, or not."""

    def __init__(self, *, ended=True):
        self.status = {"state": "ok" if ended else "running"}
        self.look = print
        self.closed = False

    def close(self):
        self.closed = True


def test_of_fifty_runs_the_newest_three_stay_alive():
    shelf, panels = Shelf(most=3), [FakePanel() for _ in range(50)]
    for place, panel in enumerate(panels):
        shelf.put(panel, cell_id=f"cell {place}")
    assert [panel.closed for panel in panels] == [True] * 47 + [False] * 3
    assert len(shelf) == 3


def test_a_cell_that_runs_again_closes_its_own_panel():
    shelf, panels = Shelf(), [FakePanel(), FakePanel(), FakePanel()]
    shelf.put(panels[0], cell_id="a")
    shelf.put(panels[1], cell_id="b")
    shelf.put(panels[2], cell_id="a")
    assert [panel.closed for panel in panels] == [True, False, False]


def test_a_run_that_goes_on_keeps_its_panel():
    shelf, running = Shelf(most=1), FakePanel(ended=False)
    shelf.put(running)
    shelf.put(FakePanel())
    assert not running.closed


def test_a_closed_panel_holds_its_run_no_longer():
    shelf, panel = Shelf(), FakePanel()
    shelf.put(panel)
    shelf.clear()
    assert panel.look is None
    assert len(shelf) == 0
