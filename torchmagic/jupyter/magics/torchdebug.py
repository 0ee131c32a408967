"""This file is the ``%%torchdebug`` magic: its cell form for programs, its line form, and watching until told off."""

from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand, output_can_be_silenced

from torchmagic.debuggers.settings import Settings
from torchmagic.debuggers.switches import switches
from torchmagic.jupyter.cells import Cell, Cells
from torchmagic.jupyter.options import MAGIC, asks
from torchmagic.jupyter.parsing import answer, no_statement, parse
from torchmagic.jupyter.tracebacks import remove_our_frames
from torchmagic.jupyter.user_code import UserCode
from torchmagic.jupyter.wall import tell_once

if TYPE_CHECKING:
    from torchmagic.jupyter.cell_run import CellRun


@magics_class
class TorchdebugMagics(Magics):
    """The home of ``%%torchdebug``.

    Args:
        shell: The shell.
        configuration: Defaults of the options.
    """

    shell: Any

    def __init__(self, shell: Any, configuration: Any) -> None:
        super().__init__(shell)
        self.configuration = configuration
        self.cells = Cells(shell, self._asked_run, self._automatic_run)
        self._automatic: str | None = None  # the options of what is watched without being asked for

    @output_can_be_silenced
    @no_var_expand
    @line_cell_magic
    def torchdebug(self, line: str, cell: str | None = None) -> Any:
        """Watch the PyTorch training of a cell: findings, curves, parameters, memory and time.

        ::

            %%torchdebug [options]            watch this cell
            %torchdebug [options] STATEMENT   watch one statement
            %torchdebug on [options]          watch every following cell that runs a model
            %torchdebug off                   no longer

        The cell runs as if the line were not there. ``%torchdebug --help`` lists the options, Tab completes them,
        ``%config TorchMagic`` sets their defaults, and ``%torchdebug --explain RULE`` prints a rule's page.
        """
        word, _, options = line.strip().partition(" ")
        question = options if word in ("on", "off") else line
        if asks(question):
            print(answer(question))  # noqa: T201 - it is what was asked for
            return None
        if cell is None and word in ("on", "off"):
            return self._switch(word, options)
        settings, statement = self._parsed(line)
        if cell is not None and statement:
            raise UsageError(no_statement(statement))
        code = statement if cell is None else cell
        if not code:
            raise UsageError(f"%{MAGIC} wants a statement to watch, or on, off or --help; %%{MAGIC} watches a cell")
        return self._execute(code, settings)

    def _switch(self, word: str, options: str) -> None:
        _, rest = self._parsed(options)
        if rest or (word == "off" and options.strip()):
            raise UsageError(f"%{MAGIC} {word} takes {'no' if word == 'off' else 'only'} options, got {options!r}")
        self._automatic = options if word == "on" else None

    def _parsed(self, line: str) -> tuple[Settings, str]:
        return parse(line, switches.over(self.configuration.values_by_field()))

    def _asked_run(self, options: str, info: Any) -> "CellRun":
        """The run of a cell with a header."""
        settings, statement = self._parsed(options)
        if statement:
            raise UsageError(no_statement(statement))
        return self._run(settings, info, source=getattr(info, "raw_cell", ""))

    def _automatic_run(self, info: Any) -> "CellRun | None":
        """The run of a cell without a header, between on and off."""
        if self._automatic is None or info.raw_cell.lstrip().startswith(f"%%{MAGIC}"):
            return None
        settings, _ = self._parsed(self._automatic)  # anew: switches and defaults may have changed
        return self._run(settings, info, source=info.raw_cell, automatic=True)

    def _run(self, settings: Settings, info: Any, *, source: str, automatic: bool = False) -> "CellRun":
        # What only runs need is loaded with the first of them: loading the extension is to cost next to nothing.
        from torchmagic.jupyter.cell_run import CellRun  # noqa: PLC0415
        from torchmagic.jupyter.showing import Showing  # noqa: PLC0415

        has_front_end = getattr(self.shell, "kernel", None) is not None
        cell_id = getattr(info, "cell_id", None)
        Showing.shelf.most = self.configuration.living_panels
        showing = Showing(settings.panel, front_end=has_front_end, cell_id=cell_id)
        return CellRun(settings, namespace=self.shell.user_ns, showing=showing, source=source, automatic=automatic)

    def _execute(self, code: str, settings: Settings) -> Any:
        """Run code as the shell would, watched; it is shown when the cell around it has ended."""
        compiled = UserCode(self.shell, code)
        if self.cells.is_watched:
            tell_once("the cell is watched already; the statement is part of that run")
            return compiled.run()
        cell = self.cells.innermost or Cell(self.shell)
        run = self._run(settings, cell.info, source=code)
        cell.watch(run)
        try:
            result = compiled.run()
        except BaseException as error:
            remove_our_frames(error)
            self._finish(cell, run, error)
            raise
        self._finish(cell, run, None)
        return result

    def _finish(self, cell: Cell, run: "CellRun", error: BaseException | None) -> None:
        """Close a run; show it at once when no cell is running that would show it at its end."""
        run.close(error)
        if cell is self.cells.innermost:
            return
        from torchmagic.jupyter.verdict import verdict  # noqa: PLC0415 - as above

        failure = verdict(cell.end(error))
        if failure is not None and error is None:
            raise failure
