"""This file is the list of commands."""

import argparse
from collections.abc import Callable
from typing import Any

from torchmagic.commands.compare import add as compare
from torchmagic.commands.list import add as list_
from torchmagic.commands.mcp import add as mcp
from torchmagic.commands.report import add as report
from torchmagic.commands.run import add as run
from torchmagic.commands.serve import add as serve

# What each command does with what was typed; its answer is the exit status.
Deed = Callable[[argparse.Namespace], int]

COMMANDS: tuple[Callable[[Any], None], ...] = (run, report, compare, list_, serve, mcp)
