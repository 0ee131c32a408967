"""This file is what ``%load_ext torchmagic`` puts into a shell, and ``%unload_ext`` takes out."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torchmagic.api.one_server import end as end_server
from torchmagic.api.rich_repr import switch
from torchmagic.jupyter import completion
from torchmagic.jupyter.cell_magics import TORCHDEBUG, TORCHPROFILE
from torchmagic.jupyter.cells import Cells
from torchmagic.jupyter.configuration import configured
from torchmagic.jupyter.line_ranges import LineRanges
from torchmagic.jupyter.lost_run import tell_lost
from torchmagic.jupyter.magics.modelinfo import ModelinfoMagics
from torchmagic.jupyter.magics.tensorinfo import TensorinfoMagics
from torchmagic.jupyter.magics.torchbench import TorchbenchMagics
from torchmagic.jupyter.magics.torchdebug import TorchdebugMagics
from torchmagic.jupyter.magics.torchprofile import TorchprofileMagics
from torchmagic.jupyter.magics.torchsession import TorchsessionMagics
from torchmagic.jupyter.making import RunMaker

# Under this name a shell keeps what takes us out of it; it outlives a reload of this file.
_REMOVE = "_torchmagic_remove"
_Magic = tuple[str, str, Callable[..., Any]]  # line or cell, name, function


def load_ipython_extension(shell: Any) -> None:
    """Register magics, cell events, completion and configuration; a second load replaces the first."""
    unload_ipython_extension(shell)
    before = _registered(shell)
    configuration = configured(shell.config)
    cells = Cells(shell, RunMaker(shell, configuration))
    torchdebug = TorchdebugMagics(shell, configuration, cells)
    line_ranges = LineRanges(shell, cells)
    torchprofile = TorchprofileMagics(shell, configuration, cells, line_ranges)
    readers = {TORCHDEBUG: torchdebug.read, TORCHPROFILE: torchprofile.read}
    torchbench = TorchbenchMagics(shell, configuration)
    others = TensorinfoMagics(shell), ModelinfoMagics(shell), TorchsessionMagics(shell, configuration)
    magics = (torchdebug, torchprofile, torchbench, *others)
    shell.register_magics(*magics)
    for magic in readers:
        shell.register_magic_function(partial(cells.begin, magic), "line", magic.begin)
    ours = _registered(shell) - before
    shell.configurables.append(configuration)
    cells.install(readers, torchdebug.ask_for_all)
    line_ranges.install()
    remove_completion = completion.install(shell)

    def remove() -> None:
        remove_completion()
        switch("off", shell)
        end_server()
        line_ranges.uninstall()
        cells.uninstall()
        _unregister(shell, ours, before)
        shell.configurables[:] = [each for each in shell.configurables if each not in (configuration, *magics)]
        for each in magics:
            shell.magics_manager.registry.pop(type(each).__name__, None)

    setattr(shell, _REMOVE, remove)
    tell_lost()


def unload_ipython_extension(shell: Any) -> None:
    """Take everything out again; harmless when nothing was loaded."""
    remove: Callable[[], None] | None = shell.__dict__.pop(_REMOVE, None)
    if remove is not None:
        remove()


def _registered(shell: Any) -> set[_Magic]:
    return {
        (kind, name, function)
        for kind, magics in shell.magics_manager.magics.items()
        for name, function in magics.items()
    }


def _unregister(shell: Any, ours: set[_Magic], before: set[_Magic]) -> None:
    """Take our magics out, unless somebody replaced them since, and give a name back to whom it belonged."""
    earlier = {(kind, name): function for kind, name, function in before}
    for kind, name, function in ours:
        magics = shell.magics_manager.magics[kind]
        if magics.get(name) == function:
            del magics[name]
            if (kind, name) in earlier:
                magics[name] = earlier[kind, name]
