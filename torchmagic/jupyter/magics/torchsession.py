"""This file is the ``%torchsession`` magic: a thin door to ``torchmagic.session``."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class

from torchmagic.jupyter.session_words import MAGIC, help_text
from torchmagic.jupyter.wall import tell_once


@magics_class
class TorchsessionMagics(Magics):
    """The home of ``%torchsession``, to be registered with a shell.

    Args:
        shell: The shell.
        configuration: Defaults of the options of ``%%torchdebug``, which hold where nothing was switched.
    """

    shell: Any

    def __init__(self, shell: Any, configuration: Any) -> None:
        super().__init__(shell)
        self._configuration = configuration

    @line_magic
    def torchsession(self, line: str) -> None:
        """Look at the runs of this kernel and of earlier ones, compare them, note, export, and switch probes.

        ::

            %torchsession [history] [--all]          the table of all runs
            %torchsession last                       the last run; after a kernel died, what was seen up to then
            %torchsession show [N]                   the full panel of a run again
            %torchsession compare [A B ...]          what differs between runs
            %torchsession plot METRIC [--parameter NAME] [--runs N ...]
            %torchsession note N [TEXT]              write a note to a run
            %torchsession tag N TAG ...              give a run tags; -TAG takes one off
            %torchsession export PATH [--to FORM] [--runs N ...]
            %torchsession enable [PROBES]            switch probes on; also while a cell runs
            %torchsession disable [PROBES]           switch probes off
            %torchsession status                     which probes are on
            %torchsession level [LEVEL]              watch all runs at this level
            %torchsession repr on|off                show tensors as %tensorinfo does
            %torchsession serve [--port N]           answer questions about runs over HTTP; serve stop ends it
            %torchsession clear [--stored]           forget runs

        A run is meant by its number in the history (-1 is the last one), by its name, or by ``last``. Tab completes
        all of them. In Python, ``torchmagic.session`` has a method for each.
        """
        # Loading the extension is to cost next to nothing.
        from torchmagic.jupyter.session_parsing import asks, parse  # noqa: PLC0415

        if asks(line):
            print(help_text())  # noqa: T201 - it is what was asked for
            return
        request = parse(line)
        from torchmagic.api.session import session  # noqa: PLC0415
        from torchmagic.jupyter.session_deeds import DEEDS, Place  # noqa: PLC0415
        from torchmagic.session.database import StoreError  # noqa: PLC0415

        place = Place(defaults=self._configuration.values_by_field(), has_front_end=self._has_front_end)
        try:
            DEEDS[request.word.name](session, request, place)
        except (KeyError, ValueError, OSError, StoreError) as error:
            raise UsageError(f"%{MAGIC} {request.word.name}: {_line(error)}") from None
        for warning in session.warnings:
            tell_once(warning)

    @property
    def _has_front_end(self) -> bool:
        return getattr(self.shell, "kernel", None) is not None


def _line(error: Exception) -> str:
    """What is wrong in one line; a KeyError would put it in quotes."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return " ".join(text.split())
