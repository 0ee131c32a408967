"""This file is ``python -m torchmagic list``: the runs that a store holds."""

import argparse
import json
import time
from dataclasses import asdict
from typing import Any

from torchmagic.commands.exit_codes import OK
from torchmagic.commands.words import add_store, complain, say, sentence

NUM_ENTRIES = 20


def add(commands: Any) -> None:
    """Add the command."""
    told = "list the stored runs, the newest first"
    listing = commands.add_parser("list", help=told, description=f"{sentence(told)}; torch is not needed.")
    add_store(listing)
    listing.add_argument("--all", action="store_true", help=f"list all, and not only the newest {NUM_ENTRIES}")
    listing.add_argument("--json", action="store_true", help="write a JSON array for programs, the oldest first")
    listing.set_defaults(deed=_list)


def _list(chosen: argparse.Namespace) -> int:
    from torchmagic.commands.finding_runs import store_in  # noqa: PLC0415 - other commands do not need it
    from torchmagic.session.database import StoreError  # noqa: PLC0415 - likewise
    from torchmagic.session.entries import entries  # noqa: PLC0415 - likewise
    from torchmagic.views.history import history_page  # noqa: PLC0415 - likewise
    from torchmagic.views.skins.text import as_text  # noqa: PLC0415 - likewise

    try:
        found, damaged = entries(store_in(chosen.store).path)
    except (ValueError, StoreError) as error:
        return complain(error)
    for line in damaged:
        complain(line)
    shown = found if chosen.all else found[-NUM_ENTRIES:]
    if chosen.json:
        say(json.dumps([asdict(entry) for entry in shown], indent=1))
        return OK
    say(as_text(history_page(shown, now=time.time(), num_earlier=0), num_rows=len(shown)))
    if len(shown) < len(found):
        say(f"\n{len(found) - len(shown):,} earlier runs not shown: --all")
    return OK
