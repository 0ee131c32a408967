"""This file is ``python -m torchmagic serve``: stored runs over HTTP."""

import argparse
import os
import signal
import sys
import threading
from typing import Any

from torchmagic.commands.exit_codes import OK
from torchmagic.commands.words import add_store, complain, sentence

TOKEN = "TORCHMAGIC_TOKEN"  # noqa: S105 - the name of a variable


def add(commands: Any) -> None:
    """Add the command."""
    told = "answer questions about stored runs over HTTP"
    serve = commands.add_parser("serve", help=told, description=f"{sentence(told)}; torch is not needed.")
    add_store(serve)
    serve.add_argument("--port", type=int, default=0, metavar="N", help="port; a free one without it")
    serve.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to bind to; this machine's own")
    serve.epilog = f"The token that clients need is printed once; {TOKEN} in the environment sets one that stays."
    serve.set_defaults(deed=_serve)


def _serve(chosen: argparse.Namespace) -> int:
    from torchmagic.api.serving import serve_store  # noqa: PLC0415 - other commands do not need it
    from torchmagic.commands.finding_runs import store_in  # noqa: PLC0415 - likewise
    from torchmagic.session.database import StoreError  # noqa: PLC0415 - likewise

    given = os.environ.get(TOKEN, "")
    try:
        store_in(chosen.store)
        server = serve_store(chosen.store, chosen.port, host=chosen.host, token=given)
    except (ValueError, OSError, StoreError) as error:
        return complain(error)
    over = threading.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: over.set())
    with server:
        token = f"the one in {TOKEN}" if given else server.token
        sys.stdout.write(f"serving {chosen.store.absolute()} at {server.url}\ntoken: {token}\n")
        sys.stdout.flush()
        over.wait()
    return OK
