"""This file is the shelf of panels: the newest few stay alive, the others leave their static copies behind."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchmagic.jupyter.panel.widget import Panel


class Shelf:
    """The panels of this process that are alive, oldest first.

    Each is a connection between browser and kernel, and pages held in both.

    Args:
        most: How many may be alive.
    """

    def __init__(self, *, most: int = 3) -> None:
        self.most = most
        self._panels: list[tuple[str | None, Panel]] = []

    def __len__(self) -> int:
        return len(self._panels)

    def put(self, panel: "Panel", *, cell_id: str | None = None) -> None:
        """Take in a new panel, and close the one of the same cell and those of ended runs that are too many.

        Args:
            panel: The panel of a run that begins.
            cell_id: The notebook's name for its cell; None where that is not known.
        """
        same = [each for name, each in self._panels if cell_id is not None and name == cell_id]
        ended = [each for _, each in self._panels if each.status["state"] != "running" and each not in same]
        for each in [*same, *ended[: max(0, len(self._panels) - len(same) + 1 - self.most)]]:
            self._close(each)
        self._panels.append((cell_id, panel))

    def clear(self) -> None:
        """Close every panel."""
        for _, panel in tuple(self._panels):
            self._close(panel)

    def _close(self, panel: "Panel") -> None:
        self._panels = [(name, each) for name, each in self._panels if each is not panel]
        panel.close()
        panel.look = None
