"""This file is the MCP server on a project's store: what AI assistants may ask, joined with the runs."""

from functools import partial
from pathlib import Path

from torchmagic.api.reading import read
from torchmagic.session import session as room


def serve_assistants(folder: str | Path) -> None:
    """Answer over stdin and stdout until the client closes them; torch is not needed.

    Args:
        folder: The project's folder, in whose ``.torchmagic`` the store lies or will lie.

    Raises:
        ValueError: If the extra ``mcp`` is not installed, or there is no such folder.
    """
    try:
        from torchmagic.server.assistant import assistant  # noqa: PLC0415 - only who serves needs the SDK
        from torchmagic.server.reading import Reader  # noqa: PLC0415 - likewise
        from torchmagic.server.served import NoDebuggers, Served  # noqa: PLC0415 - likewise
    except ImportError as error:
        raise ValueError(f'the MCP server needs the package mcp ({error}): pip install "torchmagic[mcp]"') from None
    project = Path(folder).absolute()
    if not project.is_dir():
        raise ValueError(f"there is no folder {project}; name the one in which the runs are with --store")
    session = room.Session(project)
    served = Served(history=session.history, read=partial(read, session), debuggers=NoDebuggers())
    assistant(Reader(served)).run("stdio")
