"""This file is the making of a cell's run: what was asked for, the user's names, and where it is shown."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from torchmagic.jupyter.asked import Asked, Together
from torchmagic.jupyter.cell_names import cell_names

if TYPE_CHECKING:
    from torchmagic.jupyter.cell_run import CellRun


class RunMaker:
    """Makes the runs of one shell.

    Args:
        shell: The shell.
        configuration: What holds for all panels.
    """

    def __init__(self, shell: Any, configuration: Any) -> None:
        self._shell, self._configuration = shell, configuration

    def __call__(
        self, asked: Sequence[Asked], info: Any, *, source: str | None = None, automatic: bool = False
    ) -> "CellRun":
        """Return a run, not yet open.

        Args:
            asked: What its headers ask for.
            info: IPython's account of the cell; None for what runs silently.
            source: What was typed; None is the whole cell.
            automatic: Whether nobody asked for it by a header.
        """
        # What only runs need is loaded with the first of them: loading the extension is to cost next to nothing.
        from torchmagic.jupyter.cell_run import CellRun  # noqa: PLC0415
        from torchmagic.jupyter.showing import Showing  # noqa: PLC0415

        together = Together(asked=asked)
        Showing.shelf.most = self._configuration.living_panels
        showing = Showing(
            together.settings.panel,
            front_end=getattr(self._shell, "kernel", None) is not None,
            cell_id=getattr(info, "cell_id", None),
            title=together.title,
            doing=together.doing,
            quiet=together.is_quiet,
        )
        typed = getattr(info, "raw_cell", "") if source is None else source
        return CellRun(
            together,
            namespace=self._shell.user_ns,
            showing=showing,
            source=typed,
            automatic=automatic,
            file_names=partial(cell_names, self._shell, self._shell.execution_count),
        )
