"""This file is ``python -m torchmagic compare``: what differs between runs."""

import argparse
from pathlib import Path
from typing import Any

from torchmagic.commands.exit_codes import OK
from torchmagic.commands.words import add_store, complain, say, sentence


def add(commands: Any) -> None:
    """Add the command."""
    told = "tell what differs between runs"
    compare = commands.add_parser("compare", help=told, description=f"{sentence(told)}; torch is not needed.")
    which = "numbers, ids or names of stored runs, or files that run.save or --json wrote"
    compare.add_argument("first", metavar="A", help=f"what the others are compared with; {which}")
    compare.add_argument("others", nargs="+", metavar="B", help="the others")
    add_store(compare)
    compare.add_argument("-o", "--output", type=Path, metavar="PATH.html", help="write it there as a page instead")
    compare.set_defaults(deed=_compare)


def _compare(chosen: argparse.Namespace) -> int:
    from torchmagic.api.baseline import comparison_pages  # noqa: PLC0415 - other commands do not need it
    from torchmagic.commands.finding_runs import run_named  # noqa: PLC0415 - likewise
    from torchmagic.exports.catalogue import export  # noqa: PLC0415 - likewise
    from torchmagic.session.database import StoreError  # noqa: PLC0415 - likewise
    from torchmagic.views.skins.text import as_text  # noqa: PLC0415 - likewise

    try:
        runs = [run_named(which, chosen.store) for which in (chosen.first, *chosen.others)]
        if len({run.id for run in runs}) < len(runs):
            return complain("a comparison wants different runs, such as: compare 1 2")
        if chosen.output is not None:
            say(str(export(runs, chosen.output)))
        else:
            say(as_text(comparison_pages(runs)))
    except (ValueError, KeyError, OSError, StoreError) as error:
        return complain(error)
    return OK
