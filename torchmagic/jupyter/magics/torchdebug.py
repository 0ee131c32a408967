"""This file is the ``%%torchdebug`` magic: its cell form for programs, its line form, and watching until told off."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand, output_can_be_silenced

from torchmagic.debuggers.switches import switches
from torchmagic.jupyter.asked import Asked
from torchmagic.jupyter.cell_magics import TORCHDEBUG, asks
from torchmagic.jupyter.cells import Cells
from torchmagic.jupyter.header import is_headed
from torchmagic.jupyter.parsing import answer, no_statement, parse
from torchmagic.jupyter.statements import execute

_NAME = TORCHDEBUG.name


@magics_class
class TorchdebugMagics(Magics):
    """The home of ``%%torchdebug``.

    Args:
        shell: The shell.
        configuration: Defaults of the options.
        cells: The cells that are running.
    """

    shell: Any

    def __init__(self, shell: Any, configuration: Any, cells: Cells) -> None:
        super().__init__(shell)
        self.configuration = configuration
        self.cells = cells
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
            print(answer(TORCHDEBUG, question))  # noqa: T201 - it is what was asked for
            return None
        if cell is None and word in ("on", "off"):
            return self._switch(word, options)
        asked, statement = self._parsed(line)
        if cell is not None and statement:
            raise UsageError(no_statement(TORCHDEBUG, statement))
        code = statement if cell is None else cell
        if not code:
            raise UsageError(f"%{_NAME} wants a statement to watch, or on, off or --help; %%{_NAME} watches a cell")
        return execute(code, self.cells, lambda: asked)

    def read(self, options: str) -> Asked:
        """Return what a header asks for.

        Raises:
            UsageError: If something is wrong with it.
        """
        asked, statement = self._parsed(options)
        if statement:
            raise UsageError(no_statement(TORCHDEBUG, statement))
        return asked

    def ask_for_all(self, info: Any) -> Asked | None:
        """Ask for the watching of a cell without a header, between on and off."""
        if self._automatic is None or is_headed(info.raw_cell):
            return None
        return self._parsed(self._automatic)[0]  # anew: switches and defaults may have changed

    def _switch(self, word: str, options: str) -> None:
        _, rest = self._parsed(options)
        if rest or (word == "off" and options.strip()):
            raise UsageError(f"%{_NAME} {word} takes {'no' if word == 'off' else 'only'} options, got {options!r}")
        self._automatic = options if word == "on" else None

    def _parsed(self, line: str) -> tuple[Asked, str]:
        settings, statement = parse(TORCHDEBUG, line, switches.over(self.configuration.values_by_field()))
        return Asked(magic=TORCHDEBUG, settings=settings), statement
