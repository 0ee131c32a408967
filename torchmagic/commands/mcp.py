"""This file is ``python -m torchmagic mcp``: stored runs for AI assistants."""

import argparse
from typing import Any

from torchmagic.commands.exit_codes import OK
from torchmagic.commands.words import add_store, complain, sentence


def add(commands: Any) -> None:
    """Add the command."""
    told = "answer AI assistants about stored runs (Model Context Protocol over stdio)"
    mcp = commands.add_parser("mcp", help=told, description=f"{sentence(told)}; read-only, torch is not needed.")
    add_store(mcp)
    mcp.set_defaults(deed=_mcp)


def _mcp(chosen: argparse.Namespace) -> int:
    from torchmagic.api.assistants import serve_assistants  # noqa: PLC0415 - other commands do not need it

    try:
        serve_assistants(chosen.store)
    except (ValueError, OSError) as error:
        return complain(error)
    return OK
