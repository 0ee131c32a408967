"""This file is ``python -m torchmagic``: what can be done from a shell, without a notebook."""

import argparse
import sys
from collections.abc import Sequence

from torchmagic.commands.catalogue import COMMANDS, Deed


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; return the exit status.

    Args:
        arguments: The words behind the program's name; None takes those of the process.
    """
    parser = argparse.ArgumentParser(prog="python -m torchmagic", description="See inside PyTorch training runs.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    chosen = parser.parse_args(arguments)
    deed: Deed = chosen.deed
    return deed(chosen)


if __name__ == "__main__":
    sys.exit(main())
