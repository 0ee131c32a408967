"""This file is ``python -m torchmagic report``: one run as text, or as any file that a run is exported to."""

import argparse
from pathlib import Path
from typing import Any

from torchmagic.commands.exit_codes import FINDINGS, OK
from torchmagic.commands.words import add_fail_on, add_store, complain, say, sentence


def add(commands: Any) -> None:
    """Add the command."""
    told = "tell what is known of a run"
    report = commands.add_parser("report", help=told, description=f"{sentence(told)}; torch is not needed.")
    which = "number, id or name of a stored run, or a file that run.save or --json wrote; the newest run without it"
    report.add_argument("run", nargs="?", default="last", metavar="RUN|FILE", help=which)
    add_store(report)
    report.add_argument("--full", action="store_true", help="tell all, and not only what one would ask first")
    into = "write it there instead; the suffix says what is made: .html, .md, .txt, .json, .csv, .sarif, .xml (JUnit)"
    report.add_argument("-o", "--output", type=Path, metavar="PATH", help=into)
    report.add_argument("--to", default="", metavar="FORM", help="what is made, where the suffix does not say it")
    add_fail_on(report)
    report.set_defaults(deed=_report)


def _report(chosen: argparse.Namespace) -> int:
    from torchmagic.commands.finding_runs import run_named  # noqa: PLC0415 - other commands do not need it
    from torchmagic.exports.catalogue import export  # noqa: PLC0415 - likewise
    from torchmagic.rules.failing import failing  # noqa: PLC0415 - likewise
    from torchmagic.session.database import StoreError  # noqa: PLC0415 - likewise

    try:
        run = run_named(chosen.run, chosen.store)
        if chosen.output is not None:
            say(str(export(run, chosen.output, to=chosen.to)))
        else:
            say(run.to_text(full=chosen.full))
    except (ValueError, KeyError, OSError, StoreError) as error:
        return complain(error)
    return FINDINGS if failing(run.findings, chosen.fail_on) else OK
