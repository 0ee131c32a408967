"""This file is ``python -m torchmagic``: what can be done from a shell, without a notebook."""

import argparse
import sys
from collections.abc import Sequence

import torchmagic
from torchmagic.commands.catalogue import COMMANDS, Deed
from torchmagic.commands.words import say


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status.

    Args:
        arguments: The words behind the program's name; None takes those of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m torchmagic", description="See inside PyTorch training runs.")
    parser.add_argument("--version", action=_Version, help="say which torchmagic this is")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    chosen = parser.parse_args(arguments)
    deed: Deed = chosen.deed
    return deed(chosen)


class _Version(argparse.Action):
    """Says the version, which is looked up only then."""

    def __init__(self, option_strings: Sequence[str], dest: str, *, help: str) -> None:  # noqa: A002 - argparse's
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        say(f"torchmagic {torchmagic.__version__}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
