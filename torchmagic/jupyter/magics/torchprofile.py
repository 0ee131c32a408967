"""This file is the ``%%torchprofile`` magic: its cell form for programs, and its line form."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand, output_can_be_silenced

from torchmagic.api.profile_request import ProfileRequest
from torchmagic.jupyter.asked import Asked
from torchmagic.jupyter.cell_magics import TORCHPROFILE, asks
from torchmagic.jupyter.cell_names import cell_names, newest_cell
from torchmagic.jupyter.cells import Cells
from torchmagic.jupyter.line_ranges import LineRanges
from torchmagic.jupyter.parsing import answer, no_statement, parse
from torchmagic.jupyter.profile_head import doing
from torchmagic.jupyter.statements import execute

if TYPE_CHECKING:
    from torchmagic.probes.probe import Probe

_NAME = TORCHPROFILE.name


@magics_class
class TorchprofileMagics(Magics):
    """The home of ``%%torchprofile``.

    Args:
        shell: The shell.
        configuration: Defaults of the options.
        cells: The cells that are running.
        line_ranges: The ranges around the lines of cells.
    """

    shell: Any

    def __init__(self, shell: Any, configuration: Any, cells: Cells, line_ranges: LineRanges) -> None:
        super().__init__(shell)
        self.configuration = configuration
        self.cells = cells
        self.line_ranges = line_ranges

    @output_can_be_silenced
    @no_var_expand
    @line_cell_magic
    def torchprofile(self, line: str, cell: str | None = None) -> Any:
        """Profile the PyTorch code of a cell: where time and memory go, by line, module, operator and phase.

        ::

            %%torchprofile [options]            profile this cell
            %torchprofile [options] STATEMENT   profile one statement

        The cell runs as if the line were not there. Of a cell that trains, 20 optimizer steps are profiled, after 2 to
        warm up; the rest runs on as ever. A cell without optimizer steps is profiled whole. What to do about it comes
        first, then the lines of the cell with their times, modules, operators, memory (``--memory``) and data loaders.

        ``%torchprofile --help`` lists the options, Tab completes them, ``%config TorchMagic`` sets their defaults
        (``profile_steps`` and so on), and ``%torchprofile --explain RULE`` prints a rule's page.

        Examples::

            %%torchprofile --quick
            %%torchprofile --steps 50 --memory --trace trace.json
            %%torchprofile --baseline last --name "with channels_last"
            %torchprofile model(x)
        """
        if asks(line):
            print(answer(TORCHPROFILE, line))  # noqa: T201 - it is what was asked for
            return None
        request, statement = self._parsed(line)
        if cell is not None and statement:
            raise UsageError(no_statement(TORCHPROFILE, statement))
        code = statement if cell is None else cell
        if not code:
            raise UsageError(f"%{_NAME} wants a statement to profile, or --help; %%{_NAME} profiles a cell")
        return execute(code, self.cells, partial(self._asked, request, newest_cell(self.shell)))

    def read(self, options: str) -> Asked:
        """Return what a header asks for.

        Raises:
            UsageError: If something is wrong with it.
        """
        request, statement = self._parsed(options)
        if statement:
            raise UsageError(no_statement(TORCHPROFILE, statement))
        return self._asked(request, newest_cell(self.shell))

    def _parsed(self, line: str) -> tuple[ProfileRequest, str]:
        return parse(TORCHPROFILE, line, self.configuration.profile_values())

    def _asked(self, request: ProfileRequest, number: int) -> Asked:
        # What a profile needs loads with the first of them.
        from torchmagic.api.profile import kept, probes  # noqa: PLC0415

        try:
            settings = kept(request)
        except ValueError as error:
            raise UsageError(f"%%{_NAME}: {error}") from None

        file_names = partial(cell_names, self.shell, number)

        def make(names: Mapping[str, Any]) -> "Sequence[Probe]":
            return probes(request, names, lines=self.line_ranges.take(), file_names=file_names)

        return Asked(
            magic=TORCHPROFILE,
            settings=request.watch,
            kept=settings,
            probes=make,
            doing=partial(doing, request.profiling),
        )
